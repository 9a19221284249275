/**
 * Replays: send again, at a rate, what a client did not get in a time range. A replay can be counted before, which explains why there
 * is nothing to send; and followed, or cancelled, afterwards.
 */
import { randomUUID } from 'node:crypto';
import { ms } from '@waybell/delivery-log/tables';
import { isStored } from '@waybell/delivery-log/read/bodies';
import type { ClientReader } from '@waybell/delivery-log/read/entries';
import { LARGEST_REPLAY, LISTED_REPLAYS } from '@waybell/delivery-log/read/limits';
import { subscriptionsOf } from '@waybell/delivery-log/read/subscriptions';
import { messageGuid } from '@waybell/notifications/notification';
import type { Queryable } from '@waybell/runtime/postgres';
import { refused, targetsOf, isUnderWay, type CurrentSubscription, type SendRefusal } from './ask.ts';
import { notedMissed, noteReplay, findMissed, type Missed, type MissedQuery } from './missed.ts';

/**
 * Requests a time range of an action, or of the action of one of the client's subscriptions, current or not. Covers all its
 * subscriptions to the action. A pattern, `*` being any text, means the actions that the client is subscribed to and that are on.
 */
export type RangedReplay = { of: { action: string } | { subscription: string }; perSecond: number } & ReplayRange;
type ReplayRange = Pick<MissedQuery, 'sinceMs' | 'untilMs' | 'includesSuppressed'>;

/** Or all that a current subscription noted as missed. */
export type ReplayRequest = RangedReplay | { of: { missedBy: string }; perSecond: number };

/** Number of deliveries to send, and why each did not arrive; if there are none, `explanation` says what there is instead. */
type ReplayCount = { kind: 'counted'; total: number; reasons: ReasonCount[]; explanation?: string };
export type ReasonCount = { reason: string; count: number };

/** Counts the deliveries that a replay would send, up to the limit of one request. */
export async function countReplay(
  postgres: Queryable,
  request: ReplayRequest,
  client: ClientReader,
): Promise<ReplayCount | SendRefusal> {
  const action = await actionOf(postgres, request.of, client);
  if (action === undefined) return refused('not_found');
  const range = await rangeOf(postgres, request, client, { isLocked: false });
  const targets = await targetsOf(postgres, client, action);
  // A subscription that is off gets its missed period noted when it is on again.
  if (range === undefined) return 'kind' in targets ? targets : refused('nothing_missed');
  if ('kind' in targets && isPattern(action)) return targets;
  const query = { ...range, client, actions: actionsOf(action, targets), limit: LARGEST_REPLAY };
  return countOf(postgres, query, await findMissed(postgres, query));
}

/** Counts missed deliveries in a time range, up to the limit of one request. */
export async function countMissed(
  postgres: Queryable,
  query: Pick<MissedQuery, 'client' | 'actions' | 'sinceMs' | 'untilMs'>,
): Promise<number> {
  return (await findMissed(postgres, { ...query, includesSuppressed: true, limit: LARGEST_REPLAY })).length;
}

/** Counts the reasons why these did not arrive, the most frequent first. */
export function reasonsOf(missed: readonly Missed[]): ReasonCount[] {
  return [...Map.groupBy(missed, ({ reason }) => reason)]
    .map(([reason, { length: count }]) => ({ reason, count }))
    .toSorted((one, other) => other.count - one.count || (one.reason < other.reason ? -1 : 1));
}

async function countOf(postgres: Queryable, query: MissedQuery, missed: readonly Missed[]): Promise<ReplayCount> {
  const counted = { kind: 'counted' as const, total: missed.length, reasons: reasonsOf(missed) };
  return missed.length > 0 ? counted : { ...counted, explanation: await explainEmptyReplay(postgres, query) };
}

const isPattern = (action: string): boolean => action.includes('*');

function actionsOf(action: string, targets: readonly CurrentSubscription[] | SendRefusal): string[] {
  return isPattern(action) && !('kind' in targets) ? targets.map((each) => each.action) : [action];
}

