/** Replays: send again, at a rate, what a subscription did not get in a time range. */
import { randomUUID } from 'node:crypto';
import { messageGuid } from '@waybell/notifications/message-guid';
import type { Queryable } from '@waybell/runtime/postgres';
import { refused, targetOf, type SendRefusal } from './ask.ts';
import { explainEmptyReplay } from './explain-empty-replay.ts';
import { notedMissed, settleMissed } from './noted-missed.ts';
import { findMissed, type Missed, type MissedQuery } from './missed.ts';
import type { ClientReader } from '@waybell/delivery-log/read/entries';
import { LARGEST_REPLAY, LISTED_REPLAYS } from '@waybell/delivery-log/read/limits';

/**
 * Requests a time range of an action, or of the action of one of the client's subscriptions, current or not. Covers all its
 * subscriptions to the action.
 */
export type RangedReplay = { of: { action: string } | { subscription: string }; perSecond: number } & ReplayRange;
type ReplayRange = Pick<MissedQuery, 'sinceMs' | 'untilMs' | 'includesSuppressed'>;

/** Or all that a current subscription noted as missed. */
export type ReplayRequest = RangedReplay | { of: { missedBy: string }; perSecond: number };

export type AskedReplay = {
  guid: string;
  action: string;
  since: Date;
  until: Date;
  include_suppressed: boolean;
  per_second: number;
  total: number;
  requested_at: Date;
  cancelled_at: Date | null;
};
/** A replay with its progress, which takes a look at each of its deliveries. */
export type Replay = AskedReplay & { published: number; delivered: number };

/** Number of deliveries to send, and why each did not arrive; if there are none, `explanation` says what there is instead. */
export type ReplayCount = { kind: 'counted'; total: number; reasons: ReasonCount[]; explanation?: string };
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
  if (range === undefined) {
    // What one misses that is off is noted when it is on again.
    const target = await targetOf(postgres, client, action);
    return 'kind' in target ? target : refused('nothing_missed');
  }
  const query = { ...range, client, action, limit: LARGEST_REPLAY };
  return countOf(postgres, query, await findMissed(postgres, query));
}

/** Counts what was missed in a time range, up to the limit of one request. */
export async function countMissed(
  postgres: Queryable,
  query: Pick<MissedQuery, 'client' | 'action' | 'sinceMs' | 'untilMs'>,
): Promise<number> {
  return (await findMissed(postgres, { ...query, includesSuppressed: true, limit: LARGEST_REPLAY })).length;
}

async function countOf(postgres: Queryable, query: MissedQuery, missed: readonly Missed[]): Promise<ReplayCount> {
  const byReason = Map.groupBy(missed, ({ reason }) => reason);
  const reasons = [...byReason].map(([reason, { length: count }]) => ({ reason, count }));
  const counted = { kind: 'counted' as const, total: missed.length, reasons };
  return missed.length > 0 ? counted : { ...counted, explanation: await explainEmptyReplay(postgres, query) };
}

const INSERT = `
  insert into delivery_log.sendings (guid, why, replay, delivery, event, interface, action, account, client, subscription,
    generation, from_attempt, kept_at, audit_field_set, requested_by, due_at)
  select gen_random_uuid(), 'resend', $1, delivery, event, $2, $3, $4, $5, $6, $7, from_attempt, to_timestamp(kept_ms / 1000), $8, $9,
    now() + (place - 1) * interval '1 second' / $10::int
  from unnest($11::uuid[], $12::uuid[], $13::int[], $14::float8[]) with ordinality as m (delivery, event, from_attempt, kept_ms, place)
  on conflict (delivery) where published_at is null do nothing`;

/**
 * Requests everything that a client did not get of an action in a time range, to be sent at this rate to the client's current
 * subscription to the action. Needs a transaction.
 */
export async function askForReplay(
  postgres: Queryable,
  request: ReplayRequest & { client: ClientReader; by: string },
  largest: number = LARGEST_REPLAY,
): Promise<{ kind: 'asked'; guid: string; explanation?: string } | SendRefusal> {
  const { client, by, perSecond, of } = request;
  const action = await actionOf(postgres, request.of, client);
  if (action === undefined) return refused('not_found');
  const target = await targetOf(postgres, client, action);
  if ('kind' in target) return target;
  const range = await rangeOf(postgres, request, client, { isLocked: true });
  if (range === undefined) return refused('nothing_missed');
  const query = { ...range, client, action, limit: largest };
  const missed = await findMissed(postgres, query);
  if ('missedBy' in of) {
    await settleMissed(postgres, of.missedBy, missed.length < largest ? null : (missed.at(-1)?.at ?? null));
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
  const whose = [client.interface, action, client.account, client.client, target.guid, target.generation];
  const { rowCount } = await postgres.query(INSERT, [
    guid,
    ...whose,
    target.audit_field_set,
    by,
    perSecond,
    missed.map((each) => (each.kind === 'failed' ? each.delivery : messageGuid(each.event, target.guid))),
    missed.map(({ event }) => event),
    missed.map((each) => (each.kind === 'failed' ? each.fromAttempt : 1)),
    missed.map((each) => (each.kind === 'failed' ? null : each.at)),
  ]);
  await postgres.query('update delivery_log.replays set total = $2 where guid = $1', [guid, rowCount]);
  const { explanation } = await countOf(postgres, query, missed);
  return { kind: 'asked', guid, ...(explanation !== undefined && { explanation }) };
}

/** Returns the client's latest replays, newest first; at most LISTED_REPLAYS. */
export async function latestReplays(postgres: Queryable, { account, client }: ClientReader): Promise<AskedReplay[]> {
  const { rows } = await postgres.query<AskedReplay>(
    `select guid, action, since, until, include_suppressed, per_second, total, requested_at, cancelled_at
     from delivery_log.replays where account = $1 and client = $2 order by requested_at desc, guid limit $3`,
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
    `select r.guid, r.action, r.since, r.until, r.include_suppressed, r.per_second, r.total, r.requested_at, r.cancelled_at,
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
