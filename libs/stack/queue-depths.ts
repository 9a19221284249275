import { setTimeout as sleep } from 'node:timers/promises';
import { statesOf, type NamedState } from '@waybell/line/broker/broker-connection';
import { onConnection } from '@waybell/line/operating/connect-once';
import { placeOf } from '@waybell/runtime/addresses';
import type { ServerAddress } from '@waybell/runtime/server-address';

/** A broker that hangs must not hold up the caller. */
const LIMIT_MS = 3_000;

/** Each queue without a leader is answered late: one after the other, many would last too long. */
const CHANNELS = 8;

/**
 * How many messages wait, ready to be taken, in each of these queues. A queue that is missing is left out. Rejects, saying
 * why, where the broker cannot be asked, or has not answered in full in time.
 */
export async function readDepths(address: ServerAddress, names: string[], limitMs: number): Promise<NamedState[]> {
  const share = Math.ceil(names.length / CHANNELS);
  const shares = Array.from({ length: CHANNELS }, (_none, index) => names.slice(index * share, (index + 1) * share));
  const answer = onConnection(
    address,
    (connection) => Promise.all(shares.map((each) => statesOf(connection, each))),
    limitMs,
  );
  const late = sleep(limitMs, undefined, { ref: false }).then(() => {
    throw new Error(`RabbitMQ at ${placeOf(address.url)} has not told of all queues within ${limitMs / 1_000} s`);
  });
  return (await Promise.race([answer, late])).flat();
}

/** The same; undefined where the broker cannot be asked, or has not answered in full in time. */
export async function queueDepths(
  address: ServerAddress,
  names: string[],
  limitMs = LIMIT_MS,
): Promise<NamedState[] | undefined> {
  return readDepths(address, names, limitMs).catch(() => undefined);
}
