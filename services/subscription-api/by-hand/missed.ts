/**
 * Missed deliveries: those of actions that a client did not get, over all its subscriptions; and for each subscription the period in
 * which it was off, noted until a replay is requested.
 *
 *     noted, when it is on again ── replayed, or found empty ──> nothing missed
 *       ^                                                             │
 *       └── switched off again, or the log got more of the period ───┘
 */
import { ms, time, partOf, writeAction, IS_LATE } from '@waybell/delivery-log/tables';
import { isStored } from '@waybell/delivery-log/read/bodies';
import type { ClientReader } from '@waybell/delivery-log/read/entries';
import { SKEW_MS } from '@waybell/delivery-log/read/events';
import { causeOf, stretchesWithout } from '@waybell/delivery-log/read/no-subscription';
import { subscriptionsOf, type SubscriptionEntry } from '@waybell/delivery-log/read/subscriptions';
import { unattempted, type NoSubscriptionCause } from '@waybell/line/reasons';
import type { Queryable } from '@waybell/runtime/postgres';
import { isUnderWay } from './ask.ts';

/** Selects actions and a time range, in milliseconds since the epoch. */
export type MissedQuery = {
  client: ClientReader;
  actions: readonly string[];
  sinceMs: number;
  untilMs: number;
  /** Whether to include deliveries that were never made, because there was no subscription. */
  includesSuppressed: boolean;
  /** Whether to include those whose body is no longer kept, which cannot be sent. */
  includesGone?: boolean;
  limit: number;
};

export type Missed = { action: string; event: string; at: number; isKept: boolean } & (
  | /** A delivery that was given up or dropped; it can be sent unchanged, from this attempt on. */
    { kind: 'failed'; status: 'exhausted' | 'dropped'; delivery: string; reason: string; fromAttempt: number }
  /** An event without a delivery; the delivery can be made from the event kept at this time. */
  | { kind: 'suppressed'; reason: NoSubscriptionCause }
);

/** Finds what was missed, the oldest first, at most `limit`. */
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

/**
 * Deliveries whose last record says that they were given up, and whose body is still kept; `$5`: or is not. Only the oldest of each
 * subscription are read, by the index.
 */
const FAILED = `
  select delivery, event, subscription, kind as status, ${ms('at')} as at, reason, is_kept as "isKept",
    1 + coalesce((select max(m.attempt) from delivery_log.attempts m
      where m.delivery = oldest.delivery and m.kind <> 'dropped' and coalesce(m.reason, '') <> all (${UNATTEMPTED})), 0) as "fromAttempt"
  from (
    select of_one.* from unnest($1::uuid[]) as wanted (subscription) cross join lateral (
      select a.delivery, a.at, a.kind, a.reason, a.event, a.subscription, body.is_kept from delivery_log.attempts a
      cross join lateral (
        select exists (select from delivery_log.attempts b where b.delivery = a.delivery and ${isStored('b')}) as is_kept offset 0
      ) body
      where a.subscription = wanted.subscription and a.kind in ('exhausted', 'dropped')
        and a.by_hand is distinct from 'test' and a.at >= $2 and a.at < $3
        and not exists (
          select from delivery_log.attempts m
          where m.delivery = a.delivery and (m.kind = 'delivered'
            or (m.attempt, m.at) > (a.attempt, a.at) or m.at > a.at + interval '${SKEW_MS} milliseconds'))
        and (body.is_kept or $5)
        and not ${isUnderWay('a.delivery')}
      order by a.at, a.delivery limit $4
    ) of_one
    order by at, delivery limit $4
  ) oldest`;

async function failedOf(
  postgres: Queryable,
  subscriptions: readonly SubscriptionEntry[],
  { sinceMs, untilMs, limit, includesGone = false }: MissedQuery,
): Promise<Missed[]> {
  const actions = new Map(subscriptions.map(({ subscription, action }) => [subscription, action]));
  const values = [[...actions.keys()], new Date(sinceMs), new Date(untilMs), limit, includesGone];
  const { rows } = await postgres.query<FailedRow>(FAILED, values);
  return rows.map(({ subscription, ...row }) => ({ kind: 'failed', action: actions.get(subscription) ?? '', ...row }));
}

type FailedRow = Omit<Missed & { kind: 'failed' }, 'kind' | 'action'> & { subscription: string };

const FIRST_AT = 'coalesce(min(at) filter (where is_kept), min(at))';

/**
 * Events of time ranges of which the client has no delivery, and is not about to get one; each at the time of its first record that is
 * kept. Only the oldest records are read: an event that was published again has more than one.
 */
