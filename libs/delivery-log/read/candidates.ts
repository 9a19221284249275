import type { Queryable } from '@waybell/runtime/postgres';
import { ms, time, NOT_DELIVERED, numberOfKey, readAction, readKey, writeAction, partOf } from '../tables.ts';
import { LATEST, placeBefore, scanLog, type Cursor, type Found } from './cursor.ts';
import { deliveriesOf, deliveryOf, type DeliveryRow } from './deliveries.ts';
import type { Reader } from './entries.ts';
import {
  eventsAt,
  eventsBefore,
  eventsOfKey,
  hasKey,
  isLastOf,
  SKEW_MS,
  EVENT,
  eventRow,
  type AskedKey,
  type EventRow,
  type StoredEventRow,
} from './events.ts';
import type { WantedSubscription } from './subscriptions.ts';

/** One place in the order of a search, and the deliveries there, which may match. */
export type Candidate = { place: Cursor; deliveries: DeliveryRow[] };

/** A range of creation times, in milliseconds since the epoch, `until` exclusive; only entries after the place `before`. */
export type CandidateRange = { since: number; until: number; before: Cursor; limit: number };

export type Candidates = Found<Candidate>;

/** Finds the latest deliveries to these subscriptions, newest first. */
export async function latestDeliveries(
  postgres: Queryable,
  wanted: readonly WantedSubscription[],
  limit: number,
): Promise<DeliveryRow[]> {
  const { entries } = await scanLog<Candidate, DeliveryRow>({
    limit,
    mayExceed: true,
    find: (before, most) => deliveriesTo(postgres, wanted, { since: 0, until: LATEST.at, before, limit: most }),
    entriesOf: async (candidates) => candidates.map(({ deliveries }) => deliveries),
  });
  return entries.slice(0, limit);
}

/** Finds deliveries to these subscriptions, newest first. */
export async function deliveriesTo(
  postgres: Queryable,
  wanted: readonly WantedSubscription[],
  { since, until, before, limit }: CandidateRange,
): Promise<Candidates> {
  const of = actionsOf(wanted);
  const subscriptions = wanted.map(({ subscription }) => subscription);
  const { rows, place } = await eventsOfActions(postgres, { of, subscriptions, since, until, before, limit });
  const candidates = [...Map.groupBy(rows, ({ at, event }) => `${at} ${event}`).values()].flatMap((ofEvent) => {
    const [first] = ofEvent;
    const deliveries = ofEvent.flatMap((row) => madeTo(wanted, row));
    return first === undefined ? [] : [{ place: { at: first.at, guid: first.event }, deliveries }];
  });
  return place === undefined
    ? { candidates, isLast: rows.length < limit }
    : { candidates, isLast: false, readTo: place };
}

/** A replay makes deliveries for hours (`LARGEST_REPLAY` of them, one a second), though its subscription has ended meanwhile. */
const AFTER_END_MS = 10_800_000;

/** Each account's action once, until nothing was made any more for the last subscription to it. */
export function actionsOf(wanted: readonly WantedSubscription[]): AccountAction[] {
  const ofOne = Map.groupBy(wanted, (each) => `${each.account} ${writeAction(each.interface, each.action)}`);
  return [...ofOne].map(([name, each]) => {
    const [account = '', action = ''] = name.split(' ');
    const ends = each.map(({ endedAt }) => endedAt ?? Infinity);
    return { account, action, untilMs: Math.max(...ends) + AFTER_END_MS };
  });
}

