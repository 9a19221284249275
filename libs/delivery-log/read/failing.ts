import type { Queryable } from '@waybell/runtime/postgres';

/** An origin of one account at which attempts fail. */
export type FailingOrigin = {
  account: string;
  origin: string;
  /** Number of failed attempts, and of all. */
  failed: number;
  attempts: number;
  /** The most frequent reason. */
  reason: string;
};

export type Undelivered = { delivery: string; account: string; action: string; at: number; attempts: number };

type FailingQuery = { sinceMs: number; account?: string | undefined; limit: number };

/** Finds origins at which the most attempts failed since a time, without tests by hand. */
export async function failingOrigins(
  postgres: Queryable,
  { sinceMs, account, limit }: FailingQuery,
): Promise<FailingOrigin[]> {
  const { rows } = await postgres.query<FailingOrigin>(
    `with attempt as (
       select d.account, a.url, a.kind, a.reason from delivery_log.attempts a
       join delivery_log.deliveries d on d.delivery = a.delivery and d.at > to_timestamp($1::float8 / 1000) - interval '2 days'
       where a.at >= to_timestamp($1::float8 / 1000) and a.kind <> 'dropped' and a.by_hand is distinct from 'test'
         and d.attempted_at is distinct from a.at
       union all
       select account, url, 'delivered', null from delivery_log.deliveries
       where at >= to_timestamp($1::float8 / 1000) - interval '1 minute' and attempted_at >= to_timestamp($1::float8 / 1000)
     )
     select account, o.origin, count(*) filter (where kind <> 'delivered')::int as failed, count(*)::int as attempts,
       mode() within group (order by reason) as reason
     from attempt
     cross join lateral (select coalesce(substring(url from '^[^:]+://[^/?]+'), 'unknown') as origin) o
     where $2::uuid is null or account = $2
     group by account, o.origin having bool_or(kind <> 'delivered')
     order by failed desc, account, o.origin limit $3`,
    [sinceMs, account ?? null, limit],
  );
  return rows;
}

/**
 * How long before its delivery an attempt may be recorded, because of a wrong clock. To look further would read each day's table,
 * and an event may have been routed before.
 */
const LONG_BEFORE = "interval '12 hours'";

/** Finds the oldest deliveries made since a time that have not ended, without tests by hand. */
export async function oldestUndelivered(
  postgres: Queryable,
  { sinceMs, account, limit }: FailingQuery,
): Promise<Undelivered[]> {
  const { rows } = await postgres.query<Undelivered>(
    `select d.delivery, d.account, d.action, round(extract(epoch from d.at) * 1000)::float8 as at,
       (select count(*)::int from delivery_log.attempts a where a.delivery = d.delivery and a.at >= d.at - ${LONG_BEFORE}) as attempts
     from delivery_log.deliveries d
     where d.at >= to_timestamp($1::float8 / 1000) and ($2::uuid is null or d.account = $2) and d.attempted_at is null
       and not exists (
         select from delivery_log.attempts a
         where a.delivery = d.delivery and a.at >= d.at - ${LONG_BEFORE} and a.kind <> 'failed')
       and not exists (
         select from delivery_log.deliveries first
         where first.delivery = d.delivery and first.at >= d.at - ${LONG_BEFORE} and first.attempted_at is not null)
       and not exists (select from delivery_log.sendings s where s.delivery = d.delivery and s.why = 'test')
       and not exists (
         select from delivery_log.events e where e.event = d.event and e.rejected_delivery = d.delivery)
     order by d.at limit $3`,
    [sinceMs, account ?? null, limit],
  );
  return rows;
}
