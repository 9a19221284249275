import { LogMetrics } from '@waybell/delivery-log/write/log-metrics';
import { partitionsIn, DAY_MS, type Partitions } from '@waybell/delivery-log/write/partitions';
import { writeOutcomesTo } from '@waybell/delivery-log/write/write-outcomes';
import type { Outcome } from '@waybell/line/outcomes';
import type { Step } from '@waybell/line/run-step';
import type { Service } from '@waybell/line/service';
import type { Log } from '@waybell/runtime/log';
import { runEvery } from '@waybell/runtime/run-every';
import type { Config } from './config.ts';
import { recordStep } from './record-step.ts';
import { byHand, sendingsIn, type Sendings } from './sendings.ts';

type DeliveryLog = {
  step: Step<Outcome[]>;
  /** Publishes manual sendings, again and again. */
  sendByHand(): AsyncDisposable;
  /** Creates partitions for days to come and drops old ones. */
  keepPartitions(): AsyncDisposable;
};

export function openDeliveryLog(service: Service<Config>): DeliveryLog {
  const { config, postgres, clocks, log, metrics, shutdown } = service;
  const { intervalMs } = config.sending;
  const partitions = partitionsIn(postgres, { ...config.retention, now: Date.now });
  const writing = { partitions, figures: new LogMetrics(metrics), timeoutMs: config.postgres.timeoutMs };
  const write = writeOutcomesTo(postgres, writing);
  // With a wrong clock, records would be dated in the future, and partitions that must be kept would be too old.
  const inTime = { write: clocks.guard(write), partitions: { turnOver: clocks.guard(partitions.turnOver) } };
  const sendings = sendingsIn(postgres, config.sending);
  const sent = byHand({ sendings, write, log });
  return {
    step: recordStep({ write: inTime.write, config }),
    sendByHand: () => service.publishRepeatedly('sent-by-hand', sent, { intervalMs, warning: 'sending.failed' }),
    keepPartitions: () =>
      keepPartitions({ partitions: inTime.partitions, sendings, config, until: shutdown.begun, log }),
  };
}

const INTERVAL_MS = 600_000;

type KeepPartitionsOptions = {
  partitions: Pick<Partitions, 'turnOver'>;
  sendings: Pick<Sendings, 'forget'>;
  config: Pick<Config, 'retention'>;
  until: AbortSignal;
  log: Log;
};

/**
 * Creates and drops partitions every ten minutes; any number of replicas may. A failure, as while another replica does the same
 * or Postgres is away, does no harm: a record creates its partition if that is missing.
 */
export function keepPartitions({ partitions, sendings, config, until, log }: KeepPartitionsOptions): AsyncDisposable {
  const turnOver = async () => {
    const dropped = await partitions.turnOver();
    if (dropped.length > 0) log.info({ dropped }, 'partitions.dropped');
    await sendings.forget(config.retention.days * DAY_MS);
  };
  return runEvery(turnOver, {
    intervalMs: INTERVAL_MS,
    beginsAtOnce: true,
    until,
    warning: 'partitions.not-kept',
    log,
  });
}
