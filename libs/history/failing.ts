import type { Queryable } from '@waybell/runtime/postgres';

/** An address that fails, of one account. */
export type FailingOrigin = {
  account: string;
  origin: string;
  /** Attempts that failed, and of how many. */
  failed: number;
  attempts: number;
  /** The most frequent one. */
  reason: string;
};

/** A delivery without an end. */
export type Undelivered = { delivery: string; account: string; action: string; at: number; attempts: number };

type Asked = { sinceMs: number; account?: string | undefined; limit: number };

/** Where attempts fail most, since a time. */
export async function failingOrigins(
  postgres: Queryable,
  { sinceMs, account, limit }: Asked,
): Promise<FailingOrigin[]> {
  const { rows } = await postgres.query<FailingOrigin>(
    `select d.account, o.origin, count(*) filter (where a.kind <> 'delivered')::int as failed, count(*)::int as attempts,
       mode() within group (order by a.reason) as reason
     from delivery_log.attempts a
     cross join lateral (select coalesce(substring(a.url from '^[^:]+://[^/?]+'), 'unknown') as origin) o
     join delivery_log.deliveries d on d.delivery = a.delivery and d.at > to_timestamp($1::float8 / 1000) - interval '2 days'
     where a.at >= to_timestamp($1::float8 / 1000) and a.kind <> 'dropped' and ($2::uuid is null or d.account = $2)
     group by d.account, o.origin having bool_or(a.kind <> 'delivered')
     order by failed desc, d.account, o.origin limit $3`,
    [sinceMs, account ?? null, limit],
  );
  return rows;
}

/** The oldest deliveries that have not come to an end, of those made since a time. */
export async function oldestUndelivered(
  postgres: Queryable,
  { sinceMs, account, limit }: Asked,
): Promise<Undelivered[]> {
  const { rows } = await postgres.query<Undelivered>(
    `select d.delivery, d.account, d.action, round(extract(epoch from d.at) * 1000)::float8 as at,
       (select count(*)::int from delivery_log.attempts a where a.delivery = d.delivery and a.at >= d.at - interval '1 minute') as attempts
     from delivery_log.deliveries d
     where d.at >= to_timestamp($1::float8 / 1000) and ($2::uuid is null or d.account = $2)
       and not exists (
         select from delivery_log.attempts a
         where a.delivery = d.delivery and a.at >= d.at - interval '1 minute' and a.kind <> 'failed')
       and not exists (
         select from delivery_log.events e where e.event = d.event and e.rejected_delivery = d.delivery)
     order by d.at limit $3`,
    [sinceMs, account ?? null, limit],
  );
  return rows;
}
