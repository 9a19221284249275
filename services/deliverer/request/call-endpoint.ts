import type { Tracer } from '@opentelemetry/api';
import type { InterfaceName } from '@waybell/line/outcomes';
import { callbackHeaders, type CallbackHeaders } from '@waybell/notifications/callback';
import { ANSWER_LIMIT_BYTES, LONGEST_CONNECTION_MS } from '@waybell/runtime/callback-terms';
import { systemClock, type Clock } from '@waybell/runtime/clock';
import { allowsAny, type CallbackNetworks } from '@waybell/runtime/networks';
import type { AttemptRequest, OnAttempted } from './attempt.ts';
import { withAttemptSpans, type CallOnce } from './attempt-spans.ts';
import { boundingReading } from './bound-reading.ts';
import type { CallbackObserver } from './callback-metrics.ts';
import { watchOwnRoutes } from '../egress/own-routes.ts';
import type { Reach } from '../egress/egress.ts';
import { callingTokenUrls, type CallTokenUrl } from './call-token-url.ts';
import type { Connector } from './connection.ts';
import { dispatchByAxios } from './dispatch-by-axios.ts';
import { reaching } from './reach.ts';
import { openOriginPools, type OriginPools } from './origin-pools.ts';
import { tunnelThrough } from './proxy-tunnel.ts';
import { parseStrictUrl } from '@waybell/runtime/strict-url';
import { systemNames, type ResolveHost } from '@waybell/runtime/names/resolve-host';
import { safeConnector } from './safe-address.ts';
import { rewritingHeads } from './rewrite-heads.ts';
import { failureOf, resultOf, type RequestMade } from './attempt-result.ts';
import { newTrace } from './trace.ts';
import { throughUndici, type RequestLimits, type RequestTerms } from './exchange.ts';

/**
 * Makes one HTTP request; every way it can end is a result. `isLast`: the delivery has no attempt after this one. Ends with
 * `Unavailable` if there is no way out: a proxy or a file descriptor is missing. Throws at once, with nothing begun, or calls
 * `onEnd` once, never before it returns.
 */
export type CallEndpoint = (request: AttemptRequest & { isLast: boolean }, onEnd: OnAttempted) => void;

export type TimeLimits = Record<InterfaceName, Pick<RequestLimits, 'handoverMs' | 'responseMs'>>;

export type EndpointOptions = {
  limits: TimeLimits;
  networks: CallbackNetworks;
  /** Defaults to port 0 only. */
  deniedPorts?: ReadonlySet<number>;
  /** Callbacks leave directly, unless given. */
  proxy?: URL | undefined;
  connectTimeoutMs: number;
  /**
   * Idle connections are closed after this long: before receivers close them, and so that a changed address is looked up
   * and checked again.
   */
  keepAliveMs: number;
  userAgent: string;
  /** Defaults to the system's resolver. */
  resolveHost?: ResolveHost;
  /** Resolves without remembered answers, for `reach`; `resolveHost`, unless given. */
  resolveAfresh?: ResolveHost;
  observe?: CallbackObserver;
  /** Whether receivers get the trace that a request belongs to. */
  passesTraceparent?: boolean;
  /** Makes spans; absent if traces are off. */
  tracer?: Tracer;
  /** In milliseconds since 1970; the system's clock, unless given. */
  now?: () => number;
  clock?: Clock;
};

// Twice the limits of headers and body: interim responses and TLS add to them.
const RESPONSE_BYTES = 256 * 1024;
const NO_PORTS: ReadonlySet<number> = new Set();
const UNOBSERVED: CallbackObserver = { requested: () => undefined, connected: () => undefined };
// An idle TLS connection takes 50 to 100 KB.
const MAX_ORIGINS = 1_024;
/** Limit for `reach`, shorter than that of a request. */
const REACH_LIMIT_MS = 3_000;
/** A connection closes this long before the receiver's own announced limit (`Keep-Alive: timeout=5`). */
const CLOSED_BEFORE_MS = 1_000;
const BODY_LIMITS = { bodyMs: 1_000, bodyBytes: ANSWER_LIMIT_BYTES, keptBytes: 4 * 1024 };

/** Functions that make requests; disposing cuts those under way. */
type OpenedEndpoints = AsyncDisposable & {
  callEndpoint: (request: AttemptRequest, onEnd: OnAttempted) => void;
  callTokenUrl: CallTokenUrl;
  reach: Reach;
};

