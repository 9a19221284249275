import { configOrExit } from '@waybell/runtime/environment';
import { withLastKnown } from '@waybell/runtime/last-known';
import { connectPostgres } from '@waybell/runtime/postgres';
import { startProcess } from '@waybell/runtime/process-parts';
import { connectRedis } from '@waybell/runtime/redis';
import { untilShutdown } from '@waybell/runtime/shutdown';
import { connectBroker } from '@waybell/line/broker/connect-broker';
import { onceInRedis } from '@waybell/line/once';
import { runStep } from '@waybell/line/run-step';
import { openEndpoints } from './call-endpoint.ts';
import { readConfig } from './config.ts';
import { deliverStep } from './deliver-step.ts';
import { findTargetIn } from './find-target.ts';

const config = configOrExit(readConfig);

await using parts = await startProcess('deliverer', config.process);
await using postgres = connectPostgres({ ...config.postgres, log: parts.log });
await using redis = connectRedis({ ...config.redis, log: parts.log });
await using endpoints = openEndpoints(config.endpoints);
await parts.readiness.until('postgres', () => postgres.query('select from waybell.delivery_targets limit 0'));
await using broker = await connectBroker({ ...config.broker, name: 'deliverer', log: parts.log });

const now = Date.now;
const findTarget = withLastKnown(findTargetIn(postgres, config.keyRing), { ...config.lastKnown, now });
const step = deliverStep({ findTarget, callEndpoint: endpoints.callEndpoint, config, now });

await using running = runStep(step, { broker, once: onceInRedis(redis, parts.log), ...parts });
parts.readiness.watch(() => [...broker.waitingFor(), ...running.waitingFor()]);

await untilShutdown({ graceMs: config.graceMs, log: parts.log });
