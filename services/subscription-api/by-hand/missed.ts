/** Finds deliveries of actions that a client did not get, over all its subscriptions. */
import { unattempted, type NoSubscriptionCause } from '@waybell/line/reasons';
import type { Queryable } from '@waybell/runtime/postgres';
import { ms, time } from '@waybell/delivery-log/columns';
import type { ClientReader } from '@waybell/delivery-log/read/entries';
import { partOf, writeAction } from '@waybell/delivery-log/tables';
import { isStored } from '@waybell/delivery-log/read/bodies';
import { SKEW_MS } from '@waybell/delivery-log/read/events';
import { causeOf, stretchesWithout } from '@waybell/delivery-log/read/no-subscription';
import { subscriptionsOf, type SubscriptionEntry } from '@waybell/delivery-log/read/subscriptions';
import { isUnderWay } from './ask.ts';

/** Asks about actions in a time range, in milliseconds since the epoch. */
export type MissedQuery = {
  client: ClientReader;
  actions: readonly string[];
  sinceMs: number;
  untilMs: number;
  /** Whether to include deliveries that were never made, because there was no subscription. */
  includesSuppressed: boolean;
  /** False: those whose body is no longer kept, in place of those that can be sent. */
  isKept?: boolean;
  limit: number;
};

export type Missed = { action: string; event: string; at: number } & (
  | /** A delivery that was given up or dropped; it can be sent unchanged, from this attempt on. */
    { kind: 'failed'; status: 'exhausted' | 'dropped'; delivery: string; reason: string; fromAttempt: number }
  /** An event without a delivery; the delivery can be made from the event kept at this time. */
  | { kind: 'suppressed'; reason: NoSubscriptionCause }
);

/** Returns the oldest first, at most `limit`. */
export async function findMissed(postgres: Queryable, query: MissedQuery): Promise<Missed[]> {
  const { account, client } = query.client;
  const all = await subscriptionsOf(postgres, { account, client });
  const subscriptions = all.filter(({ action }) => query.actions.includes(action));
  const failed = await failedOf(postgres, subscriptions, query);
  const suppressed: Missed[] = [];
  for (const action of query.includesSuppressed ? query.actions : []) {
    const toIt = subscriptions.filter((each) => each.action === action);
    suppressed.push(...(await suppressedOf(postgres, toIt, { ...query, action })));
  }
  return [...failed, ...suppressed].toSorted((one, other) => one.at - other.at).slice(0, query.limit);
}

const UNATTEMPTED = `array[${unattempted.map((reason) => `'${reason}'`).join(', ')}]`;

/** Deliveries whose last record says that they were given up, and whose body is still kept, or no longer. */
const FAILED = `
  select delivery, event, subscription, kind as status, ${ms('at')} as at, reason,
    1 + coalesce((select max(m.attempt) from delivery_log.attempts m
      where m.delivery = oldest.delivery and m.kind <> 'dropped' and coalesce(m.reason, '') <> all (${UNATTEMPTED})), 0) as "fromAttempt"
  from (
    select a.delivery, a.at, a.kind, a.reason, a.event, a.subscription from delivery_log.attempts a
    where a.subscription = any ($1::uuid[]) and a.kind in ('exhausted', 'dropped')
      and a.by_hand is distinct from 'test' and a.at >= $2 and a.at < $3
      and not exists (
        select from delivery_log.attempts m
        where m.delivery = a.delivery and (m.kind = 'delivered'
          or (m.attempt, m.at) > (a.attempt, a.at) or m.at > a.at + interval '${SKEW_MS} milliseconds'))
      and exists (select from delivery_log.attempts b where b.delivery = a.delivery and ${isStored('b')}) = $5
      and not ${isUnderWay('a.delivery')}
    order by a.at, a.delivery limit $4
  ) oldest`;

async function failedOf(
  postgres: Queryable,
  subscriptions: readonly SubscriptionEntry[],
  { sinceMs, untilMs, limit, isKept = true }: MissedQuery,
): Promise<Missed[]> {
  const actions = new Map(subscriptions.map(({ subscription, action }) => [subscription, action]));
  const values = [[...actions.keys()], new Date(sinceMs), new Date(untilMs), limit, isKept];
  const { rows } = await postgres.query<FailedRow>(FAILED, values);
  return rows.map(({ subscription, ...row }) => ({ kind: 'failed', action: actions.get(subscription) ?? '', ...row }));
}

type FailedRow = Omit<Missed & { kind: 'failed' }, 'kind' | 'action'> & { subscription: string };

/**
 * Events of time ranges of which the client has no delivery, and is not about to get one; each at the time of its first record.
 */
const WITHOUT_DELIVERY = `
  select event, ${ms('min(at)')} as at from delivery_log.events e
  where part = $8 and account = $1 and action = $2 and place is not null and ${isStored('e')} = $9
    and exists (select from unnest($3::float8[], $4::float8[]) as stretch (from_ms, until_ms)
      where e.at >= ${time('from_ms')} and e.at < ${time('until_ms')})
    and not exists (
      select from delivery_log.events made where made.event = e.event and made.account = $1 and made.subscriptions && $5::uuid[])
    and not exists (
      select from delivery_log.sendings s
      where s.event = e.event and s.account = $1 and s.client = $6 and s.published_at is null)
  group by event order by min(at), event limit $7`;

async function suppressedOf(
  postgres: Queryable,
  subscriptions: readonly SubscriptionEntry[],
  {
    client: { account, client, interface: interfaceName },
    action,
    sinceMs,
    untilMs,
    limit,
    isKept = true,
  }: MissedQuery & { action: string },
): Promise<Missed[]> {
  // While a subscription was on, another reason applied.
  const stretches = stretchesWithout(subscriptions, { sinceMs, untilMs });
  const [since, until] = [stretches.map(({ from }) => from), stretches.map((stretch) => stretch.until)];
  const guids = subscriptions.map(({ subscription }) => subscription);
  const written = writeAction(interfaceName, action);
  const values = [account, written, since, until, guids, client, limit, partOf(account, written), isKept];
  const { rows } = await postgres.query<{ event: string; at: number }>(WITHOUT_DELIVERY, values);
  return rows.flatMap(({ event, at }) => {
    const reason = causeOf(subscriptions, at)?.cause;
    return reason === undefined ? [] : [{ kind: 'suppressed', action, event, at, reason }];
  });
}
