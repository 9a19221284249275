import { setTimeout as sleep } from 'node:timers/promises';
import { onConnection } from '@waybell/line/broker/connect-once';
import { statesOf, type NamedState } from '@waybell/line/broker/depth';
import type { ServerAddress } from '@waybell/runtime/server-address';
import { reachesAny } from './reaches.ts';

/** A broker that hangs must not hold up the answer of `status`. */
const LIMIT_MS = 3_000;

/**
 * How many messages wait, ready to be taken, in each of these queues. A queue that is missing is left out; undefined
 * where the broker cannot be asked, or has not said it all in time.
 */
export async function queueDepths(
  address: ServerAddress,
  names: string[],
  limitMs = LIMIT_MS,
): Promise<NamedState[] | undefined> {
  if (!(await reachesAny(address.url))) return undefined;
  const asked = onConnection(address, (connection) => statesOf(connection, names), limitMs);
  return Promise.race([asked.catch(() => undefined), sleep(limitMs, undefined, { ref: false })]);
}
