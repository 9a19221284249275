import type { Queryable } from '@waybell/runtime/postgres';
import { ms, time } from '../columns.ts';
import { numberOfKey, readAction, writeAction } from '../tables.ts';
import { LATEST, placeBefore, type Cursor } from './cursor.ts';
import { deliveriesOf, deliveryOf, type DeliveryRow } from './deliveries.ts';
import type { ClientReader } from './entries.ts';
import { eventsOfActions, type SubscribedRow } from './events-of-actions.ts';
import { eventsAt, eventsBefore, eventsOfKey, hasKey, isLastOf, SKEW_MS, type AskedKey } from './events.ts';
import { lookThrough, type Found } from './look-through.ts';
import type { SubscriptionEntry } from './subscriptions.ts';

/** Deliveries that may match, at a place in the order of the search. */
export type Candidate = { place: Cursor; deliveries: DeliveryRow[] };

/** Finds deliveries made from `since` until before `until`, in milliseconds, after the place `before`. */
export type CandidateQuery = {
  reader: ClientReader;
  action: string | undefined;
  since: number;
  until: number;
  before: Cursor;
  limit: number;
};

export type Candidates = Found<Candidate>;

type OwnSubscription = Pick<
  SubscriptionEntry,
  'subscription' | 'account' | 'client' | 'interface' | 'action' | 'endedAt'
>;

type Range = Pick<CandidateQuery, 'since' | 'until' | 'before' | 'limit'>;

/** Finds a client's deliveries, newest first. */
export async function deliveriesOfClient(postgres: Queryable, query: CandidateQuery): Promise<Candidates> {
  return deliveriesTo(postgres, await subscriptionsOfClient(postgres, query), query);
}

/** Finds the latest deliveries to these subscriptions, newest first. */
export async function latestDeliveries(
  postgres: Queryable,
  own: readonly OwnSubscription[],
  limit: number,
): Promise<DeliveryRow[]> {
  const { entries } = await lookThrough<Candidate, DeliveryRow>({
    limit,
    mayExceed: true,
    find: (before, most) => deliveriesTo(postgres, own, { since: 0, until: LATEST.at, before, limit: most }),
    entriesOf: async (candidates) => candidates.map(({ deliveries }) => deliveries),
  });
  return entries.slice(0, limit);
}

async function deliveriesTo(
  postgres: Queryable,
  own: readonly OwnSubscription[],
  { since, until, before, limit }: Range,
): Promise<Candidates> {
  const { rows, place } = await eventsOfActions(postgres, { ...actionsOf(own), since, until, before, limit });
  const candidates = [...Map.groupBy(rows, ({ at, event }) => `${at} ${event}`).values()].flatMap((ofEvent) => {
    const [first] = ofEvent;
    const deliveries = ofEvent.flatMap((row) => madeTo(own, row));
    return first === undefined ? [] : [{ place: { at: first.at, guid: first.event }, deliveries }];
  });
  return place === undefined
    ? { candidates, isLast: rows.length < limit }
    : { candidates, isLast: false, lookedAt: place };
}

/** A client's subscriptions, also ended ones; one that is switched off counts as ended. */
const SUBSCRIPTIONS = `select guid as subscription, account_guid as account, client_id as client, interface, action,
    ${ms('least(ended_at, deactivated_at)')} as "endedAt"
  from waybell.subscriptions
  where account_guid = $1 and client_id = $2 and interface = $3 and ($4::text is null or action = $4)`;

async function subscriptionsOfClient(
  postgres: Queryable,
  { reader: { account, client, interface: interfaceName }, action }: Pick<CandidateQuery, 'reader' | 'action'>,
): Promise<OwnSubscription[]> {
  const values = [account, client, interfaceName, action ?? null];
  return (await postgres.query<OwnSubscription>({ name: 'history-subscriptions', text: SUBSCRIPTIONS, values })).rows;
}

