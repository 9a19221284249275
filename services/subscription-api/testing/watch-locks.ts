import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';

/** How long a lock was held, or waited for, on a table that was there before; milliseconds, seen every ten. */
export type SeenLock = { table: string; mode: string; heldMs: number };

/** While it is held, or waited for, somebody who only reads or writes waits too. */
const LOCKS = `
select c.oid::regclass::text as table, l.mode
from pg_locks l join pg_class c on c.oid = l.relation join pg_stat_activity a on a.pid = l.pid
where a.datname = current_database() and a.application_name = 'waybell-subscription-api' and c.oid = any ($1::oid[])
  and l.mode in ('ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock')`;
const TABLES = `
select oid from pg_class where relkind in ('r', 'p')
  and relnamespace in (select oid from pg_namespace where nspname in ('waybell', 'delivery_log'))`;
const LOOK_MS = 10;

/** Watches the tables that are there now while work is done on them by a migration; resolves with the locks, the longest first. */
export async function locksOf(postgres: pg.Pool, work: () => Promise<unknown>): Promise<SeenLock[]> {
  const { rows: tables } = await postgres.query<{ oid: number }>(TABLES);
  const oids = tables.map(({ oid }) => oid);
  const open = new Map<string, number>();
  const longest = new Map<string, number>();
  let isOver = false;
  const watching = (async () => {
    while (!isOver) {
      const { rows } = await postgres.query<{ table: string; mode: string }>(LOCKS, [oids]);
      const now = performance.now();
      const seen = new Set(rows.map(({ table, mode }) => `${table} ${mode}`));
      for (const each of open.keys()) if (!seen.has(each)) open.delete(each);
      for (const each of seen) {
        const since = open.get(each) ?? now - LOOK_MS;
        open.set(each, since);
        longest.set(each, Math.max(longest.get(each) ?? 0, now - since));
      }
      await sleep(LOOK_MS);
    }
  })();
  try {
    await work();
  } finally {
    isOver = true;
    await watching;
  }
  return [...longest]
    .map(([each, heldMs]) => {
      const [table = '', mode = ''] = each.split(' ');
      return { table, mode, heldMs: Math.round(heldMs) };
    })
    .toSorted((a, b) => b.heldMs - a.heldMs);
}
