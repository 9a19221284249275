import { watchClock } from '@waybell/runtime/clock-watch';
import { configOrExit } from '@waybell/runtime/environment';
import { connectPostgres } from '@waybell/runtime/postgres';
import { startProcess } from '@waybell/runtime/process-parts';
import { checkSchema, MIGRATIONS } from '@waybell/runtime/schema';
import { publishClaimed, publishRepeatedly } from '@waybell/line/claimed/publish-claimed';
import { connectBroker } from '@waybell/line/broker/connect-broker';
import { watchPublishing } from '@waybell/line/line-metrics';
import { selectActions } from '@waybell/line/line-topology';
import { exchangesOf } from '@waybell/line/uses';
import { runStep } from '@waybell/line/run-step';
import { deliveryQueue, rejectedQueue } from '@waybell/line/topology';
import { byHand } from './by-hand.ts';
import { readConfig } from './config.ts';
import { keepPartitions } from './keep-partitions.ts';
import { LogMetrics } from '@waybell/delivery-log/write/log-metrics';
import { partitionsIn } from '@waybell/delivery-log/write/partitions';
import { recordStep } from './record-step.ts';
import { sendingsIn } from './sendings.ts';
import { writeOutcomesTo } from '@waybell/delivery-log/write/write-outcomes';

const config = configOrExit(readConfig);

await using parts = await startProcess('delivery-log', config.process);
await using postgres = connectPostgres({ ...config.postgres, log: parts.log });
await parts.readiness.until('postgres', () => postgres.query('select from delivery_log.attempts limit 0'));
await parts.readiness.until(MIGRATIONS, () => checkSchema(postgres));
await using clocks = await watchClock(postgres, { limitMs: config.clockLimitMs, ...parts });
const deliveries = selectActions(['*']).map(deliveryQueue);
const publishesTo = [...deliveries, rejectedQueue];
await using broker = await connectBroker({
  ...config.broker,
  exchanges: exchangesOf('delivery-log'),
  publishesTo,
  name: 'delivery-log',
  log: parts.log,
});
watchPublishing(broker.publishing, parts.metrics);

const figures = new LogMetrics(parts.metrics);
const partitions = partitionsIn(postgres, { ...config.retention, now: Date.now });
const write = writeOutcomesTo(postgres, { partitions, figures, timeoutMs: config.postgres.timeoutMs });

// By a wrong clock what is recorded now is of a day to come, and what is kept still is too old.
const inTime = { write: clocks.guard(write), partitions: { turnOver: clocks.guard(partitions.turnOver) } };

await using running = runStep(recordStep({ ...inTime, config }), { broker, ...parts });
const sendings = sendingsIn(postgres, config.sending);
const until = parts.shutdown.begun;
await using sending = publishClaimed('sent-by-hand', byHand({ sendings, write, log: parts.log }), { broker, ...parts });
await using _sending = publishRepeatedly(sending, {
  ...config.sending,
  until,
  complaint: 'sending.failed',
  log: parts.log,
});
await using _keeping = keepPartitions({ ...inTime, sendings, config, until, log: parts.log });
parts.readiness.watch(() => [...broker.waitingFor(), ...running.waitingFor()]);

await parts.shutdown.untilBegun();
