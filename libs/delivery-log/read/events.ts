import { normalizedKey } from '@waybell/events/event';
import type { Key } from '@waybell/line/outcomes';
import type { Queryable } from '@waybell/runtime/postgres';
import { ms, selected, time, numberOfKey, readAction, readKey, tables, type TableRow } from '../tables.ts';
import { scanLog, type Page, type PageRequest } from './cursor.ts';
import type { Reader } from './entries.ts';

const { part: _, contentType: __, chunk: ___, place: ____, ...LISTED } = tables.events.columns;
/** Selects the columns of an event `e`. */
export const EVENT = selected(LISTED, 'e');

export type StoredEventRow = Pick<TableRow<'events'>, keyof typeof LISTED>;

/** An event's result for one account; its interface is null if a rejected event does not name it. */
export type EventRow = Omit<StoredEventRow, 'keys'> & { keys: Key[] } & ReturnType<typeof readAction>;

export const eventRow = ({ action, keys, ...row }: StoredEventRow): EventRow => ({
  ...row,
  ...readAction(action),
  keys: keys.map(readKey),
});

/** Selects events that a reader may see: an account sees only those that it receives. */
const OF_READER = `($1::uuid is null or (e.account = $1 and starts_with(e.action, $2)))`;

function readerValues(reader: Reader): [string | null, string | null] {
  return reader === 'operator' ? [null, null] : [reader.account, `${reader.interface}.`];
}

/** A key to search for, as `normalizedKey` writes it, and its kind if given. */
export type AskedKey = { key: string; kind?: string | undefined };

/** Whether an event has the key: few numbers of keys are shared, but a key may be one of several kinds. */
export function hasKey({ keys }: Pick<EventRow, 'keys'>, { key, kind }: AskedKey): boolean {
  return keys.some((each) => normalizedKey(each.key) === key && (kind === undefined || each.kind === kind));
}

/** Returns the rows of each record of an event that has a key, newest first. A page may hold few or none without being the last. */
export async function eventsAbout(
  postgres: Queryable,
  { about, reader, ...paging }: { about: AskedKey; reader: Reader } & PageRequest,
): Promise<Page<EventRow[]>> {
  return scanLog({
    ...paging,
    find: async (before, limit) => {
      const { rows } = await postgres.query<StoredEventRow & { placedAt: number; placedEvent: string; times: number }>({
        name: 'history-of-key',
        text: `select ${EVENT}, ${ms('k.at')} as "placedAt", k.event as "placedEvent", k.times from (${eventsOfKey('$3', '$6', time('$4'), '$5')}) k
               left join lateral (${ofPlace('k')}) e on ${OF_READER}
               order by k.at desc, k.event desc, e.part`,
        values: [...readerValues(reader), numberOfKey(about.key), before.at, before.guid, limit],
      });
      const byPlace = Map.groupBy(rows, ({ placedAt, placedEvent }) => `${placedAt} ${placedEvent}`);
      const candidates = [...byPlace.values()].flatMap((ofEvent) => {
        const [first] = ofEvent;
        const found = ofEvent.filter(({ event }) => event !== null).map(eventRow);
        return first === undefined
          ? []
          : [{ place: { at: first.placedAt, guid: first.placedEvent }, times: first.times, found }];
      });
      return { candidates, isLast: isLastOf(candidates, limit) };
    },
    entriesOf: async (candidates) =>
      candidates.map(({ found }) => [
        ...Map.groupBy(
          found.filter((row) => hasKey(row, about)),
          recordOf,
        ).values(),
      ]),
  });
}

/**
 * Builds a query for the events of a key after a place, the newest; each parameter as SQL. `times`: how many rows of the key an
 * event has, one for each of its records of that time. Less than `limit` in all: there are no more.
 */
export const eventsOfKey = (number: string, limit: string, beforeAt: string, beforeEvent: string): string => `
  select at, event, count(*)::int as times from (
    select at, event from delivery_log.keys
    where number = ${number} and (at, event) < (${beforeAt}, ${beforeEvent}::uuid)
    order by at desc, event desc fetch first ${limit} rows with ties
  ) placed group by at, event`;

/** Whether fewer rows of a key were found than asked for. */
export const isLastOf = (found: readonly { times: number }[], limit: number): boolean =>
  found.reduce((sum, { times }) => sum + times, 0) < limit;

/** Builds a query for the rows of an event at a time. `offset 0` keeps Postgres from reading whole days for the join. */
export const ofPlace = (place: string): string =>
  `select * from delivery_log.events m where m.event = ${place}.event and m.at = ${place}.at offset 0`;

