import type { TestBroker } from '@waybell/line/testing/test-broker';
import { eventsExchange } from '@waybell/line/topology';

/** A queue that gets everything that is published. */
export async function tapped(broker: TestBroker, args: Record<string, unknown> = {}): Promise<string> {
  const queue = await broker.queue(args);
  await broker.on((channel) => channel.bindQueue(queue, eventsExchange, '#'));
  return queue;
}
