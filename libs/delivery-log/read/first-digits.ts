/** Finds deliveries and events by their guids, or the first eight digits of them, as people read them out. */
import type { Queryable } from '@waybell/runtime/postgres';
import { ms } from '../tables.ts';
import { deliveriesOf, eventsOfUnattempted, type DeliveryRow } from './deliveries.ts';
import type { Reader } from './entries.ts';
import { eventByGuid, eventsBefore, type EventRow } from './events.ts';

/** Matches a guid, or its first eight digits. */
export const BEGINNING_PATTERN = '^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12})?$';

const FIRST_GUID = '00000000-0000-0000-0000-000000000000';
const LAST_GUID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/** Limit of the attempts, and of the records of events, that are read. */
const MOST_READ = 200;

/** Returns the first and the last guid that begin so. */
export const guidsBeginning = (beginning: string): [string, string] => [
  beginning + FIRST_GUID.slice(beginning.length),
  beginning + LAST_GUID.slice(beginning.length),
];

/**
 * Reads the primary keys of each day. Guids that begin with a time share their first digits for a minute, so only the account's
 * own events count.
 */
const OF_BEGINNING = `
  select event, ${ms('max(at)')} as at from (
    (select event, at from delivery_log.attempts where delivery >= $1::uuid and delivery <= $2::uuid limit ${MOST_READ})
    union all
    (select event, at from delivery_log.events
     where event >= $1::uuid and event <= $2::uuid and rejected_delivery is null and ($3::uuid is null or account = $3) limit ${MOST_READ})
  ) found group by event`;

/**
 * Finds events whose guids begin so, in lower case, and those of deliveries whose guids do; of a delivery without an attempt only if there
 * is nothing else, for a day, as with its whole guid.
 */
export async function eventsBeginning(postgres: Queryable, beginning: string, reader: Reader): Promise<EventRow[]> {
  const account = reader === 'operator' ? null : reader.account;
  const values = [...guidsBeginning(beginning), account];
  const { rows } = await postgres.query<{ event: string; at: number }>(OF_BEGINNING, values);
  if (rows.length > 0) return eventsBefore(postgres, rows, reader);
  const found: EventRow[] = [];
  for (const event of await eventsOfUnattempted(postgres, beginning))
    found.push(...(await eventByGuid(postgres, event, reader)));
  return found;
}

/** Finds a reader's deliveries whose guids, or whose events', begin so; each once, the newest first. */
export async function deliveriesBeginning(
  postgres: Queryable,
  beginning: string,
  reader: Reader,
): Promise<DeliveryRow[]> {
  const events = await eventsBeginning(postgres, beginning, reader);
  const made = (await deliveriesOf(postgres, events, reader)).filter(
    ({ delivery, event }) => delivery.startsWith(beginning) || event.startsWith(beginning),
  );
  const latest = made.toSorted((one, other) => other.at - one.at || (one.event < other.event ? 1 : -1));
  // An event that was routed again makes the same delivery.
  return [...new Map(latest.toReversed().map((row) => [row.delivery, row])).values()].toReversed();
}
