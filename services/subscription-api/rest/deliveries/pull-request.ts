import { OLDEST, PLACE_PATTERN, readPlace, type LogPlace } from '@waybell/delivery-log/read/commits';
import { END_STATUSES, type EndFilter, type EndStatus } from '@waybell/delivery-log/read/ends';
import type { DeliveryStatus } from '@waybell/delivery-log/read/entries';
import { isTimestamp, momentOf } from '@waybell/events/timestamp';
import { invalidParameters } from '../http/read-query.ts';

/** Parameters of a request that reads the log on. */
export type PullQuery = {
  limit: number;
  after?: string;
  include?: 'body';
  wait?: string;
  action?: string;
  status?: DeliveryStatus[];
  reason?: string;
};

/** The place from which the log is read on: a place, or a time in milliseconds since the epoch. */
export type PullRequest = {
  after: LogPlace | number;
  filter: EndFilter;
  withBodies: boolean;
  waitMs: number;
  limit: number;
};

/** Parameters of lists, the newest first. */
const OF_LISTS = ['key', 'kind', 'guid', 'subscription', 'endpoint', 'since', 'until', 'cursor'];

/** Throws a Problem (422) that names every parameter that does not go with the others. Undefined without `after`. */
export function pullRequestOf(query: PullQuery): PullRequest | undefined {
  const { after, include, wait, action, status, reason, limit } = query;
  const isPull = after !== undefined;
  const wrong = Object.keys(query).filter((name) =>
    isPull ? OF_LISTS.includes(name) : name === 'include' || name === 'wait',
  );
  const faults = wrong.map((parameter) => ({ parameter, detail: isPull ? 'does not go with after' : 'needs after' }));
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
