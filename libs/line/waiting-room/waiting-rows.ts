import type { WaitingReason } from '../outcomes.ts';
import { readProperties } from './publication-properties.ts';
import { BY_KEY, columnsOf, rowKeyText, putIn, SAME_KEY, wakeRooms } from './put-rows.ts';
import { hexOf, type WaitingConnection, type WaitingService } from './waiting-connection.ts';
import {
  MOST_BYTES,
  type RowKey,
  type RowsWanted,
  type TakenKey,
  type TakenRow,
  type TakenRows,
  type WaitingStore,
} from './waiting-store.ts';

const retain = (service: WaitingService): string => `
  update waybell.${service}_waiting w set no = no + 1
  from (select * from unnest($1::uuid[], $2::bigint[], $3::text[]) as k (room, made_at, id) ${BY_KEY}) k
  where ${SAME_KEY} returning ${hexOf('w.room')} as room, w.made_at::float8 as "madeAt", w.id`;

const AS_TAKEN = `(select * from unnest($1::uuid[], $2::bigint[], $3::text[], $4::int[]) as k (room, made_at, id, no) ${BY_KEY}) k`;

/** Locks no room. Bodies are measured without being read. */
const settle = (service: WaitingService): string => `
  with gone as (
    delete from waybell.${service}_waiting w using ${AS_TAKEN} where ${SAME_KEY} and w.no = k.no
    returning w.room, coalesce(octet_length(w.body), 0) + octet_length(w.properties) as bytes
  )
  select coalesce(r.account, g.room) as holder, r.name, sum(g.rows)::float8 as rows, sum(g.bytes)::float8 as bytes
  from (select room, count(*) as rows, sum(bytes) as bytes from gone group by room) g
  left join waybell.${service}_rooms r using (room) group by 1, 2`;

const postpone = (service: WaitingService): string => `
  update waybell.${service}_waiting w set due_at = now() + make_interval(secs => $5::float8 / 1000)
  from ${AS_TAKEN} where ${SAME_KEY} and w.no = k.no
  returning ${hexOf('w.room')} as room, w.made_at::float8 as "madeAt", w.id`;

/**
 * Reads each room along the primary key, on after a row and no further than needed: rows deleted before it cost nothing. Bodies are
 * measured without being read; only those of taken rows are read.
 */
const take = (service: WaitingService): string => `
  with wanted as materialized (
    select place, room, made_at, id collate "C" as id, most, made_before, subscriptions::uuid[] as subscriptions
    from unnest($1::int[], $2::uuid[], $3::bigint[], $4::text[], $5::int[], $6::bigint[], $7::text[])
      as g (place, room, made_at, id, most, made_before, subscriptions)
  ), found as materialized (
    select k.place, w.room, w.made_at, w.id, row_number() over oldest as rank, sum(w.size) over oldest as bytes,
      count(*) over (partition by k.place)::int as found
    from wanted k cross join lateral (
      select w.room, w.made_at, w.id, coalesce(octet_length(w.body), 0) as size from waybell.${service}_waiting w
      where w.room = k.room and (w.made_at, w.id) > (k.made_at, k.id) and w.made_at < coalesce(k.made_before, 9223372036854775807)
        and (w.due_at is null or w.due_at <= now() or (k.made_before is not null and w.why <> 'open'))
        and (k.subscriptions is null or w.subscription = any (k.subscriptions))
      order by w.made_at, w.id limit k.most
    ) w
    window oldest as (partition by k.place order by w.made_at, w.id rows unbounded preceding)
  )
  select f.place, f.found, w.* from found f cross join lateral (
    select w.made_at::float8 as "madeAt", w.id, w.no, w.subscription, w.why, w.properties, w.body from waybell.${service}_waiting w
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
  const { service, ask, sums } = connection;
  return {
    put: (rows) => putIn(connection, rows),
    async retain(keys) {
      if (keys.length === 0) return [];
      const found = await ask<RowKey>('retain', retain(service), columnsOf(keys));
      const there = new Set(found.map(rowKeyText));
      return keys.map((key) => there.has(rowKeyText(key)));
    },
    async take(wanted) {
      if (wanted.length === 0) return [];
      const taken: (TakenRows & { found: number })[] = wanted.map(({ room }) => ({ room, rows: [], found: 0 }));
      for (const row of await ask<ReadRow>('take', take(service), columnsOfWanted(wanted))) {
        const into = taken[row.place];
        if (into === undefined) continue;
        into.found = row.found;
        into.rows.push(readRow(into.room, row));
      }
      return taken.map(({ room, rows, found }) => ({ room, rows, ...(rows.length < found ? { isCut: true } : {}) }));
    },
    async settle(keys) {
      if (keys.length === 0) return;
      const gone = await ask<{ holder: string; name: string | null; rows: number; bytes: number }>(
        'settle',
        settle(service),
        [...columnsOf(keys), keys.map(({ no }) => no)],
      );
      for (const { holder, name, rows, bytes } of gone) {
        sums.add({ holder, rows: -rows, bytes: -bytes, ...(name === null ? {} : { name }) });
      }
    },
    async postpone(keys, afterMs) {
      if (keys.length === 0) return [];
      const numbers = keys.map(({ no }) => no);
      const found = await ask<RowKey>('postpone', postpone(service), [...columnsOf(keys), numbers, afterMs]);
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

function readRow(room: string, { madeAt, id, no, subscription, why, properties, body }: ReadRow): TakenRow {
  return {
    room,
    madeAt,
    id,
    no,
    why,
    publication: { ...readProperties(properties), body: body ?? Buffer.alloc(0) },
    ...(subscription === null ? {} : { subscription }),
    ...(body === null ? { isForgotten: true } : {}),
  };
}