const WITHOUT_DELIVERY = `
  select event, ${ms(FIRST_AT)} as at, bool_or(is_kept) as "isKept"
  from (
    select e.event, e.at, body.is_kept from delivery_log.events e
    cross join lateral (select ${isStored('e')} as is_kept offset 0) body
    where part = $8 and account = $1 and action = $2 and place is not null and e.at >= $10 and e.at < $11 and (is_kept or $9)
      and exists (select from unnest($3::float8[], $4::float8[]) as stretch (from_ms, until_ms)
        where e.at >= ${time('from_ms')} and e.at < ${time('until_ms')})
      and not exists (
        select from delivery_log.events made
        where made.event = e.event and made.account = $1 and made.subscriptions && $5::uuid[])
      and not exists (
        select from delivery_log.sendings s
        where s.event = e.event and s.account = $1 and s.client = $6 and s.published_at is null)
    order by e.at, e.event limit 2 * $7
  ) oldest
  group by event order by ${FIRST_AT}, event limit $7`;

async function suppressedOf(
  postgres: Queryable,
  subscriptions: readonly SubscriptionEntry[],
  {
    client: { account, client, interface: interfaceName },
    action,
    sinceMs,
    untilMs,
    limit,
    includesGone = false,
  }: MissedQuery & { action: string },
): Promise<Missed[]> {
  // While a subscription was on, another reason applied.
  const stretches = stretchesWithout(subscriptions, { sinceMs, untilMs });
  const [since, until] = [stretches.map(({ from }) => from), stretches.map((stretch) => stretch.until)];
  const guids = subscriptions.map(({ subscription }) => subscription);
  const written = writeAction(interfaceName, action);
  const values = [
    account,
    written,
    since,
    until,
    guids,
    client,
    limit,
    partOf(account, written),
    includesGone,
    new Date(sinceMs),
    new Date(untilMs),
  ];
  const { rows } = await postgres.query<{ event: string; at: number; isKept: boolean }>(WITHOUT_DELIVERY, values);
  return rows.flatMap(({ event, at, isKept }) => {
    const reason = causeOf(subscriptions, at)?.cause;
    return reason === undefined ? [] : [{ kind: 'suppressed', action, event, at, isKept, reason }];
  });
}

/**
 * A period that a subscription missed while it was off. In milliseconds since the epoch: the time range to search, and within it the one
 * from the first failure until the subscription was on again.
 */
export type NotedMissed = {
  sinceMs: number;
  untilMs: number;
  offMs: number;
  onMs: number;
  /** Whether the range is over. */
  isOver: boolean;
};

/** The period of `s` as it is shown: without the minutes by which the range is wider. */
export const MISSED_FROM = `greatest(s.missed_since + interval '1 minute', s.created_at)`;
export const MISSED_TO = `least(s.missed_until - interval '1 minute', now())`;

/**
 * A NotedMissed, or null, of the subscription `s`: nothing of before it was subscribed. It ends a minute after the subscription was
 * switched on again. The delivery log may not have all of it by the time of a replay: what was replayed is missed once more when that minute
 * is over, and when the log got something of that time later still. A replay sends only what is missing.
 */
export const NOTED_MISSED = `case
  when s.missed_replayed_at is null and (s.missed_since < s.missed_until - interval '2 minutes' or s.missed_until <= now())
    or s.missed_replayed_at < s.missed_until and s.missed_until <= now()
    or exists (
      select from delivery_log.commits
      where at > s.missed_replayed_at - interval '1 minute' and first_at < s.missed_until
        and last_at >= s.missed_since and ${IS_LATE})
  then json_build_object('sinceMs', ${ms('greatest(s.missed_since, s.created_at)')}, 'untilMs', ${ms('least(s.missed_until, now())')},
    'offMs', ${ms(MISSED_FROM)}, 'onMs', ${ms(MISSED_TO)}, 'isOver', s.missed_until <= now()) end`;

const OF_CURRENT = `
  from waybell.subscriptions s
  where s.guid = $1 and s.account_guid = $2 and s.client_id = $3 and s.interface = $4 and s.ended_at is null`;

const NOTE_REPLAY = `
  update waybell.subscriptions set missed_since = coalesce(${time('$2')} - interval '1 minute', missed_since),
    missed_replayed_at = case when $2::float8 is null then now() end
  where guid = $1`;

/** Reads the noted period of a client's current subscription; locked, no other replay of it begins until the end of the transaction. */
export async function notedMissed(
  postgres: Queryable,
  { subscription, client }: { subscription: string; client: ClientReader },
  { isLocked }: { isLocked: boolean },
): Promise<NotedMissed | undefined> {
  const { rows } = await postgres.query<{ missed: NotedMissed | null }>(
    `select ${NOTED_MISSED} as missed ${OF_CURRENT} ${isLocked ? 'for no key update' : ''}`,
    [subscription, client.account, client.client, client.interface],
  );
  return rows[0]?.missed ?? undefined;
}

/** Notes subscriptions that lack nothing as replayed: nobody has to ask for an empty replay. What the delivery log gets later is noted again. */
export const NOTE_EMPTY = `
  update waybell.subscriptions set missed_replayed_at = now() where guid = any ($1::uuid[]) and missed_until <= now()`;

/** Notes that a subscription's period is replayed up to this time; null: all of it. */
export async function noteReplay(postgres: Queryable, subscription: string, upToMs: number | null): Promise<void> {
  await postgres.query(NOTE_REPLAY, [subscription, upToMs]);
}
