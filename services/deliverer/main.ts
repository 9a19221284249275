import { watchClock } from '@waybell/runtime/clock-watch';
import { configOrExit } from '@waybell/runtime/environment';
import { withLastKnown } from '@waybell/runtime/last-known';
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
import { retryQueues } from '@waybell/line/line-topology';
import { watchPublishing } from '@waybell/line/line-metrics';
import { exchangesOf } from '@waybell/line/uses';
import { runStep } from '@waybell/line/run-step';
import { deactivatorQueue, logQueue, rejectedQueue, waitingQueue } from '@waybell/line/topology';
import { countCallbacks } from './request/callback-metrics.ts';
import { openEndpoints } from './request/call-endpoint.ts';
import { judgeOwnFault } from './request/judge-own-fault.ts';
import { readConfig } from './config.ts';
import { deliverStep } from './deliver-step.ts';
import { DeliveryMetrics } from './delivery-metrics.ts';
import { Egress } from './egress/egress.ts';
import { watchEgress } from './egress/egress-metrics.ts';
import { asLastKnown, findTargetIn, recentlyWellIn } from './find-target.ts';
import { systemClock } from '@waybell/runtime/clock';
import { allowsAny } from '@waybell/runtime/forbidden-address';
import { systemNames } from '@waybell/runtime/names/resolve-host';
import { watchEndpoints } from './endpoints/endpoint-metrics.ts';
import { MissingKeys } from './missing-keys.ts';
import { openRequestsIn } from './open-requests/open-request-store.ts';
import { OpenRequests } from './open-requests/open-requests.ts';
import { Flow } from './parking/flow.ts';
import { watchParking } from './parking/parking-metrics.ts';
import { PARKING_SETTINGS, parkInPostgres } from './parking/postgres-parking.ts';

const config = configOrExit(readConfig);

await using parts = await startProcess('deliverer', config.process);
await using postgres = connectPostgres({ ...config.postgres, log: parts.log });
await using parking = connectPostgres({ ...config.postgres, poolSize: 2, settings: PARKING_SETTINGS, log: parts.log });
await using keeping = connectPostgres({ ...config.postgres, poolSize: 2, settings: KEPT_SETTINGS, log: parts.log });
await using redis = connectRedis({ ...config.redis, log: parts.log });
const clock = systemClock;
const { resolveHost, resolveAfresh, waitingFor } = systemNames({
  clock,
  log: parts.log,
  searches: allowsAny(config.endpoints.networks),
});
parts.readiness.watch(waitingFor);
const calling = { resolveHost, resolveAfresh, observe: countCallbacks(parts.metrics) };
await using endpoints = openEndpoints({ ...config.endpoints, ...parts, ...calling });
await parts.readiness.until('postgres', () =>
  postgres.query('select from waybell.delivery_targets, waybell.valid_signing_secrets limit 0'),
);
await parts.readiness.until(MIGRATIONS, () => checkSchema(postgres));
await using clocks = await watchClock(postgres, { limitMs: config.clockLimitMs, ...parts });
const publishesTo = [
  ...retryQueues(config.schedule, config.actionKeys),
  waitingQueue,
  logQueue,
  deactivatorQueue,
  rejectedQueue,
];
await using broker = await connectBroker({
  ...config.broker,
  exchanges: exchangesOf('deliverer'),
  publishesTo,
  name: 'deliverer',
  log: parts.log,
});
watchPublishing(broker.publishing, parts.metrics);

const now = Date.now;
const lastKnown = { ...config.lastKnown, clock, asLastKnown };
// By a wrong clock deliveries would be too old, and signatures that are made then are refused.
const findTarget = clocks.guard(withLastKnown(findTargetIn(postgres, config.keyRing), lastKnown));
const flow = new Flow({
  ...config,
  endpoints: config.flow,
  store: parkInPostgres(parking, config.actionKeys),
  log: parts.log,
  clock,
  broker,
  findTarget,
  now,
});
watchEndpoints(flow.endpoints, parts.metrics);
watchParking(flow, parts.metrics);
await using openRequests = new OpenRequests({
  store: openRequestsIn(parking),
  broker,
  limits: config.endpoints.limits,
  log: parts.log,
  clock,
});
await using kept = new KeptPublications({ ...config.kept, store: keptIn(keeping), broker, log: parts.log, clock });
watchKept(kept, parts.metrics);
const { keep } = kept;
const missingKeys = new MissingKeys({ log: parts.log, clock });
const deliveryMetrics = new DeliveryMetrics(parts.metrics, { now, hasTraces: parts.tracer !== undefined });
using egress = new Egress({ ...endpoints, ...config, recentlyWell: recentlyWellIn(postgres), clock, log: parts.log });
watchEgress(egress, parts.metrics);
const callEndpoint = clocks.guard(judgeOwnFault({ ...endpoints, egress, clock }));
const asking = { findTarget, onKeyMissing: missingKeys.asked, callEndpoint };
const step = deliverStep({ ...flow.rules, ...asking, config, clock, now });
const cut = () => void endpoints[Symbol.asyncDispose]();
const [once, deaths] = [onceInRedis(redis, parts), deathsInRedis(redis, parts)];
const tools = { broker, keep, cut, once, deaths, ...flow.tools, lease: openRequests.keep, ...parts };

// Last of all, what is owned is given to others.
await using _released = flow.released;
await using delivering = runStep(deliveryMetrics.watch(step), tools);
parts.readiness.watch(() => [...broker.waitingFor(), ...delivering.waitingFor(), ...missingKeys.waitingFor()]);

// Closed first: the step ends what it has begun, and nothing is to wait for its turn then.
using _ = flow;

await parts.shutdown.untilBegun();
