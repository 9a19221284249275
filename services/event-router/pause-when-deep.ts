import type { Depth } from '@waybell/line/broker';
import type { RunningStep } from '@waybell/line/run-step';
import type { Clock } from '@waybell/runtime/clock';
import type { Log } from '@waybell/runtime/log';
import { gaugeOnDemand, type Metrics } from '@waybell/runtime/metrics';
import { runEvery } from '@waybell/runtime/run-every';

export type PauseOptions = {
  routing: Pick<RunningStep, 'taken' | 'pause' | 'resume'>;
  /** Returns the approximate number of waiting deliveries over all queues. Rejects while it is unknown. */
  depth: () => Promise<Depth>;
  /** Above this many deliveries the router takes no events; it resumes at half of it, so that it does not flutter. */
  limit: number;
  log: Log;
  metrics: Metrics;
  clock?: Clock;
};

const REASON = 'delivery queues are deep';
const INTERVAL_MS = 1_000;
/** A check asks the broker for every queue. Below this share of the limit so many are left out: queues do not fill up in that time. */
const [LOW, LEFT_OUT] = [0.1, 4];

/**
 * Pauses the router while the deliverers are far behind. Events then wait in their own queue, which refuses publishes beyond its
 * size: upstream notices, and the broker does not fill up. Queries the depth only while events are routed or routing is paused.
 * Queues that are nearly empty are checked every five seconds. While the depth of some queue is unknown, the router does not resume,
 * and pauses only if the others are too deep without it.
 */
export function pauseWhenDeep({ routing, depth, limit, log, metrics, ...options }: PauseOptions): AsyncDisposable {
  let isPaused = false;
  let takenBefore = 0;
  let leftOut = 0;
  countPaused(() => isPaused, metrics);
  const check = async () => {
    if (routing.taken() === takenBefore && !isPaused) return;
    if (leftOut > 0) return void (leftOut -= 1);
    takenBefore = routing.taken();
    const { messages: waiting, isExact } = await depth();
    if (isExact && waiting <= LOW * limit) leftOut = LEFT_OUT;
    const isDeep = waiting > (isPaused ? limit / 2 : limit);
    // Some depths are unknown: a small sum of the others proves nothing.
    if (!isDeep && !isExact) return;
    if (isDeep === isPaused) return;
    isPaused = isDeep;
    log.warn({ waiting, limit }, isDeep ? 'routing.paused' : 'routing.resumed');
    if (isDeep) await routing.pause(REASON);
    else routing.resume(REASON);
  };
  // While the broker is away the depth is unknown, but there is nothing to take either.
  return runEvery(check, { ...options, intervalMs: INTERVAL_MS, warning: 'routing.depth-unknown', log });
}

export function countPaused(isPaused: () => boolean, metrics: Metrics): void {
  gaugeOnDemand(
    metrics,
    { name: 'waybell_routing_paused', help: '1 while the router pauses: delivery queues are too deep' },
    () => [{ value: isPaused() ? 1 : 0 }],
  );
}
