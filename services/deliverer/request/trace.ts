import type { Answer } from '@waybell/line/outcomes';
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
  held?: string;
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
