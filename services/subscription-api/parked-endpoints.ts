import type { Queryable } from '@waybell/runtime/postgres';

/** An endpoint with parked deliveries. */
export type ParkedEndpoint = {
  account: string;
  /** Without the query, which may hold secrets. */
  url: string;
  subscriptions: string[];
  deliveries: number;
  bytes: number;
  /** Creation time of its oldest delivery, in milliseconds since the epoch. */
  oldestAt: number;
  isHung: boolean;
  /** Whether a living deliverer owns it. */
  isOwned: boolean;
};

/** Finds endpoints with parked deliveries, the oldest first. Counts the rows of those that it returns. */
export async function parkedEndpoints(
  postgres: Queryable,
  { account, limit }: { account?: string | undefined; limit: number },
): Promise<ParkedEndpoint[]> {
  const { rows } = await postgres.query<ParkedEndpoint>(
    `with head as (
       select h.account, h.shard, h.subscription, h.is_hung, split_part(s.callback_url, '?', 1) as url, oldest.created_at
       from waybell.parked_heads h join waybell.subscriptions s on s.guid = h.subscription
       cross join lateral (
         select created_at from waybell.parked p where p.subscription = h.subscription order by created_at limit 1
       ) oldest
       where $1::uuid is null or h.account = $1
     ), endpoint as (
       select account, shard, url, array_agg(subscription::text order by subscription) as subscriptions,
         min(created_at) as oldest_at, bool_or(is_hung) as is_hung
       from head group by account, shard, url order by oldest_at, account, url limit $2
     )
     select e.account, e.url, e.subscriptions, c.deliveries, c.bytes, e.oldest_at::float8 as "oldestAt", e.is_hung as "isHung",
       coalesce(o.leased_until > now(), false) as "isOwned"
     from endpoint e left join waybell.parked_shards o using (shard)
     cross join lateral (
       select count(*)::int as deliveries, coalesce(sum(octet_length(body)), 0)::float8 as bytes
       from waybell.parked p where p.subscription = any (e.subscriptions::uuid[])
     ) c
     order by e.oldest_at, e.account, e.url`,
    [account ?? null, limit],
  );
  return rows;
}

/** All parked deliveries, as the deliverers count them: up to a second old. */
export type ParkedInAll = { deliveries: number; bytes: number; endpoints: number; oldestAt?: number };

/** Reads one row of each endpoint, and counts none. */
export async function parkedInAll(postgres: Queryable): Promise<ParkedInAll> {
  const { rows } = await postgres.query<Required<ParkedInAll> & { oldestAt: number | null }>(
    `select s.deliveries, s.bytes, h.endpoints, h."oldestAt"
     from (select coalesce(sum(rows), 0)::float8 as deliveries, coalesce(sum(bytes), 0)::float8 as bytes from waybell.parked_sums) s
     cross join (
       select count(distinct (head.account, split_part(s.callback_url, '?', 1)))::int as endpoints,
         min(oldest.created_at)::float8 as "oldestAt"
       from waybell.parked_heads head join waybell.subscriptions s on s.guid = head.subscription
       cross join lateral (
         select created_at from waybell.parked p where p.subscription = head.subscription order by created_at limit 1
       ) oldest
     ) h`,
  );
  const { deliveries, bytes, endpoints, oldestAt } = rows[0] ?? {
    deliveries: 0,
    bytes: 0,
    endpoints: 0,
    oldestAt: null,
  };
  return { deliveries, bytes, endpoints, ...(oldestAt === null ? {} : { oldestAt }) };
}
