import { systemClock } from '@waybell/runtime/clock';
import { watchClock } from '@waybell/runtime/clock-watch';
import { configOrExit } from '@waybell/runtime/environment';
import { connectPostgres } from '@waybell/runtime/postgres';
import { startProcess } from '@waybell/runtime/process-parts';
import { checkSchema, MIGRATIONS } from '@waybell/runtime/schema';
import { connectRedis } from '@waybell/runtime/redis';
import { connectBroker } from '@waybell/line/broker/connect-broker';
import { deathsInRedis } from '@waybell/line/deaths';
import { watchKept } from '@waybell/line/kept/kept-metrics';
import { KeptPublications } from '@waybell/line/kept/kept-publications';
import { KEPT_SETTINGS, keptIn } from '@waybell/line/kept/kept-store';
import { onceInRedis } from '@waybell/line/once';
import { watchPublishing } from '@waybell/line/line-metrics';
import { runStep } from '@waybell/line/run-step';
import { selectActions } from '@waybell/line/line-topology';
import { exchangesOf } from '@waybell/line/uses';
import { deliveryQueue, logQueue, rejectedQueue, rejectionsQueue } from '@waybell/line/topology';
import { compileSchemas } from '@waybell/events/check-schema';
import { unknownMembersMetric } from '@waybell/events/unknown-members-metric';
import { readConfig } from './config.ts';
import { findSubscriptionsIn } from './find-subscriptions.ts';
import { pauseWhenDeep } from './pause-when-deep.ts';
import { routeStep, strayStep } from './router-steps.ts';

const config = configOrExit(readConfig);

await using parts = await startProcess('event-router', config.process);
await using postgres = connectPostgres({ ...config.postgres, log: parts.log });
await using keeping = connectPostgres({ ...config.postgres, poolSize: 2, settings: KEPT_SETTINGS, log: parts.log });
await using redis = connectRedis({ ...config.redis, log: parts.log });
await parts.readiness.until('postgres', () => postgres.query('select from waybell.subscription_targets limit 0'));
await parts.readiness.until(MIGRATIONS, () => checkSchema(postgres));
await using clocks = await watchClock(postgres, { limitMs: config.clockLimitMs, ...parts });
const queues = selectActions(['*']).map(deliveryQueue);
const publishesTo = [...queues, logQueue, rejectedQueue, rejectionsQueue];
await using broker = await connectBroker({
  ...config.broker,
  exchanges: exchangesOf('event-router'),
  publishesTo,
  name: 'event-router',
  log: parts.log,
});
watchPublishing(broker.publishing, parts.metrics);
await using kept = new KeptPublications({
  ...config.kept,
  store: keptIn(keeping),
  broker,
  log: parts.log,
  clock: systemClock,
});
watchKept(kept, parts.metrics);

compileSchemas();
const onRead = unknownMembersMetric(parts.metrics);
// What is made by a wrong clock is too old to be attempted, or grows never old.
const findSubscriptions = clocks.guard(findSubscriptionsIn(postgres));
const step = routeStep({ findSubscriptions, now: Date.now, onRead, config });

const tools = { broker, keep: kept.keep, deaths: deathsInRedis(redis, parts), ...parts };
await using routing = runStep(step, { ...tools, once: onceInRedis(redis, parts) });
await using sorting = runStep(strayStep({ config, now: Date.now, clock: systemClock }), tools);
const depth = async () => {
  const { messages, isExact } = await broker.depth(queues);
  return { messages: messages * routing.perBundle(), isExact };
};
await using _pausing = pauseWhenDeep({ routing, depth, limit: config.pauseDepth, ...parts });
parts.readiness.watch(() => [...broker.waitingFor(), ...routing.waitingFor(), ...sorting.waitingFor()]);

await parts.shutdown.untilBegun();
