import type { Channel, Message } from 'amqplib';
import { until } from '@waybell/runtime/testing/until';

const MOST_AT_ONCE = 50_000;

/** Takes what is in the queue now. A message that expires meanwhile has left the queue, and is not among them. */
export async function takeAll(channel: Channel, queue: string): Promise<Message[]> {
  const count = Math.min((await channel.checkQueue(queue)).messageCount, MOST_AT_ONCE);
  if (count === 0) return [];
  const taken: Message[] = [];
  await channel.prefetch(count);
  const { consumerTag } = await channel.consume(queue, (message) => {
    if (message !== null) taken.push(message);
  });
  // The answer to a check follows the messages that were on their way when the queue was empty.
  let emptyChecks = 0;
  await until(`the ${count} messages of ${queue} have come`, async () => {
    if (taken.length >= count) return true;
    const before = taken.length;
    const isEmpty = (await channel.checkQueue(queue)).messageCount === 0;
    emptyChecks = isEmpty && taken.length === before ? emptyChecks + 1 : 0;
    return emptyChecks > 1;
  });
  await channel.cancel(consumerTag);
  channel.ackAll();
  return taken;
}