/**
 * Makes requests to receivers. A 2xx status in time is success (both specifications, Errors); redirects are failures and
 * never followed.
 */
export function openEndpoints(options: EndpointOptions): OpenedEndpoints {
  const { observe = UNOBSERVED, deniedPorts = NO_PORTS, proxy, clock = systemClock } = options;
  const { passesTraceparent = false, tracer, now = Date.now } = options;
  const searches = allowsAny(options.networks);
  const { resolveHost = systemNames({ clock, searches }).resolveHost, resolveAfresh = resolveHost } = options;
  const tunnel = proxy && tunnelThrough(proxy, options.connectTimeoutMs);
  const connecting = { ...options, deniedPorts, tunnel, clock, connected: observe.connected };
  const connector = safeConnector({ ...connecting, resolveHost });
  const observing = { routes: watchOwnRoutes(), clock, now };
  const pools = openPools(connector, { clock, keepAliveMs: options.keepAliveMs });
  const limitsFor = {
    shipper: { ...BODY_LIMITS, ...options.limits.shipper },
    carrier: { ...BODY_LIMITS, ...options.limits.carrier },
  };
  const callOnce: CallOnce = (request, trace, onEnd) => {
    const { delivery, callbackUrl, credentials, accessToken } = request;
    observe.requested(delivery.interface);
    const headers = requestHeaders(request, now);
    headers['User-Agent'] = options.userAgent;
    if (accessToken !== undefined) headers['Authorization'] = `Bearer ${accessToken}`;
    if (passesTraceparent && delivery.traceparent !== undefined) headers.traceparent = delivery.traceparent;
    const sent: RequestMade & RequestTerms = {
      url: parseStrictUrl(callbackUrl),
      headers: credentials === undefined ? headers : Object.assign(headers, credentials.headers),
      body: delivery.body,
      limits: limitsFor[delivery.interface],
      trace,
      clock,
      credentials,
      certificate: credentials?.certificate,
      accessToken,
    };
    dispatchByAxios(throughUndici(pools, sent)).then(
      (response) => onEnd(resultOf(response, sent, observing)),
      (error: unknown) => failureOf(error, sent, observing).then(onEnd, onEnd),
    );
  };
  const callTraced = tracer === undefined ? callOnce : withAttemptSpans(callOnce, { tracer, clock });
  return {
    reach: reaching({
      connect: safeConnector({ ...connecting, resolveHost: resolveAfresh }),
      limitMs: Math.min(options.connectTimeoutMs, REACH_LIMIT_MS),
      clock,
    }),
    callEndpoint: (request, onEnd) => callTraced(request, newTrace(clock.now()), onEnd),
    callTokenUrl: callingTokenUrls({ pools, observing, userAgent: options.userAgent, clock }),
    async [Symbol.asyncDispose]() {
      await pools[Symbol.asyncDispose]();
      await tunnel?.[Symbol.asyncDispose]();
    },
  };
}

function openPools(connect: Connector, { clock, keepAliveMs }: { clock: Clock; keepAliveMs: number }): OriginPools {
  const keptS = (keepAliveMs + CLOSED_BEFORE_MS) / 1_000;
  return openOriginPools({
    clock,
    maxOrigins: MAX_ORIGINS,
    connect: boundingReading(rewritingHeads(connect, { keptS, longestMs: LONGEST_CONNECTION_MS }), RESPONSE_BYTES),
    keepAliveTimeout: keepAliveMs,
    keepAliveMaxTimeout: keepAliveMs,
    keepAliveTimeoutThreshold: CLOSED_BEFORE_MS,
    pipelining: 1,
    // The adapter has the limits: these two measure idleness, which a slow drip never reaches.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
}

/** Headers of a request; `now` in milliseconds since 1970. */
export function requestHeaders(request: AttemptRequest, now: () => number): CallbackHeaders {
  const { delivery, verificationToken, signingSecrets } = request;
  const { guid: id, body, attempt, byHand } = delivery;
  const timestampS = Math.floor(now() / 1_000);
  const isTest = byHand?.why === 'test';
  return callbackHeaders({ id, timestampS, body, attempt, isTest, verificationToken, signingSecrets });
}
