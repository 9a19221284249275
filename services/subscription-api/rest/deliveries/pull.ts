/** Pulling: a client reads its ended deliveries on, in the order of the log, and may wait for the next one. */
import type { Response } from 'express';
import {
  isKept,
  oldestKept,
  placeAt,
  writePlace,
  OLDEST,
  PLACE_PATTERN,
  readPlace,
  type LogPlace,
} from '@waybell/delivery-log/read/commits';
import {
  endedDeliveries,
  END_STATUSES,
  type EndedPage,
  type EndsQuery,
  type EndFilter,
  type EndStatus,
} from '@waybell/delivery-log/read/ends';
import type { ClientReader, DeliveryStatus } from '@waybell/delivery-log/read/entries';
import { isTimestamp, momentOf } from '@waybell/events/timestamp';
import type { Queryable } from '@waybell/runtime/postgres';
import { Problem } from '../http/problem.ts';
import { invalidParameters } from '../http/read-query.ts';
import type { ActingServices } from '../../operations/services.ts';
import { parameter, type QueryOf } from '../../operations/operation.ts';
import { choice, text } from '../../operations/schema.ts';
import type { FilterQuery } from './delivery-filter.ts';

/** The time in it is read as any other. */
const AFTER_PATTERN = String.raw`^oldest$|^[0-9-]{10}[Tt][0-9:.]{8,18}([Zz]|[+-][0-9:]{4,5})$|${PLACE_PATTERN}`;

/** The parameters by which a client reads the log on, beside filters. */
export const pullParameters = {
  after: parameter(
    'Reads the log on in its own order, for reconciling: `oldest`, a time (what is kept from then on), or the `next` of the page before. Beside it go `include`, `wait`, `limit`, `action`, `status` and `reason`.',
    text({
      pattern: AFTER_PATTERN,
      description: '`oldest`, an RFC 3339 timestamp such as 2026-11-20T09:30:00Z, or the `next` of a page before',
      examples: ['oldest', '2026-11-20T00:00:00Z'],
    }),
  ),
  include: parameter('With `after`: what was sent, too.', choice(['body'])),
  wait: parameter(
    'With `after`: how long to wait for something new, where there is nothing.',
    text({ pattern: '^([1-9]|1[0-9]|20)s$', description: 'from 1s to 20s', examples: ['20s'] }),
  ),
};

/** The place from which the log is read on: a place, or a time in milliseconds since the epoch. */
type PullRequest = {
  after: LogPlace | number;
  filter: EndFilter;
  withBodies: boolean;
  waitMs: number;
  limit: number;
};

/**
 * Reads a client's next ended deliveries, in the order of the log; if there are none, waits for some, for as long as requested. Throws a
 * Problem (410) where some may have been dropped.
 */
export async function pullPage(
  {
    database,
    awaiting,
    reader,
    pull,
  }: Pick<ActingServices, 'database' | 'awaiting'> & { reader: ClientReader; pull: PullRequest },
  response: Response,
): Promise<Omit<EndedPage, 'next'> & { next: string }> {
  const { after, waitMs, ...query } = pull;
  const ask = async (from: PullRequest['after']) => {
    const found = await database.askLog((postgres) => pageAfter(postgres, from, { reader, ...query }));
    if ('entries' in found) return found;
    throw noLongerKept(found.oldest);
  };
  let page = await ask(after);
  if (waitMs > 0 && isNothing(page)) {
    const awaited = awaiting.begin(reader, response, waitMs);
    while (isNothing(page) && (await awaited.after(page.next.number))) page = await ask(page.next);
  }
  return { ...page, next: writePlace(page.next) };
}

const isNothing = ({ entries, more }: EndedPage): boolean => entries.length === 0 && !more;

/** Returns a page; or, if not everything after the place is kept, since when something is (`oldest`). */
async function pageAfter(
  postgres: Queryable,
  from: PullRequest['after'],
  query: Omit<EndsQuery, 'after'> & { withBodies: boolean },
): Promise<EndedPage | { oldest: number | undefined }> {
  const after = typeof from === 'number' ? await placeAt(postgres, from) : from;
  if (await isKept(postgres, after)) return endedDeliveries(postgres, { ...query, after });
  return { oldest: await oldestKept(postgres) };
}

function noLongerKept(oldest: number | undefined): Problem {
  const since =
    oldest === undefined ? 'There is nothing' : `There is something from ${new Date(oldest).toISOString()} on`;
  const detail = `Some of what follows this "after" is no longer kept, or the log was restored from a backup. ${since}: go on with "after=oldest", or with a time.`;
  return new Problem('no-longer-kept', detail);
}

/** Parameters of lists, the newest first. */
const OF_LISTS = ['key', 'kind', 'guid', 'subscription', 'endpoint', 'since', 'until', 'cursor'];

/** Throws a Problem (422) that names every parameter that does not go with the others. Undefined without `after`. */
export function pullRequestOf(query: FilterQuery & QueryOf<typeof pullParameters>): PullRequest | undefined {
  const { after, include, wait, action, status, reason, limit } = query;
  const isPull = after !== undefined;
  const wrong = Object.keys(query).filter((name) =>
    isPull ? OF_LISTS.includes(name) : name === 'include' || name === 'wait',
  );
  const faults = wrong.map((named) => ({
    parameter: named,
    detail: isPull ? 'does not go with after' : 'needs after',
  }));
  const unended = status?.find((each) => !isEnd(each));
  if (isPull && unended !== undefined)
    faults.push({
      parameter: 'status',
      detail: `must be one of: ${END_STATUSES.join(', ')}, with after, which "${unended}" is not`,
    });
  if (faults.length > 0) throw invalidParameters(faults);
  if (!isPull) return undefined;
  const filter = { action, statuses: status?.filter(isEnd), reason };
  const waitMs = wait === undefined ? 0 : 1_000 * Number.parseInt(wait, 10);
  return { after: startOf(after), filter, withBodies: include === 'body', waitMs, limit };
}

const isEnd = (status: DeliveryStatus): status is EndStatus => END_STATUSES.some((each) => each === status);

function startOf(after: string): LogPlace | number {
  if (after === 'oldest') return OLDEST;
  if (new RegExp(PLACE_PATTERN).test(after)) return readPlace(after);
  if (isTimestamp(after)) return momentOf(after);
  throw invalidParameters([
    { parameter: 'after', detail: 'is a time that there is not; the + of an offset is written %2B' },
  ]);
}
