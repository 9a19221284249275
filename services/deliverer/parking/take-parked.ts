import type { ParkedRow } from '@waybell/line/messages';
import type { ParkReason } from '@waybell/line/outcomes';
import type { QueryRows } from './query-rows.ts';
import { MOST_BYTES, type ParkingStore, type RowKey, type RowsWanted } from './parking-store.ts';

/**
 * Reads each subscription along the primary key, on after a row and no further than needed: rows deleted before it cost
 * nothing. Bodies are measured without being read; only those of taken rows are read.
 */
const TAKE = {
  name: 'take-parked',
  text: `
    with candidate as materialized (
      select w.place, w.most, w.subscription, p.* from unnest($1::int[], $2::uuid[], $3::bigint[], $4::text[], $5::int[],
        $6::int[], $7::bigint[], $8::bigint[]) as w (place, subscription, created_at, delivery, attempt, hop, most, made_before)
      cross join lateral (
        select p.created_at, p.delivery, p.attempt, p.hop, coalesce(octet_length(p.body), 0) as size from waybell.parked p
        where p.subscription = w.subscription
          and (p.created_at, p.delivery, p.attempt, p.hop) > (w.created_at, w.delivery collate "C", w.attempt, w.hop)
          and p.created_at < coalesce(w.made_before, 9223372036854775807)
          and (w.made_before is not null or p.not_before is null or p.not_before <= now())
        order by p.created_at, p.delivery, p.attempt, p.hop limit w.most
      ) p
    ), counted as (
      select *, row_number() over oldest as rank, sum(size) over oldest as bytes,
        least(most, count(*) over (partition by place)) as found
      from candidate
      window oldest as (partition by place order by created_at, delivery, attempt, hop, subscription rows unbounded preceding)
    )
    select c.place, c.rank, c.found::int, p.* from counted c cross join lateral (
      select subscription, created_at::float8 as "createdAt", delivery, attempt, hop, why, action, note, traceparent, body
      from waybell.parked p
      where (p.subscription, p.created_at, p.delivery, p.attempt, p.hop)
        = (c.subscription, c.created_at, c.delivery, c.attempt, c.hop) offset 0
    ) p
    where c.rank <= c.most and (c.rank = 1 or c.bytes <= ${MOST_BYTES})
    order by c.place, c.rank`,
};

const OLDEST = {
  name: 'oldest-parked',
  text: `
    select w.subscription, first.created_at::float8 as "createdAt", case
      when first.is_due or exists (select from waybell.parked p
        where p.subscription = w.subscription and (p.not_before is null or p.not_before <= now())) then 0
      else greatest(0, ceil(1000 * extract(epoch from (
        select min(p.not_before) from waybell.parked p where p.subscription = w.subscription) - now())))::float8
      end as "mayBeTakenInMs"
    from unnest($1::uuid[]) as w (subscription) cross join lateral (
      select p.created_at, (p.not_before is null or p.not_before <= now()) as is_due
      from waybell.parked p where p.subscription = w.subscription
      order by p.created_at, p.delivery, p.attempt, p.hop limit 1
    ) first`,
};

type TakenRow = {
  place: number;
  /** Number of rows found, whatever they weigh. */
  found: number;
  subscription: string;
  createdAt: number;
  delivery: string;
  attempt: number;
  hop: number;
  why: ParkReason;
  action: string;
  note: string;
  traceparent: string | null;
  body: Buffer | null;
};

type OldestRow = { subscription: string; createdAt: number; mayBeTakenInMs: number };

export function takeIn(queryRows: QueryRows): Pick<ParkingStore, 'take' | 'oldest'> {
  return {
    async take(wanted) {
      const taken = wanted.map(({ endpoint }) => ({ endpoint, rows: new Array<ParkedRow>() }));
      const columns = columnsOf(wanted);
      if (columns[0]?.length === 0) return taken;
      const found = new Map<number, number>();
      for (const row of await queryRows<TakenRow>(TAKE, columns)) {
        taken[row.place]?.rows.push(readRow(row));
        found.set(row.place, row.found);
      }
      return taken.map((each, place) => (each.rows.length < (found.get(place) ?? 0) ? { ...each, isCut: true } : each));
    },
    async oldest(subscriptions) {
      if (subscriptions.length === 0) return new Map();
      const found = await queryRows<OldestRow>(OLDEST, [subscriptions]);
      return new Map(found.map(({ subscription, ...oldest }) => [subscription, oldest]));
    },
  };
}

// Sorts before every row.
const START: Omit<RowKey, 'subscription'> = { createdAt: -1, delivery: '', attempt: 0, hop: 0 };

function columnsOf(wanted: readonly RowsWanted[]): unknown[][] {
  const readers = wanted.flatMap(({ after, limit, madeBefore = null }, place) =>
    [...after].map(([subscription, from = START]) => ({ place, subscription, from, limit, madeBefore })),
  );
  return [
    readers.map(({ place }) => place),
    readers.map(({ subscription }) => subscription),
    readers.map(({ from }) => from.createdAt),
    readers.map(({ from }) => from.delivery),
    readers.map(({ from }) => from.attempt),
    readers.map(({ from }) => from.hop),
    readers.map(({ limit }) => limit),
    readers.map(({ madeBefore }) => madeBefore),
  ];
}

function readRow({ subscription, createdAt, delivery, attempt, hop, why, action, note, ...row }: TakenRow): ParkedRow {
  const { traceparent, body } = row;
  return {
    subscription,
    createdAt,
    delivery,
    attempt,
    hop,
    why,
    action,
    note,
    body: body ?? Buffer.alloc(0),
    ...(body === null ? { isForgotten: true } : {}),
    ...(traceparent === null ? {} : { traceparent }),
  };
}
