import { configOrExit } from '@waybell/runtime/environment';
import { connectPostgres } from '@waybell/runtime/postgres';
import { startProcess } from '@waybell/runtime/process-parts';
import { connectRedis } from '@waybell/runtime/redis';
import { untilShutdown } from '@waybell/runtime/shutdown';
import { connectBroker } from '@waybell/line/broker/connect-broker';
import { onceInRedis } from '@waybell/line/once';
import { watchPublishing } from '@waybell/line/step-report';
import { runStep } from '@waybell/line/run-step';
import { selectActions } from '@waybell/line/line-topology';
import { deliveryQueue, logQueue, rejectedQueue } from '@waybell/line/topology';
import { compileSchemas } from '@waybell/events/check-schema';
import { readConfig } from './config.ts';
import { findSubscriptionsIn } from './find-subscriptions.ts';
import { pauseWhenDeep } from './pause-when-deep.ts';
import { routeStep, strayStep } from './router-steps.ts';

const config = configOrExit(readConfig);

await using parts = await startProcess('event-router', config.process);
await using postgres = connectPostgres({ ...config.postgres, log: parts.log });
await using redis = connectRedis({ ...config.redis, log: parts.log });
await parts.readiness.until('postgres', () => postgres.query('select from waybell.subscription_targets limit 0'));
const queues = selectActions(['*']).map(deliveryQueue);
const publishesTo = [...queues, logQueue, rejectedQueue];
await using broker = await connectBroker({ ...config.broker, publishesTo, name: 'event-router', log: parts.log });
watchPublishing(broker.publishing, parts.metrics);

compileSchemas();
const step = routeStep({ findSubscriptions: findSubscriptionsIn(postgres), now: Date.now, config });

await using routing = runStep(step, { broker, once: onceInRedis(redis, parts), ...parts });
await using sorting = runStep(strayStep({ config, now: Date.now }), { broker, ...parts });
const depth = async () => (await broker.depth(queues)).messages * routing.perBundle();
await using _pausing = pauseWhenDeep({ routing, depth, limit: config.pauseDepth, ...parts });
parts.readiness.watch(() => [...broker.waitingFor(), ...routing.waitingFor(), ...sorting.waitingFor()]);

await untilShutdown({ graceMs: config.graceMs, log: parts.log });
