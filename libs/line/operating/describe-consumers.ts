import type { NamedState } from '../broker/broker-connection.ts';
import {
  isForUpstream,
  isSuspectsQueue,
  operationsQueue,
  rejectedQueue,
  retryExchange,
  waitingQueue,
} from '../topology.ts';

/** Describes the consumers of a queue. Some queues have none by design. */
export function describeConsumers(queue: string, consumers: number): string {
  return whyNoConsumer(queue) ?? `${consumers} consumers`;
}

/** Whether the queue may hold more messages than reported: RabbitMQ reports 0 messages and 0 consumers for a queue without a majority. */
export function mayHoldMore({ name, messages, consumers, isKnown }: NamedState): boolean {
  return messages === 0 && (!isKnown || (consumers === 0 && whyNoConsumer(name) === undefined));
}

/** Explains why a queue has no consumer by design; undefined if a service must consume it at all times. */
function whyNoConsumer(queue: string): string | undefined {
  if (queue === rejectedQueue) return 'see ./waybell rejected list';
  if (queue === operationsQueue) return 'for the platform, to tell its clients';
  if (isForUpstream(queue)) return 'for upstream, which was told so of its events';
  if (queue.startsWith(`${retryExchange}.`)) return 'until their next attempt';
  if (isSuspectsQueue(queue)) return 'while their service holds what came again';
  if (queue === waitingQueue) return 'until they are looked at again';
  return undefined;
}
