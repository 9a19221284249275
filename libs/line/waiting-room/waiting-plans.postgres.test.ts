/** How much Postgres looks at while its statistics are those of an empty table, as they are when much comes at once. */
import { randomUUID } from 'node:crypto';
import { beforeAll, expect, test } from '@jest/globals';
import { waitingIn } from './postgres-waiting-store.ts';
import type { RowKey, TakenKey, WaitingStore } from './waiting-store.ts';
import { ALL, aPlace, aRow, PostgresStand, takeFrom, type Place } from './testing/waiting-stand.ts';
import { watchPlans } from '@waybell/runtime/testing/watch-plans';
import { shared } from '@waybell/runtime/testing/shared';

const ROOMS = 2_000;
const ROWS_OF_ONE = 20_000;
const SOME = 50;

const stand = shared(() => PostgresStand.start(2));
/** A room of many rows; rooms of two. */
let large: Place;
let small: string[];
beforeAll(async () => {
  large = aPlace();
  const fill = () =>
    stand.sql(
      `with room as (
         insert into waybell.deliverer_rooms (room, account, look_at)
         select gen_random_uuid(), gen_random_uuid(), now() - interval '1 s' from generate_series(1, ${ROOMS}) returning room
       ), one as (insert into waybell.deliverer_rooms (room, account) values ('${large.room}', '${large.account}') returning room)
       insert into waybell.deliverer_waiting (room, made_at, id, why, properties, body)
       select room, n, 'a 1', 'full', '{}', 'x'::bytea from room, generate_series(1, 2) n
       union all select room, n, 'a 1', 'full', '{}', 'x'::bytea from one, generate_series(1, ${ROWS_OF_ONE}) n`,
    );
  // Emptied and analyzed, the tables keep their pages: for the planner they have many, and no row in them.
  await fill();
  await stand.sql('delete from waybell.deliverer_rooms; delete from waybell.deliverer_waiting');
  for (const table of ['rooms', 'waiting', 'waiting_sums'])
    await stand.sql(`vacuum analyze waybell.deliverer_${table}`);
  await fill();
  const rooms = await stand.sql<{ room: string }>(
    `select encode(uuid_send(room), 'hex') as room from waybell.deliverer_rooms where room <> $1 limit ${SOME}`,
    [large.room],
  );
  small = rooms.map(({ room }) => room);
}, 60_000);

const process = randomUUID();
const keys = (): RowKey[] => small.map((room) => ({ room, madeAt: 1, id: 'a 1' }));
const taken = (): TakenKey[] => keys().map((key) => ({ ...key, no: 0 }));

test.each<[string, (store: WaitingStore) => Promise<unknown>, number]>([
  ['put', (store) => store.put(small.map((room) => aRow(aPlace({ room }), 'new'))), 5 * SOME],
  ['put again', (store) => store.put(keys().map((key) => ({ ...aRow(aPlace(), 'a'), ...key }))), 5 * SOME],
  ['retain', (store) => store.retain(keys()), 4 * SOME],
  ['claim', (store) => store.claim({ ...ALL, open: SOME, shut: SOME }), 6 * SOME],
  ['claim by name', (store) => store.claim({ kind: 'named', rooms: small }), 6 * SOME],
  ['renew', (store) => store.renew(small.map((room) => ({ room, lives: true }))), 4 * SOME],
  ['take', (store) => takeFrom(store, large.room), 6 * 64],
  [
    'take further on',
    (store) => store.take([{ room: large.room, limit: 64, after: { room: large.room, madeAt: 10_000, id: 'a 1' } }]),
    6 * 64,
  ],
  ['take of many', (store) => store.take(small.map((room) => ({ room, limit: 64 }))), 12 * SOME],
  ['postpone', (store) => store.postpone(taken(), 1), 4 * SOME],
  ['settle', (store) => store.settle(taken()), 6 * SOME],
  ['look for shut ones', (store) => store.shutRooms(), 10],
  ['note what was looked through', (store) => store.noteScanned(large.room, { changes: 0 }), 2],
])('%s looks at no more than it must', async (_, work, most) => {
  const plans = watchPlans(stand.postgres);
  const watched = { query: plans.query, connect: stand.postgres.connect.bind(stand.postgres) };
  await work(waitingIn(watched, { process }));
  expect(plans.rowsLookedAt()).toBeGreaterThan(_.startsWith('look for') ? -1 : 0);
  expect(plans.rowsLookedAt()).toBeLessThanOrEqual(most);
});

test('release looks at no more than it must', async () => {
  // No plan shows the inside of a function, but its transaction counts it.
  const looked = `select coalesce(sum(idx_tup_fetch + seq_tup_read), 0)::int as rows from pg_stat_xact_user_tables`;
  const releasing = await stand.inOpenTransaction(async (mine, client) => {
    await mine.claim({ kind: 'named', rooms: small });
    const before = (await client.query<{ rows: number }>(looked)).rows[0]?.rows ?? 0;
    await mine.release(small.map((room) => ({ room })));
    const after = (await client.query<{ rows: number }>(looked)).rows[0]?.rows ?? 0;
    expect(after - before).toBeGreaterThan(SOME);
    expect(after - before).toBeLessThanOrEqual(12 * SOME);
  });
  await releasing.commit();
});
