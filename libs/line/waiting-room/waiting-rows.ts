import type { WaitingReason } from '../outcomes.ts';
import { readRow } from '../delivery-batch.ts';
import { BY_KEY, columnsOf, rowKeyText, putIn, SAME_KEY, wakeRooms, makeRooms } from './put-rows.ts';
import { hexOf, type WaitingConnection } from './waiting-connection.ts';
import {
  MOST_BYTES,
  type RowKey,
  type RowsWanted,
  type TakenKey,
  type TakenRow,
  type TakenRows,
  type WaitingStore,
} from './waiting-store.ts';

const retain = `
  update waybell.deliverer_waiting w set no = no + 1
  from (select * from unnest($1::uuid[], $2::bigint[], $3::text[]) as k (room, made_at, id) ${BY_KEY}) k
  where ${SAME_KEY} returning ${hexOf('w.room')} as room, w.made_at::float8 as "madeAt", w.id`;

const AS_TAKEN = `(select * from unnest($1::uuid[], $2::bigint[], $3::text[], $4::int[]) as k (room, made_at, id, no) ${BY_KEY}) k`;

/** Locks no room. Bodies are measured without being read. */
const settle = `
  with gone as (
    delete from waybell.deliverer_waiting w using ${AS_TAKEN} where ${SAME_KEY} and w.no = k.no
    returning w.room, coalesce(octet_length(w.body), 0) + octet_length(w.properties) as bytes
  )
  select coalesce(r.account, g.room) as holder, sum(g.rows)::float8 as rows, sum(g.bytes)::float8 as bytes
  from (select room, count(*) as rows, sum(bytes) as bytes from gone group by room) g
  left join waybell.deliverer_rooms r using (room) group by 1`;

const postpone = `
  update waybell.deliverer_waiting w set due_at = now() + make_interval(secs => $5::float8 / 1000)
  from ${AS_TAKEN} where ${SAME_KEY} and w.no = k.no
  returning ${hexOf('w.room')} as room, w.made_at::float8 as "madeAt", w.id`;

/**
 * Reads each room along the primary key, on after a row and no further than needed: rows deleted before it cost nothing. Bodies are
 * measured without being read; only those of taken rows are read.
 */
const take = `
  with wanted as materialized (
    select place, room, made_at, id collate "C" as id, most, made_before, subscriptions::uuid[] as subscriptions
    from unnest($1::int[], $2::uuid[], $3::bigint[], $4::text[], $5::int[], $6::bigint[], $7::text[])
      as g (place, room, made_at, id, most, made_before, subscriptions)
  ), found as materialized (
    select k.place, w.room, w.made_at, w.id, row_number() over oldest as rank, sum(w.size) over oldest as bytes,
      count(*) over (partition by k.place)::int as found
    from wanted k cross join lateral (
      select w.room, w.made_at, w.id, coalesce(octet_length(w.body), 0) as size from waybell.deliverer_waiting w
      where w.room = k.room and (w.made_at, w.id) > (k.made_at, k.id) and w.made_at < coalesce(k.made_before, 9223372036854775807)
        and (w.due_at is null or w.due_at <= now() or (k.made_before is not null and w.why <> 'open'))
        and (k.subscriptions is null or w.subscription = any (k.subscriptions))
      order by w.made_at, w.id limit k.most
    ) w
    window oldest as (partition by k.place order by w.made_at, w.id rows unbounded preceding)
  )
  select f.place, f.found, w.* from found f cross join lateral (
    select w.made_at::float8 as "madeAt", w.id, w.no, w.subscription, w.why, w.properties, w.body from waybell.deliverer_waiting w
    where (w.room, w.made_at, w.id) = (f.room, f.made_at, f.id) offset 0
  ) w
  where f.rank = 1 or f.bytes <= ${MOST_BYTES} order by f.place, f.rank`;

type ReadRow = Omit<TakenKey, 'room'> & {
  place: number;
  /** Number of rows found, whatever they weigh. */
  found: number;
  subscription: string | null;
  why: WaitingReason;
  properties: string;
  body: Buffer | null;
};

