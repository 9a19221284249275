import { watchClock } from '@waybell/runtime/clock-watch';
import { configOrExit } from '@waybell/runtime/environment';
import { connectPostgres } from '@waybell/runtime/postgres';
import { startProcess } from '@waybell/runtime/process-parts';
import { checkSchema, MIGRATIONS } from '@waybell/runtime/schema';
import { connectBroker } from '@waybell/line/broker/connect-broker';
import { publishClaimed, publishRepeatedly } from '@waybell/line/claimed/publish-claimed';
import { watchPublishing } from '@waybell/line/line-metrics';
import { exchangesOf } from '@waybell/line/uses';
import { runStep } from '@waybell/line/run-step';
import { logQueue, rejectedQueue } from '@waybell/line/topology';
import { announceDeactivations } from './announce-deactivations.ts';
import { readConfig } from './config.ts';
import { deactivateStep } from './deactivate-step.ts';
import { deactivationsIn } from './deactivations.ts';
import { noteEndsIn } from './note-ends.ts';
import { startSweep } from './sweep.ts';
import { switchOffIn } from './switch-off.ts';

const config = configOrExit(readConfig);

await using parts = await startProcess('deactivator', config.process);
await using postgres = connectPostgres({ ...config.postgres, log: parts.log });
const noteEnds = noteEndsIn(postgres, config.rules);
await parts.readiness.until('postgres', () => noteEnds([]));
await parts.readiness.until(MIGRATIONS, () => checkSchema(postgres));
await using _clocks = await watchClock(postgres, { limitMs: config.clockLimitMs, ...parts });
const publishesTo = [logQueue, rejectedQueue];
await using broker = await connectBroker({
  ...config.broker,
  exchanges: exchangesOf('deactivator'),
  publishesTo,
  name: 'deactivator',
  log: parts.log,
});
watchPublishing(broker.publishing, parts.metrics);

const deactivations = deactivationsIn(postgres, { ...config, onTold: announceDeactivations(parts) });

await using running = runStep(deactivateStep({ noteEnds, config }), { broker, ...parts });
await using telling = publishClaimed('deactivations', deactivations, { broker, ...parts });
const how = { intervalMs: config.sweepIntervalMs, log: parts.log };
await using _telling = publishRepeatedly(telling, { ...how, until: parts.shutdown.begun, complaint: 'telling.failed' });
await using _sweep = startSweep({ switchOff: switchOffIn(postgres, config.rules), ...how, ...parts });
parts.readiness.watch(() => [...broker.waitingFor(), ...running.waitingFor()]);

await parts.shutdown.untilBegun();
