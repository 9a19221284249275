import { randomInt } from 'node:crypto';
import { hexOf, type WaitingConnection } from './waiting-connection.ts';
import type { HeldSum, RowKey, WaitingRow } from './waiting-store.ts';
import { writeRow } from '../delivery-batch.ts';

/** Everybody locks rows in the order of their keys: those who do it at once wait for each other, and never in a circle. */
export const BY_KEY = 'order by room, made_at, id collate "C"';

/**
 * Identifies the row of a key. Uses inequalities in part: with equality alone a plan could merge, and read every row, if the
 * statistics say that there is none.
 */
export const SAME_KEY = 'w.room = any (array[k.room]) and (w.made_at, w.id) = (k.made_at, k.id collate "C")';

/**
 * Locks each room's key until its rows are stored, so that no process deletes the room before they are visible; claims do not
 * wait for the lock. Returns, for each open room that no process has claimed, in how many milliseconds it is due.
 */
const put = `
  with held as materialized (
    select room, look_at, claimed_by is null and shut_since is null as is_free from waybell.deliverer_rooms
    where room = any ($1::uuid[]) order by room for key share
  ), put as (
    insert into waybell.deliverer_waiting as w (room, made_at, id, no, subscription, due_at, why, properties, body)
    select room, made_at, id, no, subscription, now() + make_interval(secs => after_ms / 1000), why, properties, body
    from unnest($1::uuid[], $2::bigint[], $3::text[], $4::int[], $5::float8[], $6::text[], $7::text[], $8::bytea[], $9::uuid[])
      as g (room, made_at, id, no, after_ms, why, properties, body, subscription)
    where room = any (array(select room from held)) ${BY_KEY}
    on conflict (room, made_at, id) do update set no = w.no + 1, due_at = excluded.due_at, why = excluded.why
    returning w.room, w.made_at, w.id, w.no
  )
  select ${hexOf('room')} as room, made_at::float8 as "madeAt", id, no, null as "lookedAtInMs" from put
  union all
  select ${hexOf('room')}, null, null, null, (1000 * extract(epoch from look_at - now()))::float8 from held where is_free`;

/** Committed before the rows come. */
const make = `
  insert into waybell.deliverer_rooms (room, account, look_at)
  select room, account, now() + make_interval(secs => after_ms / 1000)
  from unnest($1::uuid[], $2::uuid[], $3::float8[]) as g (room, account, after_ms) order by room
  on conflict do nothing`;

/** A room that is claimed meanwhile need not be woken: who claims it reads from its first row. */
const wake = `
  update waybell.deliverer_rooms r set look_at = now() + make_interval(secs => after_ms / 1000)
  from (select * from unnest($1::uuid[], $2::float8[]) as k (room, after_ms) order by room) k
  where r.room = any (array[k.room]) and claimed_by is null and shut_since is null
    and look_at > now() + make_interval(secs => after_ms / 1000)`;

type PutRow = RowKey & { no: number; lookedAtInMs: null };
type FreeRoom = { room: string; lookedAtInMs: number };

/** The largest first `no` of a row: so far below the column's maximum that raising it never overflows. */
const MOST_FIRST_NO = 2 ** 30;

type PreparedRow = WaitingRow & { no: number; properties: string };

const prepare = (row: WaitingRow): PreparedRow => ({
  ...row,
  no: randomInt(MOST_FIRST_NO),
  properties: writeRow(row.delivery),
});

export async function putIn(connection: WaitingConnection, given: readonly WaitingRow[]): Promise<number[]> {
  const { ask, sums } = connection;
  const rows = new Map(given.map((row) => [rowKeyText(row), prepare(row)]));
  const numbers = new Map<string, number>();
  const free = new Map<string, number>();
  for (let left = [...rows.values()]; left.length > 0;) {
    for (const done of await ask<PutRow | FreeRoom>('put', put, [...columnsOf(left), ...valuesOf(left)])) {
      if (done.lookedAtInMs !== null) {
        free.set(done.room, done.lookedAtInMs);
        continue;
      }
      const row = rows.get(rowKeyText(done));
      numbers.set(rowKeyText(done), done.no);
      if (row?.no === done.no) sums.add(sumOf(row));
    }
    left = left.filter((row) => !numbers.has(rowKeyText(row)));
    // A room that is deleted before the rows are in is made again.
    if (left.length > 0) await makeRooms(connection, left);
  }
  const toWake = [...rows.values()].filter(({ room, afterMs = 0 }) => afterMs < (free.get(room) ?? -Infinity));
  if (toWake.length > 0) await wakeRooms(connection, toWake);
  return given.map((row) => numbers.get(rowKeyText(row)) ?? 0);
}

type NewRoom = Pick<WaitingRow, 'room' | 'account' | 'afterMs'>;

export async function makeRooms({ ask }: WaitingConnection, rows: readonly NewRoom[]): Promise<void> {
  const rooms = soonest(rows);
  await ask('make', make, [
    rooms.map(({ room }) => room),
    rooms.map(({ account }) => account ?? null),
    rooms.map(({ afterMs }) => afterMs ?? 0),
  ]);
}

export async function wakeRooms({ ask }: WaitingConnection, rows: readonly NewRoom[]): Promise<void> {
  const rooms = soonest(rows);
  await ask('wake', wake, [rooms.map(({ room }) => room), rooms.map(({ afterMs }) => afterMs ?? 0)]);
}

/** The first due row of each room. */
function soonest(rows: readonly NewRoom[]): NewRoom[] {
  return [
    ...new Map(
      rows.toSorted((one, other) => (other.afterMs ?? 0) - (one.afterMs ?? 0)).map((row) => [row.room, row]),
    ).values(),
  ];
}

function sumOf({ room, account, delivery, properties }: PreparedRow): HeldSum {
  return { holder: account ?? room, rows: 1, bytes: delivery.body.length + Buffer.byteLength(properties) };
}

function valuesOf(rows: readonly PreparedRow[]): unknown[] {
  return [
    rows.map(({ no }) => no),
    rows.map(({ afterMs }) => afterMs ?? null),
    rows.map(({ why }) => why),
    rows.map(({ properties }) => properties),
    rows.map(({ delivery }) => delivery.body),
    rows.map(({ subscription }) => subscription ?? null),
  ];
}

/** The key as one string. */
export const rowKeyText = ({ room, madeAt, id }: RowKey): string => `${room} ${madeAt} ${id}`;

export function columnsOf(keys: readonly RowKey[]): unknown[] {
  return [keys.map(({ room }) => room), keys.map(({ madeAt }) => madeAt), keys.map(({ id }) => id)];
}
