import type { Queryable } from '@waybell/runtime/postgres';
import {
  deliveriesAbout,
  deliveriesInVain,
  deliveriesOfClient,
  type Candidate,
  type Candidates,
} from './candidates.ts';
import { LATEST, type Cursor, type Page } from './cursor.ts';
import type { ClientReader, DeliveryEntry, DeliveryStatus } from './entries.ts';
import { withAttempts } from './history.ts';
import type { AskedKey } from './events.ts';
import { lookThrough } from './look-through.ts';

/** Filters of deliveries. Times are those at which they were made. */
export type DeliveryFilter = {
  about?: AskedKey | undefined;
  action?: string | undefined;
  status?: DeliveryStatus | undefined;
  /** Why they are not delivered; without a status: why they ended. */
  reason?: string | undefined;
  since?: number | undefined;
  until?: number | undefined;
};

export type DeliveriesQuery = {
  reader: ClientReader;
  filter: DeliveryFilter;
  before?: Cursor | undefined;
  limit: number;
};

/** Before there was anything to record. */
const EARLIEST_MS = 0;

/**
 * Finds deliveries of one API client, newest first; those in vain by when they ended. Only its attempts show a delivery's state,
 * so rare matches must be searched for: a page may hold few or none without being the last.
 */
export async function findDeliveries(
  postgres: Queryable,
  { reader, filter, ...paging }: DeliveriesQuery,
): Promise<Page<DeliveryEntry>> {
  return lookThrough<Candidate, DeliveryEntry>({
    ...paging,
    isRare: filter.status !== undefined || filter.reason !== undefined,
    find: (before, limit) => candidatesFor(postgres, { reader, filter, before, limit }),
    entriesOf: async (candidates) => {
      const told = await withAttempts(
        postgres,
        candidates.flatMap(({ deliveries }) => deliveries),
      );
      let at = 0;
      return candidates.map(({ deliveries, place }) =>
        told.slice(at, (at += deliveries.length)).filter((entry) => isAskedFor(entry, place, filter)),
      );
    },
  });
}

function candidatesFor(
  postgres: Queryable,
  { filter, ...query }: Required<Pick<DeliveriesQuery, 'reader' | 'filter' | 'limit'>> & { before: Cursor },
): Promise<Candidates> {
  const { about, action, since = EARLIEST_MS, until = LATEST.at } = filter;
  const asked = { ...query, action, since, until };
  if (about !== undefined) return deliveriesAbout(postgres, { ...asked, about });
  return isInVain(filter) ? deliveriesInVain(postgres, asked) : deliveriesOfClient(postgres, asked);
}

/** Whether the filter matches only deliveries that ended without success: an index finds those. */
function isInVain({ status, reason }: DeliveryFilter): boolean {
  return status === 'exhausted' || status === 'dropped' || (status === undefined && reason !== undefined);
}

function isAskedFor(entry: DeliveryEntry, place: Cursor, filter: DeliveryFilter): boolean {
  const { about, status, reason, since = EARLIEST_MS, until = LATEST.at } = filter;
  if (status !== undefined && entry.status !== status) return false;
  if (reason !== undefined && entry.why?.reason !== reason) return false;
  if (!isInVain(filter)) return true;
  if (entry.status !== 'exhausted' && entry.status !== 'dropped') return false;
  // Sent again by hand, a delivery may have ended in vain more than once: its place is the last end.
  const isAtItsPlace = about !== undefined || entry.attempts.at(-1)?.at === place.at;
  return isAtItsPlace && entry.at >= since && entry.at < until;
}
