import { isForUpstream, rejectedQueue, retryExchange } from '@waybell/line/topology';

/** Describes the consumers of a queue. Some queues have none by design: that is no trouble. */
export function whoTakes(queue: string, consumers: number): string {
  if (queue === rejectedQueue) return 'see ./waybell rejected list';
  if (isForUpstream(queue)) return 'for upstream, which was told so of its events';
  if (queue.startsWith(`${retryExchange}.`)) return 'until their next attempt';
  return `${consumers} consumers`;
}
