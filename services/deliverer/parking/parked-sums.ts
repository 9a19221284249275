import { inTransaction, whenAvailable, type Postgres } from '@waybell/runtime/postgres';
import type { QueryRows } from './query-rows.ts';
import type { NewestRows, ParkingStore, ParkedSum } from './parking-store.ts';

const ADD = {
  name: 'add-to-parked-sums',
  text: `
    insert into waybell.parked_sums as s (account, rows, bytes)
    select account, sum(rows), sum(bytes) from unnest($1::uuid[], $2::bigint[], $3::bigint[]) as c (account, rows, bytes)
    group by account order by account
    on conflict (account) do update set rows = s.rows + excluded.rows, bytes = s.bytes + excluded.bytes`,
};

const SUMS = {
  name: 'parked-sums',
  text: `
    with kept as (
      select account, rows::float8, bytes::float8, waybell.shard_of(account) = any ($1::int[]) as is_own
      from waybell.parked_sums where rows > 0
    )
    select 'all' as what, null::uuid as account, coalesce(sum(rows), 0) as rows, coalesce(sum(bytes), 0) as bytes from kept
    union all select 'own', account, rows, bytes from kept where is_own
    union all (select 'largest', account, rows, bytes from kept order by bytes desc, rows desc, account limit 1)`,
};

/** Measures bodies before the sort, which would carry them along. */
const NEWEST_WITHIN = `
  with kept as materialized (
    select created_at, coalesce(octet_length(body), 0) as size from waybell.parked where subscription = any ($1::uuid[])
  )
  select coalesce(min(created_at) filter (where is_within)::float8, 'Infinity') as since,
    count(*) filter (where not is_within)::int as others from (
    select created_at, row_number() over newest <= $2 and sum(size) over newest <= $3 as is_within from kept
    window newest as (order by created_at desc rows unbounded preceding)
  ) counted`;

/** Skips from subscription to subscription, without reading their rows. */
const ADOPT = `
  with recursive parked (subscription) as (
    (select subscription from waybell.parked order by subscription limit 1)
    union all
    select (select p.subscription from waybell.parked p where p.subscription > parked.subscription
            order by p.subscription limit 1)
    from parked where subscription is not null
  ), headless as materialized (
    select subscription from parked
    where subscription is not null and not exists (select from waybell.parked_heads h where h.subscription = parked.subscription)
  )
  insert into waybell.parked_heads (subscription, account, shard)
  select subscription, account_guid, waybell.shard_of(account_guid)
  from headless join waybell.delivery_targets on subscription_guid = subscription
  where waybell.shard_of(account_guid) = any ($1::int[]) order by subscription
  on conflict do nothing`;

const COUNT = `
  insert into waybell.parked_sums (account, rows, bytes)
  select h.account, count(*), coalesce(sum(octet_length(p.body)), 0)
  from waybell.parked_heads h join waybell.parked p on p.subscription = h.subscription
  where h.shard = any ($1::int[]) group by h.account order by h.account
  on conflict (account) do update set rows = excluded.rows, bytes = excluded.bytes`;

const DROP = `
  delete from waybell.parked_sums where waybell.shard_of(account) = any ($1::int[]) and account not in (
    select h.account from waybell.parked_heads h
    where h.shard = any ($1::int[]) and exists (select from waybell.parked p where p.subscription = h.subscription))`;

/** Limit for statements that read millions of rows: after a shard was taken over, and to enforce limits. */
const LONG_STATEMENT_MS = 120_000;

export function sumsIn(
  postgres: Postgres,
  queryRows: QueryRows,
): Pick<ParkingStore, 'addToSums' | 'sums' | 'recount' | 'newestWithin'> {
  return {
    async addToSums(changes) {
      if (changes.length === 0) return;
      const [accounts, rows] = [changes.map(({ account }) => account), changes.map((change) => change.rows)];
      await queryRows(ADD, [accounts, rows, changes.map(({ bytes }) => bytes)]);
    },
    async sums(shards) {
      const found = await queryRows<ParkedSum & { what: 'all' | 'own' | 'largest' }>(SUMS, [shards]);
      const of = (wanted: string): ParkedSum[] => found.flatMap(({ what, ...sum }) => (what === wanted ? [sum] : []));
      const [{ rows, bytes } = { rows: 0, bytes: 0 }] = of('all');
      const [largest] = of('largest');
      return { all: { rows, bytes }, own: of('own'), ...(largest === undefined ? {} : { largest }) };
    },
    async newestWithin(subscriptions, { rows, bytes }) {
      const [found] = await atLength(postgres, (query) =>
        query<NewestRows>(NEWEST_WITHIN, [subscriptions, rows, bytes]),
      );
      if (found === undefined) throw new Error('an aggregate without its row');
      return found;
    },
    recount: (shards) =>
      atLength(postgres, async (query) => {
        for (const text of [ADOPT, COUNT, DROP]) await query(text, [shards]);
      }),
  };
}

type QueryAtLength = <Row extends object>(text: string, values: unknown[]) => Promise<Row[]>;

/** Runs statements that may take long, in one transaction. */
function atLength<T>(postgres: Postgres, work: (query: QueryAtLength) => Promise<T>): Promise<T> {
  return whenAvailable(postgres, () =>
    inTransaction(postgres, async (client) => {
      await client.query(`set local statement_timeout = ${LONG_STATEMENT_MS}`);
      return work(async <Row extends object>(text: string, values: unknown[]) => {
        const query = { text, values, query_timeout: LONG_STATEMENT_MS };
        return (await client.query<Row>(query)).rows;
      });
    }),
  );
}
