import type { Log } from '@waybell/runtime/log';
import { runEvery } from '@waybell/runtime/run-every';
import { pruneConsoleLinks } from './console-links.ts';
import type { Database } from './database.ts';

export type PruneOptions = {
  database: Database;
  /** How long a change is remembered. */
  retentionMs: number;
  log: Log;
  intervalMs?: number;
  rowsAtOnce?: number;
};

const EVERY_MS = 600_000;
// One statement of this many rows stays far below its time limit, and delays no change that is noted.
const ROWS_AT_ONCE = 10_000;

const PRUNE = `
  with pruned as (
    delete from waybell.audit_log where id in (
      select id from waybell.audit_log where at < now() - $1 * interval '1 millisecond' order by at limit $2)
    returning id)
  select count(*)::int as rows from pruned`;

/** Forgets the changes that are older than is kept, and links to the console that have ended, every ten minutes until disposed of. Any number of replicas may. */
export function startPruning(options: PruneOptions): AsyncDisposable {
  const { log, intervalMs = EVERY_MS } = options;
  return runEvery((stop) => prune(options, stop), { intervalMs, warning: 'audit-log.not-pruned', log });
}

async function prune(options: PruneOptions, stop: AbortSignal): Promise<void> {
  const { database, retentionMs, log, rowsAtOnce = ROWS_AT_ONCE } = options;
  await pruneConsoleLinks(database);
  let pruned: number;
  do {
    const values = [retentionMs, rowsAtOnce];
    const [found] = await database.run((source) => source.query<{ rows: number }[]>(PRUNE, values));
    pruned = found?.rows ?? 0;
    if (pruned > 0) log.info({ rows: pruned }, 'audit-log.pruned');
  } while (pruned === rowsAtOnce && !stop.aborted);
}
