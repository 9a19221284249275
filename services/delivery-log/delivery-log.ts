import { LogMetrics } from '@waybell/delivery-log/write/log-metrics';
import { partitionsIn } from '@waybell/delivery-log/write/partitions';
import { writeOutcomesTo } from '@waybell/delivery-log/write/write-outcomes';
import type { Outcome } from '@waybell/line/outcomes';
import type { Step } from '@waybell/line/run-step';
import type { Service } from '@waybell/line/service';
import { byHand } from './by-hand.ts';
import type { Config } from './config.ts';
import { keepPartitions } from './keep-partitions.ts';
import { recordStep } from './record-step.ts';
import { sendingsIn } from './sendings.ts';

export type DeliveryLog = {
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
