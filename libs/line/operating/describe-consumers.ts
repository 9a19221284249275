import type { NamedState } from '../broker/depth.ts';
import { isForUpstream, quarantineQueue, rejectedQueue, retryExchange, waitingQueue } from '../topology.ts';

/** Describes the consumers of a queue. Some queues have none by design: that is no trouble. */
export function describeConsumers(queue: string, consumers: number): string {
  return whyNoConsumer(queue) ?? `${consumers} consumers`;
}

/** RabbitMQ says of a queue that has lost its majority that it has neither messages nor consumers, and often says so at once. */
export function mayHoldMore({ name, messages, consumers, isKnown }: NamedState): boolean {
  return messages === 0 && (!isKnown || (consumers === 0 && whyNoConsumer(name) === undefined));
}

/** Undefined where a service is to take from a queue at all times. */
function whyNoConsumer(queue: string): string | undefined {
  if (queue === rejectedQueue) return 'see ./waybell rejected list';
  if (isForUpstream(queue)) return 'for upstream, which was told so of its events';
  if (queue.startsWith(`${retryExchange}.`)) return 'until their next attempt';
  if (queue.startsWith(quarantineQueue(''))) return 'until their service has nothing else in hand';
  if (queue === waitingQueue) return 'until they are looked at again';
  return undefined;
}
