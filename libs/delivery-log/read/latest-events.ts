import type { Queryable } from '@waybell/runtime/postgres';
import { time } from '../columns.ts';
import { placeBefore, type Cursor } from './cursor.ts';
import { EVENT, eventRow, type EventRow, type StoredEventRow } from './events.ts';
import type { Found } from './scan-log.ts';

/** Limit of the events that are read and sorted together, unless more have the same millisecond. */
const TOGETHER = 5_000;
/** The first span of time that is looked into, and how much the next one is longer, or shorter if it had too many. */
const FIRST_MS = 1_000;
const TIMES = 4;
/** Limit of the spans that are looked into for one page. */
const SPANS = 40;

type LatestQuery = { since: number; until: number; before: Cursor; limit: number };

/** The rows of an event of one time. */
export type EventRows = { place: Cursor; rows: EventRow[] };

/**
 * Finds events of all accounts that have deliveries, newest first. No index has this order, because every event would pay for it;
 * instead, a summary of each part of a day's table has its range of times. So it reads spans of time, back from the newest, with
 * a bounded number of events each.
 */
export async function latestEvents(
  postgres: Queryable,
  { since, until, before, limit }: LatestQuery,
): Promise<Found<EventRows>> {
  const found: StoredEventRow[] = [];
  let place = placeBefore(until, before);
  let spanMs = FIRST_MS;
  // The start of the last span that had too many: the spans after it are as crowded.
  let crowdedFrom = Infinity;
  for (let spans = 0; spans < SPANS && place.at > since; spans += 1) {
    const from = Math.max(since, Math.min(place.at, Date.now()) - spanMs);
    const count = await countFrom(postgres, from, place);
    if (count === TOGETHER && spanMs > 1) {
      crowdedFrom = from;
      spanMs = Math.max(1, Math.floor(spanMs / TIMES));
      continue;
    }
    if (count > 0) found.push(...(await eventsFrom(postgres, from, place, limit - found.length)));
    if (found.length >= limit) return { candidates: byPlace(found), isLast: false };
    place = placeBefore(from, place);
    if (place.at <= crowdedFrom) spanMs *= TIMES;
  }
  return { candidates: byPlace(found), isLast: place.at <= since, lookedAt: place };
}

/** Counts events up to the limit. */
async function countFrom(postgres: Queryable, from: number, { at }: Cursor): Promise<number> {
  const { rows } = await postgres.query<{ count: number }>(
    `select count(*)::int as count from (
       select from delivery_log.events where at >= ${time('$1')} and at <= ${time('$2')} limit $3
     ) looked_at`,
    [from, at, TOGETHER],
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

/** Its rows come together, in order. */
const byPlace = (found: readonly StoredEventRow[]): EventRows[] =>
  [...Map.groupBy(found, ({ at, event }) => `${at} ${event}`).values()].flatMap((ofEvent) => {
    const [first] = ofEvent;
    return first === undefined ? [] : [{ place: { at: first.at, guid: first.event }, rows: ofEvent.map(eventRow) }];
  });
