import { compileSchemas } from '@waybell/events/check-schema';
import { unknownMembersMetric } from '@waybell/events/unknown-members-metric';
import { selectActions } from '@waybell/line/line-topology';
import type { Message } from '@waybell/line/messages';
import type { RunningStep, Step } from '@waybell/line/run-step';
import type { Service } from '@waybell/line/service';
import { deliveryQueue } from '@waybell/line/topology';
import { systemClock } from '@waybell/runtime/clock';
import type { Config } from './config.ts';
import { findSubscriptionsIn, type Arrival } from './route-event.ts';
import { pauseWhenDeep } from './pause-when-deep.ts';
import { routeStep, strayStep } from './router-steps.ts';

export type EventRouter = {
  routing: Step<Arrival>;
  sorting: Step<Message>;
  /** Pauses the step while the delivery queues are deep. */
  pauseWhenDeep(routing: RunningStep): AsyncDisposable;
};

export function openEventRouter({ config, postgres, broker, clocks, log, metrics }: Service<Config>): EventRouter {
  compileSchemas();
  const onRead = unknownMembersMetric(metrics);
  // With a wrong clock, deliveries would be made too old to be attempted, or would never grow old.
  const findSubscriptions = clocks.guard(findSubscriptionsIn(postgres));
  const queues = selectActions(['*']).map(deliveryQueue);
  return {
    routing: routeStep({ findSubscriptions, now: Date.now, onRead, config }),
    sorting: strayStep({ config, now: Date.now, clock: systemClock }),
    pauseWhenDeep(routing) {
      const depth = async () => {
        const { messages, isExact } = await broker.depth(queues);
        return { messages: messages * routing.perBatch(), isExact };
      };
      return pauseWhenDeep({ routing, depth, limit: config.pauseDepth, log, metrics });
    },
  };
}
