/** Notes of one request while it is under way: its times, its span, the beginning of a bad answer, how long its receiver asks to be left alone. */
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
import { isNoResult } from '@waybell/line/messages';
import type { Answer } from '@waybell/line/outcomes';
import type { Clock } from '@waybell/runtime/clock';
import { contextOf, traceparentOf } from '@waybell/runtime/traceparent';
import type { AttemptRequest, AttemptResult, OnAttempted } from './attempt.ts';
import type { Connection } from './connection.ts';
import type { TooMuch } from '../flow/endpoint.ts';
import { StringDecoder } from 'node:string_decoder';

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
        if (!isNoResult(ended)) span.setAttributes(answerOf(ended));
        end(isNoResult(ended) ? 'unavailable' : ended.reason);
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

/** Headers with the pause that a receiver asks for; empty if absent. */
type RestHeaders = { retryAfter: string; date: string };

/** Too Many Requests (RFC 6585, 4) and Service Unavailable (RFC 9110, 15.6.4). */
const TOO_MUCH = new Set([429, 503]);
const LONGEST_MS = 300_000;
const SECONDS = /^\d+(\.\d+)?$/;

/** Undefined unless the status is 429 or 503. The last of several headers counts. */
export function restHeaders(status: number, headers: Record<string, unknown>): RestHeaders | undefined {
  if (!TOO_MUCH.has(status)) return undefined;
  const last = (name: string) => {
    const value = [headers[name]].flat().at(-1);
    return typeof value === 'string' ? value.trim() : '';
  };
  return { retryAfter: last('retry-after'), date: last('date') };
}

/**
 * Reads Retry-After: seconds, or a date, by the receiver's own clock if the response has a Date (RFC 9110, 10.2.3). At most
 * five minutes; a value that is not positive or cannot be read is ignored. `now`: milliseconds since 1970.
 */
export function readTooMuch({ retryAfter, date }: RestHeaders, now: number): TooMuch {
  const said = momentOf(date);
  const from = Number.isNaN(said) ? now : said;
  const askedMs = SECONDS.test(retryAfter) ? Number(retryAfter) * 1_000 : momentOf(retryAfter) - from;
  return askedMs > 0 ? { askedMs: Math.min(askedMs, LONGEST_MS) } : {};
}

/** Date.parse alone takes anything with a number in it for a date. */
const momentOf = (text: string): number => (/^([a-z]{3,9},? |\d{4}-)/i.test(text) ? Date.parse(text) : NaN);

const HTML =
  /^[\ufeff\s]*(?:<\?xml[^>]*>\s*)?<(?:!--|(?:!doctype html|html|head|body|title|meta|style|center|div|p|h[1-6])\b)/i;
/** Each matches to the end where its own end is missing: in linear time. */
const UNSHOWN = /<!--[^]*?(?:-->|$)|<(style|script|template|svg)\b[^]*?(?:<\/\1\s*>|$)/gi;
const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ' };

/** Whether these bytes are the beginning of a page, of which more is needed than is kept: it begins with style sheets. */
export const beginsPage = (bytes: Buffer): boolean => HTML.test(bytes.toString('utf8', 0, 256));

/** The text of a page, without its tags and style sheets, on one line; any other text as it is. */
export function textOfPage(text: string): string {
  if (!HTML.test(text)) return text;
  const shown = text
    .replaceAll(UNSHOWN, ' ')
    .replaceAll(/<[^<>]*>/g, ' ')
    .replaceAll(/&(amp|lt|gt|quot|apos|nbsp);/g, (_, name: string) => ENTITIES[name] ?? ' ')
    .replaceAll(/\s+/g, ' ')
    .trim();
  return shown === '' ? text : shown;
}

/**
 * Decodes the beginning of a body to text that JSON and Postgres can hold: NUL, which Postgres refuses, and bytes that are
 * not UTF-8 become U+FFFD. Omits a character that is cut in two.
 */
export function excerpt(chunks: readonly Buffer[]): string {
  const [first] = chunks;
  if (first === undefined) return '';
  const bytes = chunks.length === 1 ? first : Buffer.concat(chunks);
  // Only a character of several bytes can be cut in two.
  const isWhole = (bytes.at(-1) ?? 0) < 0x80;
  const text = isWhole ? bytes.toString() : new StringDecoder('utf8').write(bytes);
  return text.replaceAll('\0', '\ufffd');
}
