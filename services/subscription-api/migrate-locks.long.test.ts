/**
 * Measures which locks migrations take, and for how long, on tables of many rows that are read and written meanwhile. Sizes:
 * `LOCKS_SUBSCRIPTIONS` and `LOCKS_ATTEMPTS`; docs/operating/upgrading.md has the printed result.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import type pg from 'pg';
import { MigrationExecutor } from 'typeorm';
import { describeSource } from './database.ts';
import { migrate } from './migrate.ts';
import { REPEATABLES } from './repeatables.ts';
import { createTestDatabase, type TestDatabase } from '@waybell/runtime/testing/database';
import { silentLog as log } from '@waybell/runtime/testing/patience';

const SUBSCRIPTIONS = Number(process.env['LOCKS_SUBSCRIPTIONS'] ?? 50_000);
const ATTEMPTS = Number(process.env['LOCKS_ATTEMPTS'] ?? 500_000);
const DAYS = 30;
const LONGEST_MS = 1_000;
const HOURS_MS = 4 * 3_600_000;

const SUBSCRIBE = `
with made as (
  insert into waybell.accounts (guid, interface) select gen_random_uuid(), 'carrier' from generate_series(1, $1::int / 100) returning guid
)
insert into waybell.subscriptions (guid, interface, account_guid, client_id, action, callback_url, verification_token_sealed,
  verification_token_key_id)
select gen_random_uuid(), 'carrier', guid, 'client ' || n, 'order.created', 'https://a.test/' || n, '\\x00', 'k'
from made, generate_series(1, 100) n`;

/** Not all at once: each client's are locked until the end of the transaction, and locks are bounded. */
async function subscribe({ postgres }: TestDatabase): Promise<void> {
  for (let made = 0; made < SUBSCRIPTIONS; made += 1_000) await postgres.query(SUBSCRIBE, [1_000]);
}

test(
  'no migration holds a lock for a second, whatever subscriptions there are',
  async () => {
    await using store = await createTestDatabase({ isMigrated: false });
    const { postgres } = store;
    await postgres.query(`create schema waybell; ${REPEATABLES}`);
    const source = describeSource({ url: store.url, role: '', poolSize: 1, timeoutMs: HOURS_MS, log });
    await source.initialize();
    let longest = 0;
    try {
      const all = [...source.migrations];
      for (let count = 1; count <= all.length; count += 1) {
        source.migrations.splice(0, Infinity, ...all.slice(0, count));
        const executor = new MigrationExecutor(source);
        executor.transaction = 'each';
        const locks = await locksOf(postgres, () => executor.executePendingMigrations());
        print(all[count - 1]?.name ?? '', locks);
        longest = Math.max(longest, longestOf(locks));
        if (count === 1) await subscribe(store);
      }
    } finally {
      await source.destroy();
    }
    expect(longest).toBeLessThan(LONGEST_MS);
  },
  HOURS_MS,
);

test(
  'what is made again holds no lock for a second, and a new index of the delivery log keeps no writer waiting',
  async () => {
    await using store = await createTestDatabase();
    const { postgres } = store;
    await subscribe(store);
    await attempt(store);
    await postgres.query('delete from waybell.repeatables');
    await postgres.query('drop index delivery_log.attempts_on_the_way');
    let slowest = 0;
    const locks = await locksOf(postgres, async () => {
      slowest = await beside(store, () => migrate({ url: store.url, log }));
    });
    print(`migrate; the slowest of what was read and written beside it took ${Math.round(slowest)} ms`, locks);
    expect(longestOf(locks)).toBeLessThan(LONGEST_MS);
    const { rows } = await postgres.query(
      `select count(*)::int as made from pg_inherits where inhparent = 'delivery_log.attempts_on_the_way'::regclass`,
    );
    expect(rows).toEqual([{ made: DAYS }]);
  },
  HOURS_MS,
);

/** Adds attempts, over as many days as the log keeps. */
async function attempt({ postgres }: TestDatabase): Promise<void> {
  for (let day = 0; day < DAYS; day += 1) {
    const date = (of: number) => new Date(Date.UTC(2026, 9, 1 + of)).toISOString().slice(0, 10);
    const partition = `delivery_log.attempts_${date(day).replaceAll('-', '')}`;
    // Indexes are made of what is there: to fill them row by row would take hours.
    await postgres.query(`create table ${partition} (like delivery_log.attempts)`);
    await postgres.query(`
      insert into ${partition} (at, delivery, attempt, kind, event, subscription, http_status, duration_ms)
      select '${date(day)} 00:00Z'::timestamptz + n % 86400 * interval '1 second', gen_random_uuid(), 1 + n % 4,
        (array['failed', 'failed', 'delivered', 'exhausted'])[1 + n % 4], gen_random_uuid(), gen_random_uuid(), 500, 12
      from generate_series(1, ${Math.ceil(ATTEMPTS / DAYS)}) n`);
    await postgres.query(`alter table delivery_log.attempts attach partition ${partition}
      for values from ('${date(day)} 00:00Z') to ('${date(day + 1)} 00:00Z')`);
  }
}

/** Reads and writes as services do, all the while; resolves with the milliseconds that the slowest of it took. */
async function beside({ postgres }: TestDatabase, work: () => Promise<unknown>): Promise<number> {
  let isOver = false;
  let slowest = 0;
  const go = async (statement: string) => {
    while (!isOver) {
      const beganAt = performance.now();
      await postgres.query(statement);
      slowest = Math.max(slowest, performance.now() - beganAt);
      await sleep(5);
    }
  };
  const going = [
    `insert into delivery_log.attempts (at, delivery, attempt, kind, event, subscription)
     values ('2026-10-05 12:00Z', gen_random_uuid(), 1, 'failed', gen_random_uuid(), gen_random_uuid())`,
    `select from delivery_log.attempts where at = '2026-10-07 12:00Z' and delivery = gen_random_uuid()`,
    `select from waybell.delivery_targets where subscription_guid = gen_random_uuid()`,
    `select waybell.note_ends('{}', '{}', '{}', '{}', '{}', '{}')`,
    `update waybell.subscriptions set last_success_at = now()
     where guid = (select guid from waybell.subscriptions limit 1)`,
  ].map(go);
  try {
    await work();
  } finally {
    isOver = true;
    await Promise.all(going);
  }
  return slowest;
}

/** How long a lock was held, or waited for, on a table that was there before; milliseconds, seen every ten. */
type SeenLock = { table: string; mode: string; heldMs: number };

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
async function locksOf(postgres: pg.Pool, work: () => Promise<unknown>): Promise<SeenLock[]> {
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

const longestOf = (locks: readonly SeenLock[]): number => locks[0]?.heldMs ?? 0;

function print(what: string, locks: readonly SeenLock[]): void {
  const told = locks.slice(0, 3).map(({ table, mode, heldMs }) => `${table} ${mode} ${heldMs} ms`);
  process.stdout.write(`${what}: ${told.join(', ') || 'no lock seen'}\n`);
}
