import type { Depth } from '@waybell/line/broker';
import type { RunningStep } from '@waybell/line/run-step';
import type { Clock } from '@waybell/runtime/clock';
import type { Log } from '@waybell/runtime/log';
import { gaugeOnDemand, type Metrics } from '@waybell/runtime/metrics';
import { runEvery } from '@waybell/runtime/run-every';

export type PauseOptions = {
  routing: Pick<RunningStep, 'taken' | 'pause' | 'resume'>;
  /** Deliveries that wait in their queues, together, about. Rejects while that is not known. */
  depth: () => Promise<Depth>;
  /** Above this many the router takes no more events; it goes on at half of it, so that it does not flutter. */
  limit: number;
  log: Log;
  metrics: Metrics;
  clock?: Clock;
};

const REASON = 'delivery queues are deep';
const INTERVAL_MS = 1_000;

/**
 * Pauses the router while the deliverers are far behind. Events then wait in their own queue, which refuses what is
 * beyond its size: upstream hears of it, instead of the broker filling up. Depth is asked for only while events are
 * routed, or wait to be. While some queue does not say how deep it is, the router does not go on for that, and pauses only
 * if the others are too deep without it.
 */
export function pauseWhenDeep({ routing, depth, limit, log, metrics, ...options }: PauseOptions): AsyncDisposable {
  let isPaused = false;
  let takenBefore = 0;
  countPaused(() => isPaused, metrics);
  const look = async () => {
    if (routing.taken() === takenBefore && !isPaused) return;
    takenBefore = routing.taken();
    const { messages: waiting, isExact } = await depth();
    const isDeep = waiting > (isPaused ? limit / 2 : limit);
    // Not all queues have said how deep they are: that what is known is little says nothing.
    if (!isDeep && !isExact) return;
    if (isDeep === isPaused) return;
    isPaused = isDeep;
    log.warn({ waiting, limit }, isDeep ? 'routing.paused' : 'routing.resumed');
    if (isDeep) await routing.pause(REASON);
    else routing.resume(REASON);
  };
  // While the broker is away the depth is not known; there is nothing to take either.
  return runEvery(look, { ...options, intervalMs: INTERVAL_MS, complaint: 'routing.depth-unknown', log });
}

export function countPaused(isPaused: () => boolean, metrics: Metrics): void {
  gaugeOnDemand(
    metrics,
    { name: 'waybell_routing_paused', help: '1 while the router takes no events: the delivery queues are too deep' },
    () => [{ value: isPaused() ? 1 : 0 }],
  );
}
