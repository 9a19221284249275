import type { Channel, Message } from 'amqplib';

/** All ready messages are on their way, and no other consumer takes them: even a broker that stands still brings them by then. */
const LIMIT_MS = 120_000;
const MOST_AT_ONCE = 50_000;

/** Takes what is in the queue now. */
export async function takeAll(channel: Channel, queue: string): Promise<Message[]> {
  const count = Math.min((await channel.checkQueue(queue)).messageCount, MOST_AT_ONCE);
  if (count === 0) return [];
  const taken: Message[] = [];
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const fail = (why: string) => reject(new Error(`${queue}: ${taken.length} of ${count} messages came, ${why}`));
  const limit = setTimeout(() => fail(`and no more in ${LIMIT_MS / 1_000} s`), LIMIT_MS);
  channel.once('close', () => fail('then the channel closed'));
  await channel.prefetch(count);
  const { consumerTag } = await channel.consume(queue, (message) => {
    if (message !== null) taken.push(message);
    if (taken.length === count) resolve();
  });
  await promise.finally(() => clearTimeout(limit));
  await channel.cancel(consumerTag);
  channel.ackAll();
  return taken;
}
