import type { Queryable } from '@waybell/runtime/postgres';
import { ownerOf, type ListenerOption } from '../listener-client.ts';
import {
  actionsOf,
  deliveriesAbout,
  failedDeliveries,
  deliveriesOfAll,
  deliveriesTo,
  type Candidate,
  type CandidateRange,
  type Candidates,
} from './candidates.ts';
import { LATEST, scanLog, type Cursor, type Page, type PageRequest } from './cursor.ts';
import type { DeliveryRow } from './deliveries.ts';
import type { DeliveryEntry, DeliveryStatus, Reader } from './entries.ts';
import type { AskedKey } from './events.ts';
import { deliveriesBeginning } from './first-digits.ts';
import { withAttempts } from './history.ts';
import { thoseAtEndpoint, wantedSubscriptions, type EndpointFilter, type WantedSubscription } from './subscriptions.ts';

/** Filters of deliveries. Times are those at which they were made. */
export type DeliveryFilter = {
  about?: AskedKey | undefined;
  /** The guid of a delivery or of its event, or the first eight digits of it, in lower case. */
  guid?: string | undefined;
  action?: string | undefined;
  /** One of these. */
  statuses?: readonly DeliveryStatus[] | undefined;
  /** Why they are not delivered; without a status: why they ended. */
  reason?: string | undefined;
  subscription?: string | undefined;
  /** The current endpoint of their subscriptions. */
  endpoint?: EndpointFilter | undefined;
  since?: number | undefined;
  until?: number | undefined;
  /** For operators; clients find their own. */
  account?: string | undefined;
  client?: string | undefined;
};

/** `withListeners`: set for operators who ask to see listeners too. */
export type DeliveriesQuery = PageRequest & ListenerOption & { reader: Reader; filter: DeliveryFilter };

/** Before there was anything to record. */
const EARLIEST_MS = 0;

/**
 * Limit of the subscriptions, and of the actions of accounts, that an operator's query reads one by one. Beyond it, the
 * deliveries of all are searched.
 */
const ONE_BY_ONE = 500;

/**
 * Finds deliveries of one API client, or of all, newest first; failed ones by when they ended. Only its attempts show a
 * delivery's state, so rare matches must be searched for: a page may hold few or none without being the last.
 */
export async function findDeliveries(
  postgres: Queryable,
  { reader, filter, withListeners = false, ...paging }: DeliveriesQuery,
): Promise<Page<DeliveryEntry>> {
  const find = await finderOf(postgres, { reader, filter, withListeners });
  return scanLog<Candidate, DeliveryEntry>({
    ...paging,
    isRare: isRare(reader, filter),
    find,
    entriesOf: async (candidates) => {
      const wanted = await matchingOf(postgres, candidates, { reader, filter, withListeners });
      const entries = await withAttempts(postgres, wanted.flat());
      let at = 0;
      return candidates.map(({ place }, index) => {
        const count = wanted[index]?.length ?? 0;
        return entries.slice(at, (at += count)).filter((entry) => isAskedFor(entry, place, filter));
      });
    },
  });
}

type Finding = { reader: Reader; filter: DeliveryFilter; withListeners: boolean };

type Find = (before: Cursor, limit: number) => Promise<Candidates>;

/** Chooses the shortest way to all that may match. */
async function finderOf(postgres: Queryable, { reader, filter, withListeners }: Finding): Promise<Find> {
  const { about, guid, since = EARLIEST_MS, until = LATEST.at } = filter;
  const rangeOf = (before: Cursor, limit: number): CandidateRange => ({ since, until, before, limit });
  if (guid !== undefined) return (before) => candidatesBeginning(postgres, guid, { reader, before });
  if (about !== undefined)
    return (before, limit) => deliveriesAbout(postgres, { ...rangeOf(before, limit), reader, about });
  const wanted = await wantedOf(postgres, { reader, filter, withListeners });
  if (isOfFailed(filter))
    return (before, limit) => failedDeliveries(postgres, wanted, { ...rangeOf(before, limit), reader });
  return (before, limit) =>
    wanted === 'all'
      ? deliveriesOfAll(postgres, rangeOf(before, limit))
      : deliveriesTo(postgres, wanted, rangeOf(before, limit));
}

/** Limit of the subscriptions that are read for an operator's query. */
const MOST_WANTED = 5_000;