function madeTo(
  wanted: readonly WantedSubscription[],
  { action: written, keys, subscriptions, ...row }: SubscribedRow,
): DeliveryRow[] {
  const { action } = readAction(written);
  return wanted
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

type FailedEnd = { at: number; delivery: string; event: string };

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
  wanted: readonly WantedSubscription[] | 'all',
  { reader, since, before, limit }: CandidateRange & { reader: Reader },
): Promise<Candidates> {
  const of = wanted === 'all' ? 'ofAll' : 'ofThese';
  const { rows } = await postgres.query<FailedEnd>({
    name: `history-in-vain-${of}`,
    text: `select ${ms('a.at')} as at, delivery, event from (${FAILED[of]}) a order by a.at desc, delivery desc limit $4`,
    values: [
      since,
      before.at,
      before.guid,
      limit,
      ...(wanted === 'all' ? [] : [wanted.map((each) => each.subscription)]),
    ],
  });
  // The first record of an event makes its deliveries. The log may not have that one any more, or not yet.
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

/** An event's row for an account that has some subscriptions to an action. */
type SubscribedRow = {
  at: number;
  event: string;
  account: string;
  action: string;
  /** Keys as `writeKey` writes them. */
  keys: string[];
  subscriptions: string[];
};

/** An account's action, as `writeAction` writes it, and the time from which on nothing is of interest. */
type AccountAction = { account: string; action: string; untilMs: number };

type SubscribedQuery = CandidateRange & { of: readonly AccountAction[]; subscriptions: readonly string[] };

/** Limit of the events of one action that are read together, however few deliveries a subscription has among them. */
const MOST_SCANNED = 5_000;

/** The events of each action after its place. */
const OF_ACTION = `
  select at, event, account, action, keys, subscriptions from delivery_log.events e
  where e.part = asked.part and e.at >= ${time('$5')} and (e.at, e.event) < (${time('asked.before_ms')}, asked.before_event)
  order by e.at desc, e.event desc`;
// For a range between two bounds that it does not know, Postgres expects few rows, and would read all to sort them.
const ASKED =
  'unnest($1::uuid[], $2::bigint[], $3::float8[], $4::uuid[]) as asked (account, part, before_ms, before_event)';

/**
 * Finds events of accounts' actions that caused deliveries to some subscriptions, newest first, with those of the subscriptions.
 * Rows of the same event and time come together, even beyond the limit. `place`: nothing after it was read.
 */
async function eventsOfActions(
  postgres: Queryable,
  { of, subscriptions, since, until, before, limit }: SubscribedQuery,
): Promise<{ rows: SubscribedRow[]; place?: Cursor }> {
  const places = of.map(({ untilMs }) => placeBefore(Math.min(until, untilMs), before));
  const asked = [
    of.map(({ account }) => account),
    of.map(({ account, action }) => partOf(account, action)),
    places.map(({ at }) => at),
    places.map(({ guid }) => guid),
    since,
  ];
  const { rows } = await postgres.query<SubscribedRow>({
    name: 'history-of-actions',
    text: `select ${ms('e.at')} as at, e.event, e.account, e.action, e.keys,
             array(select s from unnest(e.subscriptions) s where s = any ($6::uuid[])) as subscriptions
           from ${ASKED}
           cross join lateral (
             select * from (${OF_ACTION} limit ${MOST_SCANNED}) e where e.subscriptions && $6 and e.account = asked.account
             order by e.at desc, e.event desc fetch first $7 rows with ties
           ) e
           order by e.at desc, e.event desc fetch first $7 rows with ties`,
    values: [...asked, subscriptions, limit],
  });
  if (rows.length >= limit) return { rows };
  const { rows: bounds } = await postgres.query<Cursor>({
    name: 'history-of-actions-scanned',
    text: `select ${ms('e.at')} as at, e.event as guid from ${ASKED}
           cross join lateral (${OF_ACTION} offset ${MOST_SCANNED - 1} limit 1) e
           order by e.at desc, e.event desc limit 1`,
    values: asked,
  });
  const [place] = bounds;
  if (place === undefined) return { rows };
  const isBefore = ({ at, event }: SubscribedRow) => at > place.at || (at === place.at && event >= place.guid);
  return { rows: rows.filter(isBefore), place };
}

/** Limit of the events that are read and sorted together, unless more have the same millisecond. */
const MOST_SORTED = 5_000;
/** The first span of time that is read; the next one is longer by this factor, or shorter if it had too many. */
const FIRST_SPAN_MS = 1_000;
const FACTOR = 4;
/** Limit of the spans that are read for one page. */
const MOST_SPANS = 40;

/** The rows of an event of one time. */
type EventRows = { place: Cursor; rows: EventRow[] };

/**
 * Finds events of all accounts that have deliveries, newest first. No index has this order, because every event would pay for it;
 * instead, a summary of each part of a day's table has its range of times. So it reads spans of time, back from the newest, with
 * a bounded number of events each.
 */
async function latestEvents(
  postgres: Queryable,
  { since, until, before, limit }: CandidateRange,
): Promise<Found<EventRows>> {
  const found: StoredEventRow[] = [];
  let place = placeBefore(until, before);
  let spanMs = FIRST_SPAN_MS;
  // The start of the last span that had too many: the spans after it are as crowded.
  let crowdedFrom = Infinity;
  for (let spans = 0; spans < MOST_SPANS && place.at > since; spans += 1) {
    const from = Math.max(since, Math.min(place.at, Date.now()) - spanMs);
    const count = await countFrom(postgres, from, place);
    if (count === MOST_SORTED && spanMs > 1) {
      crowdedFrom = from;
      spanMs = Math.max(1, Math.floor(spanMs / FACTOR));
      continue;
    }
    if (count > 0) found.push(...(await eventsFrom(postgres, from, place, limit - found.length)));
    if (found.length >= limit) return { candidates: byPlace(found), isLast: false };
    place = placeBefore(from, place);
    if (place.at <= crowdedFrom) spanMs *= FACTOR;
  }
  return { candidates: byPlace(found), isLast: place.at <= since, readTo: place };
}

/** Counts events up to the limit. */
async function countFrom(postgres: Queryable, from: number, { at }: Cursor): Promise<number> {
  const { rows } = await postgres.query<{ count: number }>(
    `select count(*)::int as count from (
       select from delivery_log.events where at >= ${time('$1')} and at <= ${time('$2')} limit $3
     ) counted`,
    [from, at, MOST_SORTED],
  );
  return rows[0]?.count ?? 0;
}

async function eventsFrom(postgres: Queryable, from: number, before: Cursor, limit: number): Promise<StoredEventRow[]> {
  const { rows } = await postgres.query<StoredEventRow>(
    `select ${EVENT} from delivery_log.events e
     where e.at >= ${time('$1')} and (e.at, e.event) < (${time('$2')}, $3::uuid) and e.subscriptions is not null
     order by e.at desc, e.event desc fetch first $4 rows with ties`,
    [from, before.at, before.guid, limit],
  );
  return rows;
}

/** Groups the rows of each event, in order. */
const byPlace = (found: readonly StoredEventRow[]): EventRows[] =>
  [...Map.groupBy(found, ({ at, event }) => `${at} ${event}`).values()].flatMap((ofEvent) => {
    const [first] = ofEvent;
    return first === undefined ? [] : [{ place: { at: first.at, guid: first.event }, rows: ofEvent.map(eventRow) }];
  });