export function rowsIn(
  connection: WaitingConnection,
): Pick<WaitingStore, 'put' | 'retain' | 'take' | 'settle' | 'postpone'> {
  const { ask, sums } = connection;
  return {
    put: (rows) => putIn(connection, rows),
    async retain(keys) {
      if (keys.length === 0) return [];
      const found = await ask<RowKey>('retain', retain, columnsOf(keys));
      const there = new Set(found.map(rowKeyText));
      return keys.map((key) => there.has(rowKeyText(key)));
    },
    async take(wanted) {
      if (wanted.length === 0) return [];
      const taken: (TakenRows & { found: number })[] = wanted.map(({ room }) => ({ room, rows: [], found: 0 }));
      for (const row of await ask<ReadRow>('take', take, columnsOfWanted(wanted))) {
        const into = taken[row.place];
        if (into === undefined) continue;
        into.found = row.found;
        into.rows.push(takenOf(into.room, row));
      }
      return taken.map(({ room, rows, found }) => ({ room, rows, ...(rows.length < found ? { isCut: true } : {}) }));
    },
    async settle(keys) {
      if (keys.length === 0) return;
      const values = [...columnsOf(keys), keys.map(({ no }) => no)];
      const gone = await ask<{ holder: string; rows: number; bytes: number }>('settle', settle, values);
      for (const { holder, rows, bytes } of gone) sums.add({ holder, rows: -rows, bytes: -bytes });
    },
    async postpone(keys, afterMs) {
      if (keys.length === 0) return [];
      const numbers = keys.map(({ no }) => no);
      const found = await ask<RowKey>('postpone', postpone, [...columnsOf(keys), numbers, afterMs]);
      if (found.length > 0)
        await wakeRooms(
          connection,
          found.map(({ room }) => ({ room, afterMs })),
        );
      const there = new Set(found.map(rowKeyText));
      return keys.map((key) => there.has(rowKeyText(key)));
    },
  };
}

// Sorts before every row.
const START = { madeAt: -1, id: '' };

function columnsOfWanted(wanted: readonly RowsWanted[]): unknown[] {
  return [
    wanted.map((_, place) => place),
    wanted.map(({ room }) => room),
    wanted.map(({ after = START }) => after.madeAt),
    wanted.map(({ after = START }) => after.id),
    wanted.map(({ limit }) => limit),
    wanted.map(({ madeBefore }) => madeBefore ?? null),
    wanted.map(({ subscriptions }) => (subscriptions === undefined ? null : `{${subscriptions.join(',')}}`)),
  ];
}

function takenOf(room: string, { madeAt, id, no, subscription, why, properties, body: stored }: ReadRow): TakenRow {
  const body = stored ?? Buffer.alloc(0);
  return {
    room,
    madeAt,
    id,
    no,
    why,
    content: readRow(properties, body),
    ...(subscription === null ? {} : { subscription }),
    ...(stored === null ? { isForgotten: true } : {}),
  };
}

/** Rows that are moved at once, at most: each goes with its body. */
const MOST_MOVED = 500;

/** Rows that stay in their room are changed without their bodies. */
const MOST_CHANGED = 5_000;

/** No request under way, and none in hand. */
const MAY_MOVE = `(w.why <> 'open' or w.due_at <= now())
  and (w.made_at, w.id) <> all (select made_at, id collate "C" from unnest($4::bigint[], $5::text[]) as k (made_at, id))`;

/** When a row that is held is due: it waits until $7, or until it is older than $8, in milliseconds. */
const HELD_UNTIL = `least(to_timestamp($7::float8 / 1000), to_timestamp((w.made_at + $8::float8 + 1) / 1000))`;

const SUMMED = `(select coalesce(1000 * extract(epoch from min(coalesce(due_at, now())) - now()), 0) from moved)::float8 as "dueInMs"`;

