import type { Queryable } from '@waybell/runtime/postgres';
import { ms, time } from '../columns.ts';
import { NOT_DELIVERED, numberOfKey, readAction, readKey, writeAction } from '../tables.ts';
import { LATEST, placeBefore, type Cursor } from './cursor.ts';
import { deliveriesOf, deliveryOf, type DeliveryRow } from './deliveries.ts';
import type { Reader } from './entries.ts';
import { eventsOfActions, type AccountAction, type SubscribedRow } from './events-of-actions.ts';
import { eventsAt, eventsBefore, eventsOfKey, hasKey, isLastOf, SKEW_MS, type AskedKey } from './events.ts';
import { latestEvents } from './latest-events.ts';
import { scanLog, type Found } from './scan-log.ts';
import type { WantedSubscription } from './wanted-subscriptions.ts';

/** Deliveries that may match, at a place in the order of the search. */
export type Candidate = { place: Cursor; deliveries: DeliveryRow[] };

/** A range of creation times, in milliseconds since the epoch, `until` exclusive; only entries after the place `before`. */
export type CandidateRange = { since: number; until: number; before: Cursor; limit: number };

export type Candidates = Found<Candidate>;

/** Finds the latest deliveries to these subscriptions, newest first. */
export async function latestDeliveries(
  postgres: Queryable,
  own: readonly WantedSubscription[],
  limit: number,
): Promise<DeliveryRow[]> {
  const { entries } = await scanLog<Candidate, DeliveryRow>({
    limit,
    mayExceed: true,
    find: (before, most) => deliveriesTo(postgres, own, { since: 0, until: LATEST.at, before, limit: most }),
    entriesOf: async (candidates) => candidates.map(({ deliveries }) => deliveries),
  });
  return entries.slice(0, limit);
}

/** Finds deliveries to these subscriptions, newest first. */
export async function deliveriesTo(
  postgres: Queryable,
  own: readonly WantedSubscription[],
  { since, until, before, limit }: CandidateRange,
): Promise<Candidates> {
  const of = actionsOf(own);
  const subscriptions = own.map(({ subscription }) => subscription);
  const { rows, place } = await eventsOfActions(postgres, { of, subscriptions, since, until, before, limit });
  const candidates = [...Map.groupBy(rows, ({ at, event }) => `${at} ${event}`).values()].flatMap((ofEvent) => {
    const [first] = ofEvent;
    const deliveries = ofEvent.flatMap((row) => madeTo(own, row));
    return first === undefined ? [] : [{ place: { at: first.at, guid: first.event }, deliveries }];
  });
  return place === undefined
    ? { candidates, isLast: rows.length < limit }
    : { candidates, isLast: false, lookedAt: place };
}

/** A replay makes deliveries for hours (`LARGEST_REPLAY` of them, one a second), though its subscription has ended meanwhile. */
const AFTER_END_MS = 10_800_000;

/** Each account's action once, until nothing was made any more for the last subscription to it. */
export function actionsOf(own: readonly WantedSubscription[]): AccountAction[] {
  const ofOne = Map.groupBy(own, (each) => `${each.account} ${writeAction(each.interface, each.action)}`);
  return [...ofOne].map(([name, each]) => {
    const [account = '', action = ''] = name.split(' ');
    const ends = each.map(({ endedAt }) => endedAt ?? Infinity);
    return { account, action, untilMs: Math.max(...ends) + AFTER_END_MS };
  });
}

function madeTo(
  own: readonly WantedSubscription[],
  { action: written, keys, subscriptions, ...row }: SubscribedRow,
): DeliveryRow[] {
  const { action } = readAction(written);
  return own
    .filter(({ subscription }) => subscriptions.includes(subscription))
    .map((each) => deliveryOf({ ...row, action, keys: keys.map(readKey) }, each));
}

/** Finds deliveries of all accounts, newest first. */
export async function deliveriesOfAll(postgres: Queryable, range: CandidateRange): Promise<Candidates> {
  const { candidates, ...found } = await latestEvents(postgres, range);
  const made = await deliveriesOf(
    postgres,
    candidates.flatMap(({ rows }) => rows),
    'operator',
  );
  const ofEvent = Map.groupBy(made, ({ at, event }) => `${at} ${event}`);
  return {
    ...found,
    candidates: candidates.map(({ place }) => ({ place, deliveries: ofEvent.get(`${place.at} ${place.guid}`) ?? [] })),
  };
}

type EndInVain = { at: number; delivery: string; event: string };

/** The latest failed ends after a place. `$1` to `$4`: since when, the place, and the limit. */
const failedEnds = (where: string): string => `
  select at, delivery, event from delivery_log.attempts a
  where ${where} a.${NOT_DELIVERED} and a.at >= ${time('$1')} - interval '${SKEW_MS} milliseconds'
    and (a.at, a.delivery) < (${time('$2')}, $3::uuid)
  order by a.at desc, a.delivery desc limit $4`;

const FAILED = {
  ofAll: failedEnds(''),
  ofThese: `
    select a.* from unnest($5::uuid[]) as own (subscription)
    cross join lateral (${failedEnds('a.subscription = own.subscription and')}) a`,
};

/**
 * Finds deliveries given up or dropped, by when that was, latest first: to these subscriptions, or to all. Some may not be made before
 * `until`.
 */
export async function failedDeliveries(
  postgres: Queryable,
  own: readonly WantedSubscription[] | 'all',
  { reader, since, before, limit }: CandidateRange & { reader: Reader },
): Promise<Candidates> {
  const of = own === 'all' ? 'ofAll' : 'ofThese';
  const { rows } = await postgres.query<EndInVain>({
    name: `history-in-vain-${of}`,
    text: `select ${ms('a.at')} as at, delivery, event from (${FAILED[of]}) a order by a.at desc, delivery desc limit $4`,
    values: [since, before.at, before.guid, limit, ...(own === 'all' ? [] : [own.map((each) => each.subscription)])],
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
  { about, reader, since, until, before, limit }: CandidateRange & { reader: Reader; about: AskedKey },
): Promise<Candidates> {
  const place = placeBefore(until, before);
  const { rows } = await postgres.query<{ at: number; event: string; times: number }>({
    name: 'history-deliveries-about',
    text: `select ${ms('k.at')} as at, event, times from (${eventsOfKey('$1', '$2', time('$3'), '$4')}) k
           where k.at >= ${time('$5')} order by k.at desc, event desc`,
    values: [numberOfKey(about.key), limit, place.at, place.guid, since],
  });
  const events = (await eventsAt(postgres, rows, reader)).filter((row) => hasKey(row, about));
  const made = Map.groupBy(await deliveriesOf(postgres, events, reader), ({ event, at }) => `${event} ${at}`);
  const candidates = rows.map(({ at, event }) => ({
    place: { at, guid: event },
    deliveries: made.get(`${event} ${at}`) ?? [],
  }));
  return { candidates, isLast: isLastOf(rows, limit) };
}
