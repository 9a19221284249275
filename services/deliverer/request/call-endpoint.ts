import type { Tracer } from '@opentelemetry/api';
import { isNoResult, noResult } from '@waybell/line/messages';
import type { InterfaceName } from '@waybell/line/outcomes';
import { callbackHeaders, type CallbackHeaders } from '@waybell/notifications/callback';
import { ANSWER_LIMIT_BYTES, LONGEST_CONNECTION_MS } from '@waybell/runtime/callback-terms';
import { systemClock, type Clock } from '@waybell/runtime/clock';
import { systemNames, type ResolveHost } from '@waybell/runtime/names/resolve-host';
import { allowsAny, type CallbackNetworks, parseStrictUrl } from '@waybell/runtime/networks';
import type { Credentials } from '../credentials/credentials.ts';
import { type Reach, type Egress, type FailedAttempt, watchOwnRoutes } from '../egress/egress.ts';
import { hostOf } from '../flow/endpoint.ts';
import { failureOf, resultOf, type RequestMade, type Observing } from './attempt-result.ts';
import type { AttemptRequest, OnAttempted, AttemptResult } from './attempt.ts';
import type { CallbackObserver } from '../delivery-metrics.ts';
import type { Connector, Connection } from './connection.ts';
import {
  dispatchByAxios,
  throughUndici,
  type RequestLimits,
  type RequestTerms,
  boundingReading,
  rewritingHeads,
} from './exchange.ts';
import { mayAskForCertificate } from './failure-reason.ts';
import { openOriginPools, type OriginPools } from './origin-pools.ts';
import { tunnelThrough } from './proxy-tunnel.ts';
import { safeConnector, BlockedAddress } from './connect.ts';
import { withAttemptSpans, type CallOnce, newTrace } from './trace.ts';

/**
 * Makes one HTTP request; every way it can end is a result. `isLast`: the delivery has no attempt after this one. Ends with
 * `Unavailable` if there is no way out: a proxy or a file descriptor is missing. Throws at once, with nothing begun, or calls
 * `onEnd` once, never before it returns.
 */
export type CallEndpoint = (request: AttemptRequest & { isLast: boolean }, onEnd: OnAttempted) => void;

type TimeLimits = Record<InterfaceName, Pick<RequestLimits, 'handoverMs' | 'responseMs'>>;

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
      (error: unknown) => failureOf(error, sent, observing).then(onEnd, failing(onEnd)),
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

type ReachOptions = {
  connect: Connector;
  /** In milliseconds. */
  limitMs: number;
  clock: Clock;
};

/** Connects as callbacks do without credentials, TLS included, and sends nothing. Where only a certificate is missing, it is reached. */
export function reaching({ connect, limitMs, clock }: ReachOptions): Reach {
  return (origin) =>
    new Promise((resolve) => {
      const url = URL.parse(origin);
      if (url === null) return resolve({ isReached: false });
      const { protocol, host, hostname, port } = url;
      const connection: Connection = { clock, begunAt: clock.now() };
      const end = (isReached: boolean) => {
        limit[Symbol.dispose]();
        resolve({ isReached, ...(connection.ip === undefined ? {} : { address: connection.ip }) });
      };
      const limit = clock.after(limitMs, () => end(false));
      const to = { protocol, host, hostname: hostname.replace(/^\[(.*)\]$/, '$1'), port, connection };
      connect(to, (error, socket) => {
        socket?.on('error', () => undefined).destroy();
        // Receivers cannot share an address that callbacks must not reach.
        if (error instanceof BlockedAddress) delete connection.ip;
        end(error === null || (connection.hasShownItself === true && mayAskForCertificate(error)));
      });
    });
}

/** One request for an access token. */
export type TokenUrlRequest = {
  url: string;
  headers: Record<string, string>;
  body: string;
  /** Values that no record may show. */
  secrets: readonly string[];
  /** The certificate that its connection authenticates with. */
  certificate?: Credentials['certificate'];
};

/** How it ended, with its body masked, but for tokens; and the body as it came, which is empty without a status. */
export type TokenUrlAnswer = { result: AttemptResult; body: string };

