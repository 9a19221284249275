import type { Log } from '@waybell/runtime/log';
import { runEvery } from '@waybell/runtime/run-every';
import type { Config } from './config.ts';
import { DAY_MS, type Partitions } from '@waybell/delivery-log/write/partitions';
import type { Sendings } from './sendings.ts';

const INTERVAL_MS = 600_000;

export type KeepPartitionsOptions = {
  partitions: Pick<Partitions, 'turnOver'>;
  sendings: Pick<Sendings, 'forget'>;
  config: Pick<Config, 'retention'>;
  until: AbortSignal;
  log: Log;
};

/**
 * Looks every ten minutes, from now on, what has to be created and dropped. Any number of replicas may. What fails because
 * another is at it, or Postgres is away, is made up for: a partition that is missing is created when a record needs it.
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
    complaint: 'partitions.not-kept',
    log,
  });
}