const INSERT = `
  insert into delivery_log.sendings (guid, why, replay, delivery, event, interface, action, account, client, subscription,
    generation, from_attempt, kept_at, audit_field_set, requested_by, due_at)
  select gen_random_uuid(), 'resend', $1, m.delivery, m.event, s.interface, s.action, s.account_guid, s.client_id, s.guid, s.generation,
    m.from_attempt, to_timestamp(m.kept_ms / 1000), s.audit_field_set, $2, now() + (m.place - 1) * interval '1 second' / $3::int
  from unnest($4::uuid[], $5::uuid[], $6::uuid[], $7::int[], $8::float8[]) with ordinality
    as m (subscription, delivery, event, from_attempt, kept_ms, place)
  join waybell.subscriptions s on s.guid = m.subscription
  on conflict (delivery) where published_at is null do nothing`;

/**
 * Requests everything that a client did not get of its actions in a time range, to be sent at this rate, all together, to the
 * client's current subscription to each. Needs a transaction.
 */
export async function askForReplay(
  postgres: Queryable,
  request: ReplayRequest & { client: ClientReader; by: string },
  largest: number = LARGEST_REPLAY,
): Promise<{ kind: 'asked'; guid: string; explanation?: string } | SendRefusal> {
  const { client, by, perSecond, of } = request;
  const action = await actionOf(postgres, request.of, client);
  if (action === undefined) return refused('not_found');
  const targets = await targetsOf(postgres, client, action);
  if ('kind' in targets) return targets;
  const range = await rangeOf(postgres, request, client, { isLocked: true });
  if (range === undefined) return refused('nothing_missed');
  const query = { ...range, client, actions: actionsOf(action, targets), limit: largest };
  const missed = await findMissed(postgres, query);
  if ('missedBy' in of) {
    await noteReplay(postgres, of.missedBy, missed.length < largest ? null : (missed.at(-1)?.at ?? null));
    if (missed.length === 0) return refused('nothing_missed');
  }
  const guid = randomUUID();
  await postgres.query(
    `insert into delivery_log.replays (guid, account, client, action, since, until, include_suppressed, per_second, total, requested_by)
     values ($1, $2, $3, $4, $5, $6, $7, $8, 0, $9)`,
    [
      guid,
      client.account,
      client.client,
      action,
      new Date(range.sinceMs),
      new Date(range.untilMs),
      range.includesSuppressed,
      perSecond,
      by,
    ],
  );
  const sent = missed.map((each) => sendingOf(each, targets));
  const { rowCount } = await postgres.query(INSERT, [
    guid,
    by,
    perSecond,
    sent.map(({ subscription }) => subscription),
    sent.map(({ delivery }) => delivery),
    missed.map(({ event }) => event),
    sent.map(({ fromAttempt }) => fromAttempt),
    sent.map(({ keptMs }) => keptMs),
  ]);
  await postgres.query('update delivery_log.replays set total = $2 where guid = $1', [guid, rowCount]);
  const { explanation } = await countOf(postgres, query, missed);
  return { kind: 'asked', guid, ...(explanation !== undefined && { explanation }) };
}

/** A delivery and its attempt, to go to the subscription to its action; `keptMs`: made from the event that is kept at that time. */
function sendingOf(missed: Missed, targets: readonly CurrentSubscription[]) {
  const subscription = targets.find(({ action }) => action === missed.action)?.guid ?? '';
  return missed.kind === 'failed'
    ? { subscription, delivery: missed.delivery, fromAttempt: missed.fromAttempt, keptMs: null }
    : { subscription, delivery: messageGuid(missed.event, subscription), fromAttempt: 1, keptMs: missed.at };
}

async function rangeOf(
  postgres: Queryable,
  request: ReplayRequest,
  client: ClientReader,
  how: { isLocked: boolean },
): Promise<ReplayRange | undefined> {
  if ('sinceMs' in request) return request;
  const noted = await notedMissed(postgres, { subscription: request.of.missedBy, client }, how);
  return noted && { ...noted, includesSuppressed: true };
}