/** Returns the wanted subscriptions; `all`: no filter, or too many to read one by one. */
async function wantedOf(
  postgres: Queryable,
  { reader, filter, withListeners }: Finding,
): Promise<WantedSubscription[] | 'all'> {
  const { account, client, action, subscription, endpoint } = filter;
  const asked = { action, subscription, endpoint };
  if (reader !== 'operator') {
    const { account: owner, client: name, interface: interfaceName } = reader;
    return wantedSubscriptions(postgres, { ...asked, account: owner, client: name, interface: interfaceName });
  }
  if ((account ?? subscription ?? endpoint) === undefined) return 'all';
  const found = await wantedSubscriptions(postgres, { ...asked, account, client, withListeners }, MOST_WANTED + 1);
  const reads = isOfFailed(filter) ? found.length : actionsOf(found).length;
  return found.length > MOST_WANTED || reads > ONE_BY_ONE ? 'all' : found;
}

async function candidatesBeginning(
  postgres: Queryable,
  guid: string,
  { reader, before }: { reader: Reader; before: Cursor },
): Promise<Candidates> {
  const found = Map.groupBy(await deliveriesBeginning(postgres, guid, reader), ({ at, event }) => `${at} ${event}`);
  const candidates = [...found.values()].flatMap((deliveries) => {
    const [first] = deliveries;
    return first === undefined ? [] : [{ place: { at: first.at, guid: first.event }, deliveries }];
  });
  const isAfter = ({ place: { at, guid: event } }: Candidate) =>
    at < before.at || (at === before.at && event < before.guid);
  return { candidates: candidates.filter(isAfter), isLast: true };
}

/** Returns the wanted deliveries of each candidate, as far as that can be decided without their attempts. */
async function matchingOf(
  postgres: Queryable,
  candidates: readonly Candidate[],
  { reader, filter, withListeners }: Finding,
): Promise<DeliveryRow[][]> {
  const { action, subscription, endpoint, account, client } = filter;
  const isMeant = (row: DeliveryRow) =>
    (action ?? row.action) === row.action &&
    (subscription ?? row.subscription) === row.subscription &&
    (account ?? row.account) === row.account &&
    (client ?? row.client) === row.client &&
    (reader !== 'operator' || withListeners || client !== undefined || ownerOf(row.client) === row.client);
  const meant = candidates.map(({ deliveries }) => deliveries.filter(isMeant));
  if (endpoint === undefined) return meant;
  const subscriptions = meant.flat().map((row) => row.subscription);
  const atEndpoint = await thoseAtEndpoint(postgres, subscriptions, endpoint);
  return meant.map((rows) => rows.filter((row) => atEndpoint.has(row.subscription)));
}

/** Whether few of the deliveries that are read may match. */
function isRare(reader: Reader, { statuses, reason, about, endpoint, ...filter }: DeliveryFilter): boolean {
  if (statuses !== undefined || reason !== undefined) return true;
  if (about !== undefined) return endpoint !== undefined || filter.subscription !== undefined;
  return reader === 'operator' && (filter.client !== undefined || filter.action !== undefined);
}

const NOT_DELIVERED: readonly DeliveryStatus[] = ['exhausted', 'dropped'];

/** Whether the filter matches only deliveries that ended without success: an index finds those. */
function isOfFailed({ statuses, reason }: DeliveryFilter): boolean {
  return statuses === undefined ? reason !== undefined : statuses.every((each) => NOT_DELIVERED.includes(each));
}

function isAskedFor(entry: DeliveryEntry, place: Cursor, filter: DeliveryFilter): boolean {
  const { about, guid, statuses, reason, since = EARLIEST_MS, until = LATEST.at } = filter;
  if (statuses !== undefined && !statuses.includes(entry.status)) return false;
  if (reason !== undefined && entry.why?.reason !== reason) return false;
  if (guid !== undefined) return entry.at >= since && entry.at < until;
  if (!isOfFailed(filter)) return true;
  if (!NOT_DELIVERED.includes(entry.status)) return false;
  // Sent again by hand, a delivery may have failed more than once: its place is the last end.
  const isAtItsPlace = about !== undefined || entry.attempts.at(-1)?.at === place.at;
  return isAtItsPlace && entry.at >= since && entry.at < until;
}
