/** Replays: send again, at a rate, what a subscription did not get in a time range. */
import { randomUUID } from 'node:crypto';
import { messageGuid } from '@waybell/notifications/message-guid';
import type { Queryable } from '@waybell/runtime/postgres';
import { refused, targetsOf, type CurrentSubscription, type SendRefusal } from './ask.ts';
import { explainEmptyReplay } from './explain-empty-replay.ts';
import { notedMissed, settleMissed } from './noted-missed.ts';
import { findMissed, type Missed, type MissedQuery } from './missed.ts';
import type { ClientReader } from '@waybell/delivery-log/read/entries';
import { LARGEST_REPLAY } from '@waybell/delivery-log/read/limits';

/**
 * Requests a time range of an action, or of the action of one of the client's subscriptions, current or not. Covers all its
 * subscriptions to the action. A pattern, `*` being any text, means the actions that the client is subscribed to and that are on.
 */
export type RangedReplay = { of: { action: string } | { subscription: string }; perSecond: number } & ReplayRange;
type ReplayRange = Pick<MissedQuery, 'sinceMs' | 'untilMs' | 'includesSuppressed'>;

/** Or all that a current subscription noted as missed. */
export type ReplayRequest = RangedReplay | { of: { missedBy: string }; perSecond: number };

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

/** Why these did not arrive, and of each how many; the most frequent first. */
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