/** Moves nothing if the other room is missing. $6: why it is held; null: it is no longer held. */
const move = `
  with held as materialized (
    select room from waybell.deliverer_rooms where room = $3 for key share
  ), few as materialized (
    select w.room, w.made_at, w.id from waybell.deliverer_waiting w
    where w.room = $1 and w.subscription = $2 and exists (select from held) and ${MAY_MOVE}
    order by w.made_at, w.id limit ${MOST_MOVED} for update
  ), gone as (
    delete from waybell.deliverer_waiting w using few k where ${SAME_KEY} returning w.*
  ), moved as (
    insert into waybell.deliverer_waiting as w (room, made_at, id, no, subscription, put_at, due_at, why, properties, body)
    select $3, made_at, id, no, subscription, put_at,
      case when $6::text is not null then ${HELD_UNTIL} when why not in ('paused', 'stopped') then due_at end,
      coalesce($6, case when why in ('paused', 'stopped') then 'full' else why end), properties, body
    from gone w order by made_at, id
    on conflict (room, made_at, id) do update set no = w.no + 1
    returning xmax <> 0 as is_double, coalesce(octet_length(body), 0) + octet_length(properties) as bytes, due_at
  )
  select exists (select from held) as "isThere", (select count(*) from moved)::int as moved,
    (select count(*) from moved where is_double)::int as doubles,
    (select coalesce(sum(bytes), 0) from moved where is_double)::float8 as bytes, ${SUMMED}`;

/** Changes rows in their room: they are held for another reason, or until another time. */
const hold = `
  with few as materialized (
    select w.room, w.made_at, w.id, ${HELD_UNTIL} as due_at from waybell.deliverer_waiting w
    where w.room = $1 and w.subscription = $2 and (w.why, w.due_at) is distinct from ($6::text, ${HELD_UNTIL})
      and ${MAY_MOVE}
    order by w.made_at, w.id limit ${MOST_CHANGED} for no key update
  ), moved as (
    update waybell.deliverer_waiting w set why = $6, due_at = k.due_at from few k where ${SAME_KEY} returning w.due_at
  )
  select $3::uuid is not null as "isThere", (select count(*) from moved)::int as moved, 0 as doubles, 0 as bytes, ${SUMMED}`;

type Moved = { isThere: boolean; moved: number; doubles: number; bytes: number; dueInMs: number };

/** More than two clocks differ by, and less than is noticed. */
const SPARE = `interval '1 second'`;

/** The room of a subscription that is held has its guid. */
const lookAfterHeld = `
  update waybell.deliverer_rooms set changes = changes + 1, look_at = now() where room = any (array(
    select r.room from waybell.deliverer_rooms r join waybell.delivery_targets t on t.subscription_guid = r.room
    where r.name is null and r.shut_since is null and r.look_at > now() and r.claimed_by is null and r.changes = 0
      and (t.held is null or r.look_at > t.held_until + ${SPARE})
    order by r.room for no key update of r skip locked))`;

export function movesIn(
  connection: WaitingConnection,
): Pick<WaitingStore, 'subscriptionsIn' | 'move' | 'lookAfterHeld'> {
  const { ask, atLength, sums } = connection;
  return {
    async subscriptionsIn(room) {
      const text = `select distinct subscription from waybell.deliverer_waiting where room = $1 and subscription is not null`;
      const found = await atLength((query) => query<{ subscription: string }>(text, [room]));
      return found.map(({ subscription }) => subscription);
    },
    async lookAfterHeld() {
      await ask('look-after-held', lookAfterHeld, []);
    },
    async move({ from, subscription, to, account, except, held }) {
      const [, times, ids] = columnsOf(except);
      const values = [
        from,
        subscription,
        to,
        times,
        ids,
        held?.why ?? null,
        held?.until ?? null,
        held?.maxAgeMs ?? null,
      ];
      const [name, text] = from === to ? ['hold', hold] : ['move', move];
      for (;;) {
        const [done] = await ask<Moved>(name, text, values);
        if (done?.isThere !== true) {
          await makeRooms(connection, [{ room: to, account }]);
          continue;
        }
        // The other room had them already.
        sums.add({ holder: account, rows: -done.doubles, bytes: -done.bytes });
        if (done.moved > 0) await wakeRooms(connection, [{ room: to, afterMs: done.dueInMs }]);
        return done.moved;
      }
    },
  };
}
