import type { Answer } from '@waybell/line/outcomes';
import type { Connection } from './connection.ts';
import type { RestHeaders } from './too-much.ts';

/** Notes of a request while it is under way; times by the deliverer's clock. */
export type Trace = {
  readonly startedAt: number;
  /** The request began over a connection. */
  isUnderWay?: boolean;
  firstByteAt?: number;
  connection?: Connection;
  /** Present for 429 and 503. */
  restHeaders?: RestHeaders | undefined;
  /** The beginning of an invalid or incomplete response. */
  held?: string;
};

type Traced = Pick<Answer, 'durationMs' | 'ip' | 'dnsMs' | 'connectMs' | 'tlsMs' | 'firstByteMs'>;

/** Reads the times of a request that has just ended, for the attempt's record: whole milliseconds. */
export function readTrace({ startedAt, firstByteAt, connection }: Trace, endedAt: number): Traced {
  const traced: Traced = { durationMs: wholeMs(startedAt, endedAt) };
  if (firstByteAt !== undefined) traced.firstByteMs = wholeMs(startedAt, firstByteAt);
  if (connection?.ip !== undefined) traced.ip = connection.ip;
  // A kept connection took none of this attempt's time.
  if (connection === undefined || connection.begunAt < startedAt) return traced;
  const { begunAt, resolvedAt, connectedAt, securedAt } = connection;
  if (resolvedAt !== undefined) traced.dnsMs = wholeMs(begunAt, resolvedAt);
  if (connectedAt === undefined) return traced;
  traced.connectMs = wholeMs(resolvedAt ?? begunAt, connectedAt);
  if (securedAt !== undefined) traced.tlsMs = wholeMs(connectedAt, securedAt);
  return traced;
}

const wholeMs = (from: number, until: number): number => Math.round(until - from);
