import { expect, test } from '@jest/globals';
import { until } from '@waybell/runtime/testing/until';
import { aDelivered, DAY_MS, LogStand, START } from '../testing/log-stand.ts';

const partitionsOf = async (stand: LogStand, table: string) => {
  const rows = await stand.rows<{ name: string }>(
    'select inhrelid::regclass::text as name from pg_inherits where inhparent = $1::regclass order by 1',
    [`delivery_log.${table}`],
  );
  return rows.map(({ name }) => name.replace(/^delivery_log\./, ''));
};

test('days come ahead of their time and go when they are over, bodies sooner than attempts', async () => {
  await using stand = await LogStand.start();
  await stand.write([aDelivered({ body: '{}' })]);
  await stand.partitions.turnOver();
  expect(await partitionsOf(stand, 'chunks')).toEqual(['chunks_20261120', 'chunks_20261121', 'chunks_20261122']);
  stand.now = START + 9 * DAY_MS;
  expect(await stand.partitions.turnOver()).toEqual([
    'chunks_20261120',
    'chunks_20261121',
    'commits_20261120',
    'commits_20261121',
  ]);
  stand.now = START + 31 * DAY_MS;
  await stand.partitions.turnOver();
  expect(await partitionsOf(stand, 'attempts')).not.toContain('attempts_20261120');
  expect(await stand.rows("select from pg_tables where tablename ~ '20261120'")).toEqual([]);
});

test('two replicas turn over at once', async () => {
  await using stand = await LogStand.start();
  await Promise.all([stand.partitions.turnOver(), stand.partitions.turnOver(), stand.write([aDelivered()])]);
  expect(await partitionsOf(stand, 'attempts')).toHaveLength(3);
});

test('a day that is dropped while a client reads keeps no other from reading and writing', async () => {
  await using stand = await LogStand.start();
  const old = aDelivered();
  await stand.write([old]);
  const reader = await stand.store.postgres.connect();
  await reader.query('begin');
  const ofOld = 'select from delivery_log.attempts where delivery = $1';
  await reader.query(ofOld, [old.delivery]);

  stand.now = START + 31 * DAY_MS;
  let isOver = false;
  const turning = stand.partitions.turnOver().finally(() => (isOver = true));
  await until('it waits for the reader', async () => {
    const waiting = await stand.rows(
      `select from pg_stat_activity where datname = current_database() and query ~ 'detach' and wait_event_type = 'Lock'`,
    );
    return waiting.length > 0;
  });
  const fresh = aDelivered({ at: stand.now });
  expect(await stand.write([fresh])).toEqual([]);
  expect(await stand.rows(ofOld, [fresh.delivery])).toHaveLength(1);
  expect(isOver).toBe(false);
  await reader.query('commit');
  reader.release();
  await turning;
  expect(await stand.rows("select from pg_tables where tablename ~ '20261120'")).toEqual([]);
});

test('a detachment that was interrupted is brought to its end before others begin', async () => {
  await using stand = await LogStand.start();
  const records = [aDelivered(), aDelivered({ at: START + DAY_MS })];
  await stand.write(records);
  const reader = await stand.store.postgres.connect();
  await reader.query('begin; select from delivery_log.attempts');
  await using interrupted = await connectionOf(stand);
  await interrupted.client.query('set statement_timeout = 100');
  const detach = 'alter table delivery_log.attempts detach partition delivery_log.attempts_20261121 concurrently';
  await expect(interrupted.client.query(detach)).rejects.toThrow('statement timeout');
  await reader.query('commit');
  reader.release();

  stand.now = START + 33 * DAY_MS;
  await stand.partitions.turnOver();
  expect(await stand.rows("select from pg_tables where tablename ~ '2026112[01]'")).toEqual([]);
});

test('a table that was detached and is to be kept after all takes records again', async () => {
  await using stand = await LogStand.start();
  const record = aDelivered();
  await stand.write([record]);
  await stand.rows('alter table delivery_log.attempts detach partition delivery_log.attempts_20261120');
  stand.partitions.forgetKnown();
  expect(await stand.write([aDelivered()])).toEqual([]);
  expect(await stand.rows('select from delivery_log.attempts')).toHaveLength(2);
});

/** One that is not given to others afterwards. */
async function connectionOf({ store }: LogStand) {
  const client = await store.postgres.connect();
  return { client, [Symbol.asyncDispose]: async () => client.release(true) };
}