/** A replay makes deliveries for hours (`LARGEST_REPLAY` of them, one a second), though its subscription has ended meanwhile. */
const AFTER_END_MS = 10_800_000;

/** Each account's action once, until nothing was made any more for the last subscription to it. */
function actionsOf(own: readonly OwnSubscription[]) {
  const ofOne = Map.groupBy(own, (each) => `${each.account} ${writeAction(each.interface, each.action)}`);
  const of = [...ofOne].map(([name, each]) => {
    const [account = '', action = ''] = name.split(' ');
    const ends = each.map(({ endedAt }) => endedAt ?? Infinity);
    return { account, action, untilMs: Math.max(...ends) + AFTER_END_MS };
  });
  return { of, subscriptions: own.map(({ subscription }) => subscription) };
}

function madeTo(
  own: readonly OwnSubscription[],
  { action: written, subscriptions, ...row }: SubscribedRow,
): DeliveryRow[] {
  const { action } = readAction(written);
  return own
    .filter(({ subscription }) => subscriptions.includes(subscription))
    .map((each) => deliveryOf({ ...row, action }, each));
}

/** Finds deliveries given up or dropped, by when that was, latest first. Some may not be made before `until`. */
export async function deliveriesInVain(postgres: Queryable, query: CandidateQuery): Promise<Candidates> {
  const { reader, action, since, before, limit } = query;
  const { rows } = await postgres.query<{ at: number; delivery: string; event: string }>({
    name: 'history-in-vain',
    text: `select ${ms('a.at')} as at, a.delivery, a.event from (${SUBSCRIPTIONS}) s
           cross join lateral (
             select at, delivery, event from delivery_log.attempts a
             where a.subscription = s.subscription and a.kind in ('exhausted', 'dropped')
               and a.at >= ${time('$5')} - interval '${SKEW_MS} milliseconds' and (a.at, a.delivery) < (${time('$6')}, $7::uuid)
             order by a.at desc, a.delivery desc limit $8
           ) a
           order by a.at desc, a.delivery desc limit $8`,
    values: [reader.account, reader.client, reader.interface, action ?? null, since, before.at, before.guid, limit],
  });
  // A delivery is made by the first record of its event. The log may not have that any more, or not yet.
  const events = await eventsBefore(postgres, rows, reader);
  const made = await deliveriesOf(postgres, events.toReversed(), reader);
  const first = new Map(made.toSorted((one, other) => other.at - one.at).map((row) => [row.delivery, row]));
  const candidates = rows.map(({ at, delivery }) => {
    const row = first.get(delivery);
    return { place: { at, guid: delivery }, deliveries: row === undefined ? [] : [row] };
  });
  return { candidates, isLast: rows.length < limit };
}

/** Finds deliveries about a key, by creation, newest first. */
export async function deliveriesAbout(
  postgres: Queryable,
  { about, reader, action, since, until, before, limit }: CandidateQuery & { about: AskedKey },
): Promise<Candidates> {
  const place = placeBefore(until, before);
  const { rows } = await postgres.query<{ at: number; event: string; times: number }>({
    name: 'history-deliveries-about',
    text: `select ${ms('k.at')} as at, event, times from (${eventsOfKey('$1', '$2', time('$3'), '$4')}) k
           where k.at >= ${time('$5')} order by k.at desc, event desc`,
    values: [numberOfKey(about.key), limit, place.at, place.guid, since],
  });
  const events = (await eventsAt(postgres, rows, reader)).filter(
    (row) => hasKey(row, about) && (action === undefined || row.action === action),
  );
  const made = Map.groupBy(await deliveriesOf(postgres, events, reader), ({ event, at }) => `${event} ${at}`);
  const candidates = rows.map(({ at, event }) => ({
    place: { at, guid: event },
    deliveries: made.get(`${event} ${at}`) ?? [],
  }));
  return { candidates, isLast: isLastOf(rows, limit) };
}
