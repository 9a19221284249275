import { messageGuid } from '@waybell/notifications/message-guid';
import type { Queryable } from '@waybell/runtime/postgres';
import { ms, time } from '../columns.ts';
import { readAction } from '../tables.ts';
import { LATEST, type Cursor } from './cursor.ts';
import { lookThrough } from './look-through.ts';

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
    `select s.account_guid as account, o.origin, count(*) filter (where a.kind <> 'delivered')::int as failed,
       count(*)::int as attempts, mode() within group (order by a.reason) as reason
     from delivery_log.attempts a join waybell.subscriptions s on s.guid = a.subscription
     cross join lateral (select coalesce(substring(a.url from '^[^:]+://[^/?]+'), 'unknown') as origin) o
     where a.at >= ${time('$1')} and a.kind <> 'dropped' and a.by_hand is distinct from 'test'
       and ($2::uuid is null or s.account_guid = $2)
     group by 1, 2 having bool_or(a.kind <> 'delivered')
     order by failed desc, account, o.origin limit $3`,
    [sinceMs, account ?? null, limit],
  );
  return rows;
}

/**
 * Deliveries made since a time without an end, the oldest first, after a place. An attempt may be recorded before its delivery, by
 * a wrong clock; and it may be one to another subscription, if somebody sent the delivery again.
 */
const UNENDED = `
  select ${ms('e.at')} as at, e.event, e.action, e.account, s.guid as subscription from delivery_log.events e
  cross join lateral unnest(e.subscriptions) as s (guid)
  where e.at >= ${time('$1')} and (e.at, e.event) > (${time('$3')}, $4::uuid) and ($2::uuid is null or e.account = $2)
    and not exists (
      select from delivery_log.attempts a
      where a.event = e.event and a.subscription = s.guid and a.kind <> 'failed' and a.at >= ${time('$1')} - interval '12 hours')
  order by e.at, e.event limit $5`;

/** Of these deliveries: those that have ended, or that were tests by hand or rejected. */
const ENDED = `
  select wanted.delivery, count(a.kind)::int as attempts,
    coalesce(bool_or(a.kind <> 'failed'), false)
      or exists (select from delivery_log.sendings s where s.delivery = wanted.delivery and s.why = 'test')
      or exists (
        select from delivery_log.events e where e.event = wanted.event and e.rejected_delivery = wanted.delivery) as "hasEnded"
  from unnest($1::uuid[], $2::uuid[]) as wanted (delivery, event)
  left join delivery_log.attempts a on a.delivery = wanted.delivery
  group by wanted.delivery, wanted.event`;

type Unended = Omit<Undelivered, 'delivery' | 'attempts'> & { event: string; subscription: string };

/** Finds the oldest deliveries made since a time that have not ended, without tests by hand. */
export async function oldestUndelivered(
  postgres: Queryable,
  { sinceMs, account, limit }: FailingQuery,
): Promise<Undelivered[]> {
  const { entries } = await lookThrough<Unended & { place: Cursor }, Undelivered>({
    limit,
    before: { at: sinceMs - 1, guid: LATEST.guid },
    find: async (after, most) => {
      const values = [sinceMs, account ?? null, after.at, after.guid, most];
      const { rows } = await postgres.query<Unended>(UNENDED, values);
      const candidates = rows.map((row) => ({ ...row, place: { at: row.at, guid: row.event } }));
      return { candidates, isLast: rows.length < most };
    },
    entriesOf: async (candidates) => {
      const made = candidates.map(({ event, subscription }) => messageGuid(event, subscription));
      const events = candidates.map(({ event }) => event);
      const { rows } = await postgres.query<{ delivery: string; attempts: number; hasEnded: boolean }>(ENDED, [
        made,
        events,
      ]);
      const known = new Map(rows.map((row) => [row.delivery, row]));
      return candidates.map(({ at, account: owner, action }, place) => {
        const row = known.get(made[place] ?? '');
        if (row === undefined || row.hasEnded) return [];
        return [
          { delivery: row.delivery, account: owner, action: readAction(action).action, at, attempts: row.attempts },
        ];
      });
    },
  });
  return entries;
}
