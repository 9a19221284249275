import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from 'amqplib';
import type { ServerAddress } from '@waybell/runtime/server-address';
import { hostAndPort, reaches } from './reaches.ts';

export type QueueDepth = { name: string; messages: number; consumers: number };

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
): Promise<QueueDepth[] | undefined> {
  if (!(await reaches(hostAndPort(address.url)))) return undefined;
  const asked = askEach(address, { names, limitMs }).catch(() => undefined);
  return Promise.race([asked, sleep(limitMs, undefined, { ref: false })]);
}

type Question = { names: string[]; limitMs: number };

async function askEach({ url, tls }: ServerAddress, { names, limitMs }: Question): Promise<QueueDepth[]> {
  const connection = await connect(url, { ...tls, timeout: limitMs });
  connection.on('error', () => undefined);
  const depths: QueueDepth[] = [];
  try {
    let channel = await connection.createChannel();
    for (const name of names) {
      channel.removeAllListeners('error').on('error', () => undefined);
      try {
        const { messageCount, consumerCount } = await channel.checkQueue(name);
        depths.push({ name, messages: messageCount, consumers: consumerCount });
      } catch {
        // The broker closes the channel that asks for a queue that is not there.
        channel = await connection.createChannel();
      }
    }
    return depths;
  } finally {
    await connection.close().catch(() => undefined);
  }
}
