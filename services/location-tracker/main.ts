import { unknownMembersMetric } from '@waybell/events/unknown-members-metric';
import { watchClock } from '@waybell/runtime/clock-watch';
import { configOrExit } from '@waybell/runtime/environment';
import { connectPostgres } from '@waybell/runtime/postgres';
import { startProcess } from '@waybell/runtime/process-parts';
import { checkSchema, MIGRATIONS } from '@waybell/runtime/schema';
import { connectRedis } from '@waybell/runtime/redis';
import { connectBroker } from '@waybell/line/broker/connect-broker';
import { deathsInRedis } from '@waybell/line/deaths';
import { publishClaimed } from '@waybell/line/claimed/publish-claimed';
import { watchPublishing } from '@waybell/line/line-metrics';
import { exchangesOf } from '@waybell/line/uses';
import { runStep } from '@waybell/line/run-step';
import { logQueue, rejectedQueue, rejectionsQueue, routerQueue } from '@waybell/line/topology';
import { reportRejectedEvent } from '@waybell/rejected/report-rejected-event';
import { activitiesIn } from './activities.ts';
import { readConfig } from './config.ts';
import { deactivationsIn } from './deactivations.ts';
import { findAddressWith } from './find-address.ts';
import { rememberedVehiclesIn } from './remembered-vehicles.ts';
import { seeTogether } from './see-together.ts';
import { startSweeping } from './start-sweeping.ts';
import { sweepBeside } from './sweep-beside.ts';
import { TrackerMetrics } from './tracker-metrics.ts';
import { trackStep } from './track-step.ts';

const config = configOrExit(readConfig);

await using parts = await startProcess('location-tracker', config.process);
await using postgres = connectPostgres({ ...config.postgres, log: parts.log });
await using redis = connectRedis({ ...config.redis, log: parts.log });
await parts.readiness.until('postgres', () => postgres.query('select from waybell.tracked_vehicles limit 0'));
await parts.readiness.until(MIGRATIONS, () => checkSchema(postgres));
await using clocks = await watchClock(postgres, { limitMs: config.clockLimitMs, ...parts });
const publishesTo = [routerQueue, logQueue, rejectedQueue, rejectionsQueue];
await using broker = await connectBroker({
  ...config.broker,
  exchanges: exchangesOf('location-tracker'),
  publishesTo,
  name: 'location-tracker',
  log: parts.log,
});
watchPublishing(broker.publishing, parts.metrics);

const figures = new TrackerMetrics(parts.metrics);
const remembered = rememberedVehiclesIn(redis, config);
// By a wrong clock reports are of a time to come, and every vehicle is silent.
const seeReport = clocks.guard(
  seeTogether({ ...config, activities: activitiesIn(postgres), remembered, now: Date.now }),
);
if (config.geocoder === undefined) parts.log.info({ setting: 'GEOCODER_URL' }, 'geocoder.none');
const findAddress = findAddressWith(config.geocoder, figures.countAddress);
const onRead = unknownMembersMetric(parts.metrics);
const step = trackStep({ seeReport, findAddress, onRead, onChanges: figures.countChanges, now: Date.now, config });
const deactivations = deactivationsIn(postgres, { ...config, onAnnounced: figures.countDeactivation(parts.log) });

await using tracking = runStep(step, { broker, deaths: deathsInRedis(redis, parts), ...parts });
const silent = { ...deactivations, reportRejection: reportRejectedEvent(config.eventLimits, Date.now) };
await using announcing = publishClaimed('silent-vehicles', silent, { broker, ...parts });
const sweep = clocks.guard(sweepBeside(tracking, { broker, deactivations, remembered, announcing, config }));
await using _sweeping = startSweeping({ ...config, sweep, onSwept: figures.timeSweep, log: parts.log });
parts.readiness.watch(() => [...broker.waitingFor(), ...tracking.waitingFor()]);

await parts.shutdown.untilBegun();