/** Rejects with `Unavailable` if there is no way out. */
export type CallTokenUrl = (request: TokenUrlRequest) => Promise<TokenUrlAnswer>;

type CallTokenUrlOptions = { pools: OriginPools; observing: Observing; userAgent: string; clock: Clock };

/** The body has to be whole: a token may be a JWT of some kilobytes. */
const LIMITS = { responseMs: 10_000, bodyMs: 2_000, bodyBytes: 64 * 1024, keptBytes: 64 * 1024 };

/** Makes requests to token URLs by the same way as callbacks, with the same checks; no redirect is followed. */
function callingTokenUrls({ pools, observing, userAgent, clock }: CallTokenUrlOptions): CallTokenUrl {
  return async ({ url, headers, body, secrets, certificate }) => {
    const sent: RequestMade & RequestTerms = {
      url: parseStrictUrl(url),
      headers: { ...headers, 'Accept-Encoding': 'identity', 'User-Agent': userAgent },
      body: Buffer.from(body),
      limits: LIMITS,
      trace: newTrace(clock.now()),
      clock,
      credentials: { secrets },
      ...(certificate && { certificate }),
    };
    try {
      const response = await dispatchByAxios(throughUndici(pools, sent));
      const result = resultOf(response, sent, observing);
      if (isNoResult(result)) throw result.error;
      return { result, body: response.data };
    } catch (error) {
      return { result: await failureOf(error, sent, observing), body: '' };
    }
  };
}

const failing = (onEnd: OnAttempted) => (error: unknown) => onEnd(noResult(error));

export type JudgeOwnFaultOptions = {
  callEndpoint: (request: AttemptRequest, onEnd: OnAttempted) => void;
  egress: Pick<Egress, 'answered' | 'isOurs'>;
  clock: Pick<Clock, 'now'>;
};

type JudgeTokenUrlOptions = Omit<JudgeOwnFaultOptions, 'callEndpoint'> & { callTokenUrl: CallTokenUrl };

/** Makes the request. If it fails, judges whether the fault is ours or the receiver's. */
export function judgeOwnFault({ callEndpoint, egress, clock }: JudgeOwnFaultOptions): CallEndpoint {
  return (request, onEnd) => {
    const startedAt = clock.now();
    callEndpoint(request, (ended) => {
      if (isNoResult(ended)) return onEnd(ended);
      const { callbackUrl, delivery, isLast } = request;
      const hasWaited = delivery.waited?.why === 'egress';
      const judged = judge(ended, { origin: hostOf(callbackUrl), startedAt, isLast, hasWaited }, egress);
      if (judged instanceof Promise) judged.then(onEnd, failing(onEnd));
      else onEnd(judged);
    });
  };
}

/** Makes the request for a token, and judges as thoroughly as of a last attempt: several deliveries may wait for it. */
export function judgeTokenUrl({ callTokenUrl, egress, clock }: JudgeTokenUrlOptions): CallTokenUrl {
  return async (request) => {
    const made = { origin: hostOf(request.url), startedAt: clock.now(), isLast: true, hasWaited: false };
    const { result, body } = await callTokenUrl(request);
    return { result: await judge(result, made, egress), body };
  };
}

type RequestEnded = Omit<FailedAttempt, 'address' | 'wasSent'>;

/** Returns at once what needs no judgement of others. */
function judge(
  ended: AttemptResult,
  made: RequestEnded,
  egress: JudgeOwnFaultOptions['egress'],
): AttemptResult | Promise<AttemptResult> {
  if (ended.status !== undefined) egress.answered(made.origin, ended.ip);
  if (ended.lostAt === undefined) return ended;
  const { lostAt, ...result } = ended;
  if (lostAt === 'here') return { ...result, isOurs: true };
  const address = result.reason === 'blocked_address' ? undefined : result.ip;
  const failed = { ...made, address, wasSent: lostAt === 'sent' };
  return egress.isOurs(failed).then((isOurs) => (isOurs ? { ...result, isOurs } : result));
}