async function actionOf(
  postgres: Queryable,
  of: ReplayRequest['of'],
  client: ClientReader,
): Promise<string | undefined> {
  if ('action' in of) return of.action;
  const subscription = 'missedBy' in of ? of.missedBy : of.subscription;
  const { rows } = await postgres.query<{ action: string }>(
    `select action from waybell.subscriptions
     where guid = $1 and account_guid = $2 and client_id = $3 and interface = $4`,
    [subscription, client.account, client.client, client.interface],
  );
  return rows[0]?.action;
}

/** A replay that was requested. */
export type AskedReplay = {
  guid: string;
  /** The action, or the pattern, that was requested. */
  action: string;
  since: Date;
  until: Date;
  include_suppressed: boolean;
  per_second: number;
  total: number;
  requested_at: Date;
  requested_by: 'client' | 'operator';
  cancelled_at: Date | null;
};
/** A replay with its progress, for which each of its deliveries is read. */
export type Replay = AskedReplay & { published: number; delivered: number };

/** Formats the requester, for `requested_by` of deliveries sent by hand. */
export const requester = (who: string, isOperator: boolean): string => `${isOperator ? 'operator ' : ''}${who}`;

const COLUMNS = `r.guid, r.action, r.since, r.until, r.include_suppressed, r.per_second, r.total, r.requested_at,
  case when r.requested_by like 'operator %' then 'operator' else 'client' end as requested_by, r.cancelled_at`;

/** Returns the client's latest replays, newest first; at most LISTED_REPLAYS. */
export async function latestReplays(postgres: Queryable, { account, client }: ClientReader): Promise<AskedReplay[]> {
  const { rows } = await postgres.query<AskedReplay>(
    `select ${COLUMNS} from delivery_log.replays r where account = $1 and client = $2 order by requested_at desc, guid limit $3`,
    [account, client, LISTED_REPLAYS],
  );
  return rows;
}

/** Returns the progress of a replay; undefined if it is not the client's. */
export async function replayOf(
  postgres: Queryable,
  guid: string,
  { account, client }: ClientReader,
): Promise<Replay | undefined> {
  const { rows } = await postgres.query<Replay>(
    `select ${COLUMNS},
       count(s.published_at)::int as published,
       count(*) filter (where exists (
         select from delivery_log.attempts m
         where m.delivery = s.delivery and m.kind = 'delivered' and m.attempt >= s.from_attempt))::int as delivered
     from delivery_log.replays r left join delivery_log.sendings s on s.replay = r.guid
     where r.guid = $1 and r.account = $2 and r.client = $3 group by r.guid`,
    [guid, account, client],
  );
  return rows[0];
}

/** Cancels deliveries that are not published yet. Those that the delivery log has claimed may be on their way, and are sent. */
export async function cancelReplay(
  postgres: Queryable,
  guid: string,
  client: ClientReader,
): Promise<Replay | undefined> {
  await postgres.query(
    `with cancelled as (
       update delivery_log.replays set cancelled_at = coalesce(cancelled_at, now())
       where guid = $1 and account = $2 and client = $3 returning guid
     )
     delete from delivery_log.sendings s using cancelled c
     where s.replay = c.guid and s.published_at is null and (s.claimed_until is null or s.claimed_until < now())`,
    [guid, client.account, client.client],
  );
  return replayOf(postgres, guid, client);
}

/** Counts of failed deliveries, for an explanation of why nothing can be sent again. */
type FailedCounts = {
  /** Deliveries that were given up or dropped in that time, and their current state. */
  failed: number;
  delivered: number;
  underWay: number;
  bodyless: number;
  /** Times of the last one before the range and of the first one after it. */
  lastBefore: number | null;
  firstAfter: number | null;
};

