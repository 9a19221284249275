/**
 * Lists deliveries sent to a client, for comparison with what the client has, in the order in which the log stored their ends.
 */
import type { Queryable } from '@waybell/runtime/postgres';
import { bodiesWithin, bodyPlacesOf } from './bodies.ts';
import type { LogPlace } from './commits.ts';
import { endsAfter, logPlaceOf, type EndFilter, type EndRow, type EndsQuery } from './ends.ts';
import type { ClientReader, DeliveryEntry } from './entries.ts';
import { eventsBefore } from './events.ts';
import { withAttempts } from './history.ts';

/** A delivery as it stands, at the place of an end of it. `body`: null if it is not kept; absent if not asked for. */
export type EndedDelivery = DeliveryEntry & { endedAt: number; body?: string | null };

export type EndedQuery = EndsQuery & { withBodies: boolean };

export type EndedPage = { entries: EndedDelivery[]; next: LogPlace; more: boolean };

/** Limit of the bodies of a page together, unless its first alone has more. */
export const PAGE_BYTES = 2 ** 21;

/**
 * Returns a page of a client's deliveries that ended, each at its end: every end once, in the order of the log, whatever is
 * written meanwhile. A delivery that ends a second time, by hand, is listed twice.
 */
export async function endedDeliveries(postgres: Queryable, { withBodies, ...query }: EndedQuery): Promise<EndedPage> {
  const { rows, ...found } = await endsAfter(postgres, query);
  const { reader, filter } = query;
  if (!withBodies) return { ...found, entries: await entriesOf(postgres, rows, reader, filter) };
  const bodies = await bodiesWithin(postgres, await bodyPlacesOf(postgres, rows), PAGE_BYTES);
  const kept = rows.slice(0, bodies.length);
  const entries = await entriesOf(postgres, kept, reader, filter, bodies);
  const last = kept.at(-1);
  return last === undefined || kept.length === rows.length
    ? { ...found, entries }
    : { entries, next: logPlaceOf(last), more: true };
}

async function entriesOf(
  postgres: Queryable,
  ends: readonly EndRow[],
  reader: ClientReader,
  { statuses, reason }: EndFilter,
  bodies?: readonly (string | null)[],
): Promise<EndedDelivery[]> {
  // The log may have its event later, or not any more.
  const events = Map.groupBy(await eventsBefore(postgres, ends, reader), ({ event }) => event);
  const rows = ends.map(({ at, event, ...end }) => {
    const found = events.get(event) ?? [];
    const made = found.length > 0 ? found.map((row) => row.at) : [at];
    return { ...end, ...reader, event, keys: found[0]?.keys ?? [], at: Math.min(...made) };
  });
  const entries = (await withAttempts(postgres, rows)).map((entry, place) => ({
    ...entry,
    endedAt: ends[place]?.at ?? entry.at,
    ...(bodies !== undefined && { body: bodies[place] ?? null }),
  }));
  return entries.filter(
    (entry) =>
      (statuses?.some((each) => each === entry.status) ?? true) && (reason ?? entry.why?.reason) === entry.why?.reason,
  );
}
