import {
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  type Attributes,
  type Context,
  type Tracer,
} from '@opentelemetry/api';
import { firstAttempt } from '@waybell/line/delivery';
import type { Answer } from '@waybell/line/outcomes';
import type { Clock } from '@waybell/runtime/clock';
import { contextOf, traceparentOf } from '@waybell/runtime/traceparent';
import type { AttemptRequest, AttemptResult, OnAttempted } from './attempt.ts';
import type { Connection } from './connection.ts';
import type { RestHeaders } from './too-much.ts';

/** Notes of a request while it is under way; times by the deliverer's clock. */
export type Trace = {
  readonly startedAt: number;
  /** The request began over a connection. */
  isUnderWay?: boolean;
  firstByteAt?: number | undefined;
  connection?: Connection | undefined;
  /** Present for 429 and 503. */
  restHeaders?: RestHeaders | undefined;
  /** Present for redirects that say where they lead. */
  location?: string | undefined;
  /** The beginning of an invalid or incomplete response. */
  received?: string;
};

/** Has all members from the start, for later notes. */
export function newTrace(startedAt: number): Trace {
  const none = undefined;
  return { startedAt, isUnderWay: false, firstByteAt: none, connection: none, restHeaders: none, location: none };
}

type Traced = Pick<Answer, 'durationMs' | 'ip' | 'dnsMs' | 'connectMs' | 'tlsMs' | 'firstByteMs'>;

/** Notes the times of a request that has just ended in what becomes the attempt's record: whole milliseconds. */
export function noteTimes(traced: Traced, { startedAt, firstByteAt, connection }: Trace, endedAt: number): void {
  traced.durationMs = wholeMs(startedAt, endedAt);
  if (firstByteAt !== undefined) traced.firstByteMs = wholeMs(startedAt, firstByteAt);
  if (connection?.ip !== undefined) traced.ip = connection.ip;
  // A kept connection took none of this attempt's time.
  if (connection === undefined || connection.begunAt < startedAt) return;
  const { begunAt, resolvedAt, connectedAt, securedAt } = connection;
  if (resolvedAt !== undefined) traced.dnsMs = wholeMs(begunAt, resolvedAt);
  if (connectedAt === undefined) return;
  traced.connectMs = wholeMs(resolvedAt ?? begunAt, connectedAt);
  if (securedAt !== undefined) traced.tlsMs = wholeMs(connectedAt, securedAt);
}

const wholeMs = (from: number, until: number): number => Math.round(until - from);

/** Makes one request, and notes in the trace how it goes. Throws at once, with nothing begun, or calls `onEnd`. */
export type CallOnce = (request: AttemptRequest, trace: Trace, onEnd: OnAttempted) => void;

type AttemptSpansOptions = { tracer: Tracer; clock: Clock };

/**
 * Makes a span for each request of a traced delivery, and one for each phase: DNS, connect and TLS, if they were made for
 * it, the wait for the status line and the body. The request carries the trace of its span.
 */
export function withAttemptSpans(callOnce: CallOnce, { tracer, clock }: AttemptSpansOptions): CallOnce {
  return (request, noted, onEnd) => {
    const parent = contextOf(request.delivery.traceparent);
    if (parent === undefined) return callOnce(request, noted, onEnd);
    // One conversion for all spans: no phase begins before the request.
    const epochMs = Date.now() - clock.now();
    const startTime = epochMs + noted.startedAt;
    const span = tracer.startSpan('POST', { kind: SpanKind.CLIENT, startTime, attributes: requestOf(request) }, parent);
    if (!span.isRecording()) return callOnce(request, noted, onEnd);
    const end = (failure: string | undefined) => {
      const inside = trace.setSpan(ROOT_CONTEXT, span);
      const endedAt = clock.now();
      startPhaseSpans(phasesOf(noted, endedAt), { tracer, inside, epochMs, failure });
      if (failure !== undefined) span.setAttribute('error.type', failure).setStatus({ code: SpanStatusCode.ERROR });
      span.end(epochMs + endedAt);
    };
    const delivery = { ...request.delivery, traceparent: traceparentOf(span) };
    try {
      callOnce({ ...request, delivery }, noted, (ended) => {
        if (!(ended instanceof Error)) span.setAttributes(answerOf(ended));
        end(ended instanceof Error ? 'unavailable' : ended.reason);
        onEnd(ended);
      });
    } catch (error) {
      end('unavailable');
      throw error;
    }
  };
}

function requestOf({ delivery, callbackUrl }: AttemptRequest): Attributes {
  const { hostname, port, protocol } = URL.parse(callbackUrl) ?? {};
  const resent = delivery.attempt - firstAttempt(delivery);
  return {
    'http.request.method': 'POST',
    'http.request.body.size': delivery.body.length,
    ...(resent > 0 && { 'http.request.resend_count': resent }),
    ...(hostname && { 'server.address': hostname }),
    ...(protocol && { 'server.port': Number(port) || (protocol === 'https:' ? 443 : 80) }),
  };
}

/** `url` has no secrets. */
function answerOf({ url, ip, status }: AttemptResult): Attributes {
  return {
    ...(url !== undefined && { 'url.full': url }),
    ...(ip !== undefined && { 'network.peer.address': ip }),
    ...(status !== undefined && { 'http.response.status_code': status }),
  };
}

/** Times by the clock of the deliverer. */
type RequestPhase = { name: string; from: number; until: number; isCut: boolean };

/** Phases of a request, in order. The last one ends with the request if it was cut short. */
function phasesOf({ startedAt, connection, firstByteAt, isUnderWay }: Trace, endedAt: number): RequestPhase[] {
  const phases: RequestPhase[] = [];
  let from = startedAt;
  const add = (name: string, until: number | undefined) => {
    phases.push({ name, from, until: until ?? endedAt, isCut: until === undefined });
    from = until ?? endedAt;
  };
  if (connection !== undefined && connection.begunAt >= startedAt) {
    const { resolvedAt, connectedAt, securedAt, begunAt } = connection;
    from = begunAt;
    const isNameless = connection.ip === undefined && !isUnderWay;
    if (isNameless) add('dns', undefined);
    else if (resolvedAt !== undefined) add('dns', resolvedAt);
    if (connectedAt !== undefined || !(isUnderWay || isNameless)) add('connect', connectedAt);
    if (securedAt !== undefined) add('tls', securedAt);
    else if (connectedAt !== undefined && !isUnderWay) add('tls', undefined);
  }
  if (isUnderWay) add('wait for status', firstByteAt);
  if (firstByteAt !== undefined) add('read body', endedAt);
  return phases;
}

/** `epochMs`: when the clock began. */
type SpanContext = { tracer: Tracer; inside: Context; epochMs: number; failure: string | undefined };

function startPhaseSpans(phases: readonly RequestPhase[], { tracer, inside, epochMs, failure }: SpanContext): void {
  for (const { name, from, until, isCut } of phases) {
    const span = tracer.startSpan(name, { startTime: epochMs + from }, inside);
    if (isCut && failure !== undefined)
      span.setAttribute('error.type', failure).setStatus({ code: SpanStatusCode.ERROR });
    span.end(epochMs + until);
  }
}