/** Finds every record of an event, newest first. */
export async function eventByGuid(postgres: Queryable, event: string, reader: Reader): Promise<EventRow[]> {
  const { rows } = await postgres.query<StoredEventRow>({
    name: 'history-of-event',
    text: `select ${EVENT} from delivery_log.events e where ${OF_READER} and e.event = $3 order by e.at desc, e.part`,
    values: [...readerValues(reader), event],
  });
  return rows.map(eventRow);
}

/** An event near a time, in milliseconds since the epoch: that of an attempt, or of its record. */
export type WantedEvent = { event: string; at: number };

/** Most deliveries end within a day, or two. */
const SOON_MS = 2 * 86_400_000;
/** Limit of the difference of two clocks: each may differ from Postgres' by half a minute. */
export const SKEW_MS = 60_000;

/**
 * Finds the rows of events that caused attempts at these times. Every day is a table, and reading from one may access the disk:
 * so it reads the days before the attempt, and further ones only for events not found there.
 */
export async function eventsBefore(
  postgres: Queryable,
  wanted: readonly WantedEvent[],
  reader: Reader,
): Promise<EventRow[]> {
  const found: EventRow[] = [];
  for (const withinMs of [SOON_MS, Infinity]) {
    const known = new Set(found.map(({ event }) => event));
    const left = wanted.filter(({ event }) => !known.has(event));
    const until = withinMs === Infinity ? Infinity : SKEW_MS;
    found.push(...(await eventsWithin(postgres, left, reader, { withinMs, untilMs: until })));
  }
  return found;
}

/** Finds the rows of these records. */
export const eventsAt = (postgres: Queryable, wanted: readonly WantedEvent[], reader: Reader): Promise<EventRow[]> =>
  eventsWithin(postgres, wanted, reader, { withinMs: 0, untilMs: 0 });

async function eventsWithin(
  postgres: Queryable,
  wanted: readonly WantedEvent[],
  reader: Reader,
  { withinMs, untilMs }: { withinMs: number; untilMs: number },
): Promise<EventRow[]> {
  if (wanted.length === 0) return [];
  // One range for all attempts of an event.
  const ranges = [...Map.groupBy(wanted, ({ event }) => event)].map(([event, of]) => {
    const times = of.map(({ at }) => at);
    return { event, from: Math.min(...times) - withinMs, until: Math.max(...times) + untilMs };
  });
  const { rows } = await postgres.query<StoredEventRow>({
    name: 'history-events-within',
    // `offset 0` keeps Postgres from reading whole days for the join.
    text: `select ${EVENT} from unnest($3::uuid[], $4::float8[], $5::float8[]) as wanted (event, from_ms, until_ms)
           cross join lateral (
             select * from delivery_log.events m
             where m.event = wanted.event and m.at >= ${time('from_ms')} and m.at <= ${time('until_ms')} offset 0
           ) e
           where ${OF_READER} order by e.at desc, e.part`,
    values: [
      ...readerValues(reader),
      ranges.map(({ event }) => event),
      ranges.map(({ from }) => from),
      ranges.map(({ until }) => until),
    ],
  });
  return rows.map(eventRow);
}

type NamedRecord = Pick<EventRow, 'event' | 'at' | 'interface' | 'action'>;

/** Names a record: rows of one event are of one record, however many accounts it is for. */
export const recordOf = ({ event, at, interface: interfaceName, action }: NamedRecord): string =>
  `${event} ${at} ${interfaceName ?? ''}.${action}`;

/** Finds why deliveries of these were rejected; the first reason comes last. */
export async function rejectionsOf(
  postgres: Queryable,
  deliveries: readonly { delivery: string; event: string }[],
): Promise<{ delivery: string; reason: string }[]> {
  if (deliveries.length === 0) return [];
  const { rows } = await postgres.query<{ delivery: string; reason: string }>({
    name: 'history-rejections',
    text: `select e.rejected_delivery as delivery, e.rejected_reason as reason
           from unnest($1::uuid[], $2::uuid[]) as wanted (delivery, event)
           cross join lateral (select * from delivery_log.events where event = wanted.event offset 0) e
           where e.rejected_delivery = wanted.delivery and e.rejected_reason is not null
           order by e.at desc`,
    values: [deliveries.map(({ delivery }) => delivery), deliveries.map(({ event }) => event)],
  });
  return rows;
}