const FIGURES = `
  with failed as (
    select delivery, max(at) as at from delivery_log.attempts
    where subscription = any ($1::uuid[]) and kind in ('exhausted', 'dropped') and by_hand is distinct from 'test'
      and at >= $2 and at < $3 group by delivery limit 10000
  ), told as (
    select exists (select from delivery_log.attempts m where m.delivery = f.delivery and m.kind = 'delivered') as is_delivered,
      ${isUnderWay('f.delivery')} as is_under_way,
      not exists (select from delivery_log.attempts b where b.delivery = f.delivery and ${isStored('b')}) as is_bodyless
    from failed f
  )
  select count(*)::int as failed, count(*) filter (where is_delivered)::int as delivered,
    count(*) filter (where is_under_way)::int as "underWay", count(*) filter (where is_bodyless)::int as bodyless,
    (select ${ms('max(at)')} from delivery_log.attempts
     where subscription = any ($1::uuid[]) and kind in ('exhausted', 'dropped') and at < $2) as "lastBefore",
    (select ${ms('min(at)')} from delivery_log.attempts
     where subscription = any ($1::uuid[]) and kind in ('exhausted', 'dropped') and at >= $3) as "firstAfter"
  from told`;

const OTHERS = `
  select s.action, s.guid as subscription, count(distinct a.delivery)::int as failed
  from waybell.subscriptions s join delivery_log.attempts a on a.subscription = s.guid
  where s.account_guid = $1 and s.client_id = $2 and s.interface = $3 and s.action <> all ($4::text[])
    and a.kind in ('exhausted', 'dropped') and a.by_hand is distinct from 'test' and a.at >= $5 and a.at < $6
  group by s.action, s.guid order by failed desc, s.action limit 5`;

/** Made from kept events, and not published yet. */
const ABOUT_TO_BE_SENT = `
  select count(*)::int as count from delivery_log.sendings
  where account = $1 and client = $2 and interface = $3 and action = any ($4::text[]) and kept_at >= $5 and kept_at < $6
    and published_at is null`;

/** Explains, in sentences for people, why nothing can be sent again, and says what there is instead. */
async function explainEmptyReplay(postgres: Queryable, query: MissedQuery): Promise<string> {
  const { client, actions, sinceMs, untilMs } = query;
  const called = actions.length === 1 ? actions.join() : 'these actions';
  const all = await subscriptionsOf(postgres, { account: client.account, client: client.client });
  const subscriptions = all.filter(({ action }) => actions.includes(action));
  const guids = subscriptions.map(({ subscription }) => subscription);
  const [since, until] = [new Date(sinceMs), new Date(untilMs)];
  const { rows } = await postgres.query<FailedCounts>(FIGURES, [guids, since, until]);
  const suppressed = query.includesSuppressed ? [] : await findMissed(postgres, { ...query, includesSuppressed: true });
  const values = [client.account, client.client, client.interface, actions, since, until];
  const others = await postgres.query<{ action: string; subscription: string; failed: number }>(OTHERS, values);
  const aboutToBeSent = await postgres.query<{ count: number }>(ABOUT_TO_BE_SENT, values);
  return [
    ...(subscriptions.length === 0 ? [`This client has never subscribed to ${called}.`] : ofFigures(called, rows[0])),
    ...(suppressed.length === 0
      ? []
      : [
          `Of events that came while this client had no subscription that was on there are ${suppressed.length}: ask with include_suppressed.`,
        ]),
    ...aboutToBeSent.rows.flatMap(({ count }) =>
      count === 0 ? [] : [`Another replay is about to send the failed ones: ${count}.`],
    ),
    ...others.rows.map(
      (other) =>
        `Failed deliveries of ${other.action} in that time: ${other.failed} (subscription ${other.subscription}).`,
    ),
  ].join(' ');
}

function ofFigures(action: string, figures: FailedCounts | undefined): string[] {
  if (figures === undefined) return [];
  const { failed, delivered, underWay, bodyless, lastBefore, firstAfter } = figures;
  if (failed > 0) {
    const of = [
      delivered > 0 ? `delivered since: ${delivered}` : '',
      underWay > 0 ? `under way: ${underWay}` : '',
      bodyless > 0 ? `no longer kept: ${bodyless}` : '',
    ].filter((text) => text !== '');
    return [`Failed deliveries of ${action} in that time: ${failed} (${of.join(', ')}).`];
  }
  return [
    `No delivery of ${action} failed in that time.`,
    ...(lastBefore === null ? [] : [`The last one before failed at ${new Date(lastBefore).toISOString()}.`]),
    ...(firstAfter === null ? [] : [`The first one after failed at ${new Date(firstAfter).toISOString()}.`]),
  ];
}
