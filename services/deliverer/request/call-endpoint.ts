import type { Tracer } from '@opentelemetry/api';
import { open } from 'node:fs/promises';
import { devNull } from 'node:os';
import { Axios } from 'axios';
import type { Answer, InterfaceName } from '@waybell/line/outcomes';
import { callbackHeaders, type CallbackHeaders } from '@waybell/notifications/callback-headers';
import { systemClock, type Clock } from '@waybell/runtime/clock';
import { allowsAny, type CallbackNetworks } from '@waybell/runtime/forbidden-address';
import { withCauses } from '@waybell/runtime/error-codes';
import { Unavailable } from '@waybell/runtime/unavailable';
import type { AttemptRequest, AttemptResult } from './attempt.ts';
import { withAttemptSpans, type CallOnce } from './attempt-spans.ts';
import { boundingReading } from './bound-reading.ts';
import type { CallbackObserver } from './callback-metrics.ts';
import { isForLackOfDescriptors, reasonOfError, reasonOfStatus } from './failure-reason.ts';
import { isOwnFault } from '../egress/own-fault.ts';
import { watchOwnRoutes, type OwnRoutes } from '../egress/own-routes.ts';
import type { Reach } from '../egress/egress.ts';
import { InvalidResponse } from './invalid-response.ts';
import type { Connector } from './connection.ts';
import { reaching } from './reach.ts';
import { openOriginPools, type OriginPools } from './origin-pools.ts';
import { tunnelThrough } from './proxy-tunnel.ts';
import { systemNames, type ResolveHost } from '@waybell/runtime/names/resolve-host';
import { BlockedAddress, safeConnector } from './safe-address.ts';
import { shownUrl } from './shown-url.ts';
import { rewritingHeads } from './rewrite-heads.ts';
import { masked, secretsOfQuery } from './mask.ts';
import { readTooMuch } from './too-much.ts';
import { maskedHead } from './masked-head.ts';
import { readTrace, type Trace } from './trace.ts';
import { throughUndici, type RequestLimits } from './exchange.ts';

/**
 * Makes one HTTP request; every way it can end is a result. `isLast`: the delivery has no attempt after this one. Throws
 * Unavailable if there is no way out: a proxy or a file descriptor is missing.
 */
export type CallEndpoint = (request: AttemptRequest & { isLast: boolean }) => Promise<AttemptResult>;

export type TimeLimits = Record<InterfaceName, Pick<RequestLimits, 'handoverMs' | 'responseMs'>>;

