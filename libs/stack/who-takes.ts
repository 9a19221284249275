import { rejectedQueue, rejectionsQueue, retryExchange } from '@waybell/line/topology';

/** Who takes what lies in a queue. From some nobody does, by design: there no consumers are no trouble. */
export function whoTakes(queue: string, consumers: number): string {
  if (queue === rejectedQueue) return 'see ./waybell rejected list';
  if (queue === rejectionsQueue) return 'for upstream, which was told so of its events';
  if (queue.startsWith(`${retryExchange}.`)) return 'until their next attempt';
  return `${consumers} consumers`;
}
