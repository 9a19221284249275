import { ms, time, readAction } from '@waybell/delivery-log/tables';
import { isOfListener, type ListenerOption } from '@waybell/delivery-log/listener-client';
import { LATEST, scanLog, type Cursor } from '@waybell/delivery-log/read/cursor';
import { SKEW_MS } from '@waybell/delivery-log/read/events';
import { messageGuid } from '@waybell/notifications/notification';
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

type FailingQuery = { sinceMs: number; account?: string | undefined; limit: number } & ListenerOption;

/** Finds origins at which the most attempts failed since a time, without tests by hand. */
export async function failingOrigins(
  postgres: Queryable,
  { sinceMs, account, withListeners = false, limit }: FailingQuery,
): Promise<FailingOrigin[]> {
  const { rows } = await postgres.query<FailingOrigin>(
    `select s.account_guid as account, o.origin, count(*) filter (where a.kind <> 'delivered')::int as failed,
       count(*)::int as attempts, mode() within group (order by a.reason) as reason
     from delivery_log.attempts a join waybell.subscriptions s on s.guid = a.subscription
     cross join lateral (select coalesce(substring(a.url from '^[^:]+://[^/?]+'), 'unknown') as origin) o
     where a.at >= ${time('$1')} and a.kind <> 'dropped' and a.by_hand is distinct from 'test'
       and ($2::uuid is null or s.account_guid = $2) and ($4 or not waybell.is_listener(s.client_id))
     group by 1, 2 having bool_or(a.kind <> 'delivered')
     order by failed desc, account, o.origin limit $3`,
    [sinceMs, account ?? null, limit, withListeners],
  );
  return rows;
}

/**
 * Events since a time, the oldest first, after a place, with the subscriptions to which no delivery seems to have ended. It may
 * have: by an attempt to another subscription, if somebody sent it again, or one that a wrong clock dates before.
 */
const UNENDED = `
  select ${ms('at')} as at, event, action, account, array_agg(subscription) as subscriptions from (
    select e.at, e.event, e.action, e.account, s.guid as subscription from delivery_log.events e
    cross join lateral unnest(e.subscriptions) as s (guid)
    where e.at >= ${time('$1')} and (e.at, e.event) > (${time('$3')}, $4::uuid) and ($2::uuid is null or e.account = $2)
      and ($6 or not ${isOfListener('s.guid')})
      and not exists (
        select from delivery_log.attempts a
        where a.event = e.event and a.subscription = s.guid and a.kind <> 'failed'
          and a.at >= ${time('$1')} - interval '${SKEW_MS} milliseconds')
  ) unended
  group by unended.at, event, action, account order by unended.at, event fetch first $5 rows with ties`;

/** Filters these deliveries: ended, or tests by hand, or rejected. */
const ENDED = `
  select wanted.delivery, count(a.kind)::int as attempts,
    coalesce(bool_or(a.kind <> 'failed'), false)
      or exists (select from delivery_log.sendings s where s.delivery = wanted.delivery and s.why = 'test')
      or exists (
        select from delivery_log.events e where e.event = wanted.event and e.rejected_delivery = wanted.delivery) as "hasEnded"
  from unnest($1::uuid[], $2::uuid[]) as wanted (delivery, event)
  left join delivery_log.attempts a on a.delivery = wanted.delivery
  group by wanted.delivery, wanted.event`;

type Unended = { at: number; event: string; action: string; account: string; subscriptions: string[] };

/** Finds the oldest deliveries made since a time that have not ended, without tests by hand. */
export async function oldestUndelivered(
  postgres: Queryable,
  { sinceMs, account, withListeners = false, limit }: FailingQuery,
): Promise<Undelivered[]> {
  const { entries } = await scanLog<Unended & { place: Cursor }, Undelivered>({
    limit,
    mayExceed: true,
    before: { at: sinceMs - 1, guid: LATEST.guid },
    find: async (after, most) => {
      const values = [sinceMs, account ?? null, after.at, after.guid, most, withListeners];
      const { rows } = await postgres.query<Unended>(UNENDED, values);
      const candidates = rows.map((row) => ({ ...row, place: { at: row.at, guid: row.event } }));
      return { candidates, isLast: rows.length < most };
    },
    entriesOf: async (candidates) => {
      const made = candidates.map((each) => deliveriesIn(each));
      const attempts = await attemptsOfUnended(postgres, made.flat());
      return made.map((each) =>
        each.flatMap(({ delivery, account: owner, action, at }) => {
          const count = attempts.get(delivery);
          return count === undefined ? [] : [{ delivery, account: owner, action, at, attempts: count }];
        }),
      );
    },
  });
  return entries.slice(0, limit);
}

const deliveriesIn = ({ at, event, action, account, subscriptions }: Unended) =>
  subscriptions.map((each) => ({ delivery: messageGuid(event, each), event, account, ...readAction(action), at }));

/** Returns the numbers of attempts of those that have not ended. */
async function attemptsOfUnended(
  postgres: Queryable,
  deliveries: readonly { delivery: string; event: string }[],
): Promise<ReadonlyMap<string, number>> {
  const events = new Map(deliveries.map(({ delivery, event }) => [delivery, event]));
  const values = [[...events.keys()], [...events.values()]];
  const { rows } = await postgres.query<{ delivery: string; attempts: number; hasEnded: boolean }>(ENDED, values);
  return new Map(rows.flatMap(({ delivery, attempts, hasEnded }) => (hasEnded ? [] : [[delivery, attempts]])));
}
