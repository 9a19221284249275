import { isForUpstream, rejectedQueue, retryExchange, WAITS_MS, waitingName, type Wait } from '@waybell/line/topology';

/** Describes the consumers of a queue. Some queues have none by design: that is no trouble. */
export function whoTakes(queue: string, consumers: number): string {
  return whyNoService(queue) ?? `${consumers} consumers`;
}

/** Why no service takes from a queue; undefined where one is to. */
export function whyNoService(queue: string): string | undefined {
  if (queue === rejectedQueue) return 'see ./waybell rejected list';
  if (isForUpstream(queue)) return 'for upstream, which was told so of its events';
  if (queue.startsWith(`${retryExchange}.`)) return 'until their next attempt';
  if (WAITING.has(queue)) return 'until they are looked at again';
  return undefined;
}

const WAITING = new Set((Object.keys(WAITS_MS) as Wait[]).map(waitingName));
