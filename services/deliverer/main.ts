import { configOrExit } from '@waybell/runtime/environment';
import { withLastKnown } from '@waybell/runtime/last-known';
import { connectPostgres } from '@waybell/runtime/postgres';
import { startProcess } from '@waybell/runtime/process-parts';
import { connectRedis } from '@waybell/runtime/redis';
import { untilShutdown } from '@waybell/runtime/shutdown';
import { connectBroker } from '@waybell/line/broker/connect-broker';
import { onceInRedis } from '@waybell/line/once';
import { watchPublishing } from '@waybell/line/step-report';
import { runStep } from '@waybell/line/run-step';
import { countCallbacks } from './callback-metrics.ts';
import { openEndpoints } from './call-endpoint.ts';
import { readConfig } from './config.ts';
import { deliverStep, waitingStep } from './deliver-step.ts';
import { DeliveryMetrics } from './delivery-metrics.ts';
import { findTargetIn } from './find-target.ts';
import { systemClock } from '@waybell/runtime/clock';
import { openFlow } from './windows/flow.ts';
import { watchWindows } from './windows/window-metrics.ts';

const config = configOrExit(readConfig);

await using parts = await startProcess('deliverer', config.process);
await using postgres = connectPostgres({ ...config.postgres, log: parts.log });
await using redis = connectRedis({ ...config.redis, log: parts.log });
await using endpoints = openEndpoints({ ...config.endpoints, observe: countCallbacks(parts.metrics) });
await parts.readiness.until('postgres', () =>
  postgres.query('select from waybell.delivery_targets, waybell.valid_signing_secrets limit 0'),
);
await using broker = await connectBroker({ ...config.broker, name: 'deliverer', log: parts.log });
watchPublishing(broker.publishing, parts.metrics);

const now = Date.now;
const findTarget = withLastKnown(findTargetIn(postgres, config.keyRing), { ...config.lastKnown, clock: systemClock });
const flow = openFlow(config.flow, systemClock);
watchWindows(flow.windows, parts.metrics);
const deliveryMetrics = new DeliveryMetrics(parts.metrics, now);
const options = { findTarget, callEndpoint: endpoints.callEndpoint, config, flow, now };
const tools = { broker, once: onceInRedis(redis, parts), ...parts };

await using delivering = runStep(deliveryMetrics.watch(deliverStep(options)), tools);
await using rotating = runStep(deliveryMetrics.watch(waitingStep(options)), tools);
parts.readiness.watch(() => [...broker.waitingFor(), ...delivering.waitingFor(), ...rotating.waitingFor()]);

// Closed first: the steps end what they have begun, and nothing is to wait for its turn then.
using _ = flow;

await untilShutdown({ graceMs: config.graceMs, log: parts.log });
