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