export type EndpointOptions = {
  limits: TimeLimits;
  networks: CallbackNetworks;
  /** Only port 0, unless given. */
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
  /** As the system resolves names, unless given. */
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

// Twice what is read of headers and body: interim responses and TLS add to it.
const RESPONSE_BYTES = 256 * 1024;
const NO_PORTS: ReadonlySet<number> = new Set();
const UNOBSERVED: CallbackObserver = { requested: () => undefined, connected: () => undefined };
// An idle TLS connection takes 50 to 100 KB.
const MAX_ORIGINS = 1_024;
/** Limit for `reach`, shorter than that of a request. */
const REACH_LIMIT_MS = 3_000;
const BODY_LIMITS = { bodyMs: 1_000, bodyBytes: 64 * 1024, keptBytes: 4 * 1024 };

/**
 * Makes requests to receivers. A 2xx status in time is success (both specifications, Errors); redirects are failures and
 * never followed.
 */
export function openEndpoints(
  options: EndpointOptions,
): { callEndpoint: (request: AttemptRequest) => Promise<AttemptResult>; reach: Reach } & AsyncDisposable {
  const { observe = UNOBSERVED, deniedPorts = NO_PORTS, proxy, clock = systemClock } = options;
  const { passesTraceparent = false, tracer, now = Date.now } = options;
  const searches = allowsAny(options.networks);
  const { resolveHost = systemNames({ clock, searches }).resolveHost, resolveAfresh = resolveHost } = options;
  const tunnel = proxy && tunnelThrough(proxy, options.connectTimeoutMs);
  const connecting = { ...options, deniedPorts, tunnel, connected: observe.connected };
  const connector = safeConnector({ ...connecting, resolveHost });
  const routes = watchOwnRoutes();
  const pools = openPools(connector, { clock, keepAliveMs: options.keepAliveMs });
  // Without the defaults of axios.create: merging them costs more than the rest of axios, and the adapter uses none.
  const http = new Axios({ method: 'post' });
  const limitsFor = {
    shipper: { ...BODY_LIMITS, ...options.limits.shipper },
    carrier: { ...BODY_LIMITS, ...options.limits.carrier },
  };
  const callOnce: CallOnce = async (request, trace) => {
    const { delivery, callbackUrl } = request;
    observe.requested(delivery.interface);
    const headers = { ...requestHeaders(request, now), 'user-agent': options.userAgent };
    if (passesTraceparent && delivery.traceparent !== undefined) headers.traceparent = delivery.traceparent;
    const url = URL.parse(callbackUrl);
    const adapter = throughUndici(pools, { url, headers, limits: limitsFor[delivery.interface], trace, clock });
    try {
      const { status, data } = await http.request<string>({ url: callbackUrl, data: delivery.body, adapter });
      if (trace.connection?.ip !== undefined) routes.reached(trace.connection.ip);
      return {
        ...judge(status),
        ...(trace.restHeaders && { tooMuch: readTooMuch(trace.restHeaders, now()) }),
        ...whereTo(url),
        ...readTrace(trace, clock.now()),
        ...(data && { body: masked(data, secretsIn(headers, url)) }),
      };
    } catch (error) {
      if (error instanceof Unavailable) throw error;
      if (isForLackOfDescriptors(error)) throw new Unavailable('file descriptors', openOne, error);
      const traced = readTrace(trace, clock.now());
      const lostAt = await whereLost(error, trace, routes);
      return {
        isDelivered: false,
        reason: reasonOfError(error),
        ...whereTo(url),
        ...traced,
        ...(lostAt && { lostAt }),
        ...(trace.held && { body: maskedHead(masked(trace.held, secretsIn(headers, url))) }),
        ...brokenRuleIn(error),
      };
    }
  };
  const callTraced = tracer === undefined ? callOnce : withAttemptSpans(callOnce, { tracer, clock });
  return {
    reach: reaching({
      connect: safeConnector({ ...connecting, resolveHost: resolveAfresh }),
      limitMs: Math.min(options.connectTimeoutMs, REACH_LIMIT_MS),
      clock,
    }),
    callEndpoint: (request) => callTraced(request, { startedAt: clock.now() }),
    async [Symbol.asyncDispose]() {
      await pools[Symbol.asyncDispose]();
      await tunnel?.[Symbol.asyncDispose]();
    },
  };
}

function openPools(connect: Connector, { clock, keepAliveMs }: { clock: Clock; keepAliveMs: number }): OriginPools {
  return openOriginPools({
    clock,
    maxOrigins: MAX_ORIGINS,
    connect: boundingReading(rewritingHeads(connect), RESPONSE_BYTES),
    keepAliveTimeout: keepAliveMs,
    keepAliveMaxTimeout: keepAliveMs,
    // A connection closes a second before a receiver says that it does (`Keep-Alive: timeout=5`).
    keepAliveTimeoutThreshold: 1_000,
    pipelining: 1,
    // The adapter has the limits: these two measure idleness, which a slow drip never reaches.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
}

function brokenRuleIn(error: unknown): Pick<Answer, 'brokenRule'> {
  const invalid = withCauses(error).find((each) => each instanceof InvalidResponse);
  return invalid === undefined ? {} : { brokenRule: invalid.brokenRule };
}

async function whereLost(error: unknown, trace: Trace, routes: OwnRoutes): Promise<AttemptResult['lostAt']> {
  if (trace.isUnderWay) return 'sent';
  if (trace.connection === undefined || (error instanceof BlockedAddress && !error.isOfName)) return undefined;
  return (await isOwnFault(error, routes)) ? 'here' : 'connecting';
}

/** Resolves when a file descriptor is free. */
async function openOne(): Promise<void> {
  await (await open(devNull)).close();
}

/** Judges a response by its status. */
export function judge(status: number): Pick<Answer, 'status' | 'reason'> & { isDelivered: boolean } {
  if (status >= 200 && status < 300) return { isDelivered: true, status };
  return { isDelivered: false, status, reason: reasonOfStatus(status) };
}

function whereTo(url: URL | null): Pick<Answer, 'url'> {
  return url === null ? {} : { url: shownUrl(url) };
}

/** Secrets that a receiver was sent and may send back. People who read records must not see them. */
function secretsIn(headers: CallbackHeaders, url: URL | null): string[] {
  const { 'x-service-verification-token': token, 'webhook-signature': signature = '' } = headers;
  // A receiver may show a signature without its version.
  const parts = signature.split(' ').map((each) => each.slice(each.indexOf(',') + 1));
  return [token, ...parts, ...secretsOfQuery(url?.search ?? '')];
}

/** Headers of a request; `now` in milliseconds since 1970. */
export function requestHeaders({ delivery, ...secrets }: AttemptRequest, now: () => number): CallbackHeaders {
  const { guid: id, body, attempt, byHand } = delivery;
  const timestampS = Math.floor(now() / 1_000);
  return callbackHeaders({ id, timestampS, body, attempt, isTest: byHand?.why === 'test', ...secrets });
}
