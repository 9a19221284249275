/**
 * Ends of a client's deliveries, in the order in which the log stored them: a client reads them on, page by page, to compare what
 * was sent with what it has.
 */
import type { Queryable } from '@waybell/runtime/postgres';
import { ms, time, DELIVERED_OR_RETRIED, NOT_DELIVERED } from '../tables.ts';
import { bodiesWithin, bodyPlacesOf } from './bodies.ts';
import { commitsAfter, type CommitRow, type EndKey, type LogPlace } from './commits.ts';
import type { ClientReader, DeliveryEntry } from './entries.ts';
import { eventsBefore } from './events.ts';
import { withAttempts } from './history.ts';

/** How a delivery ends. */
export const END_STATUSES = ['delivered', 'exhausted', 'dropped'] as const;

export type EndStatus = (typeof END_STATUSES)[number];

/** Filters of ends. */
export type EndFilter = {
  action?: string | undefined;
  statuses?: readonly EndStatus[] | undefined;
  reason?: string | undefined;
};

export type EndsQuery = { reader: ClientReader; filter: EndFilter; after: LogPlace; limit: number };

/** A delivery as it stands, at the place of an end of it. `body`: null if it is not kept; absent if not asked for. */
export type EndedDelivery = DeliveryEntry & { endedAt: number; body?: string | null };

export type EndedPage = { entries: EndedDelivery[]; next: LogPlace; more: boolean };

/** Limit of the bodies of a page together, unless its first alone has more. */
const PAGE_BYTES = 2 ** 21;

/**
 * Returns a page of a client's deliveries that ended, each at its end: every end once, in the order of the log, whatever is
 * written meanwhile. A delivery that ends a second time, by hand, is listed twice.
 */
export async function endedDeliveries(
  postgres: Queryable,
  { withBodies, ...query }: EndsQuery & { withBodies: boolean },
): Promise<EndedPage> {
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

/** How a delivery ended: once more if it was sent by hand afterwards, or twice by a crash. `place`: of a body written with it. */
type EndRow = EndKey & {
  number: number;
  event: string;
  subscription: string;
  action: string;
  chunk: string;
  place: number | null;
};

/** `next`: everything before it was read. `more`: not everything was read. */
type Ends = { rows: EndRow[]; next: LogPlace; more: boolean };

/** Numbers of commits that are read together: at first, and at most; and by what the number grows. */
const TOGETHER = { first: 4, times: 4, most: 10_000 };
/** Limit of the commits that are read for one request. */
const MOST_COMMITS = 50_000;

/**
 * Finds a client's ends after a place, in the order of the log. Reads a bounded number of commits: it may find none, and `more`.
 */
async function endsAfter(postgres: Queryable, { limit, ...query }: EndsQuery): Promise<Ends> {
  const rows: EndRow[] = [];
  let { after } = query;
  let together = TOGETHER.first;
  for (let read = 0; read < MOST_COMMITS; read += together) {
    if (read > 0) together = Math.min(together * TOGETHER.times, TOGETHER.most);
    const commits = await commitsAfter(postgres, after, together);
    rows.push(...(await endsIn(postgres, commits, { ...query, after, limit: limit - rows.length })));
    const last = rows.at(-1);
    if (last !== undefined && rows.length === limit) return { rows, next: logPlaceOf(last), more: true };
    after = commits.at(-1) ?? after;
    if (commits.length < together) return { rows, next: after, more: false };
  }
  return { rows, next: after, more: true };
}

/** The place after an end. */
const logPlaceOf = ({ number, chunk, delivery, at, attempt }: EndRow): LogPlace => ({
  number,
  chunk,
  within: { delivery, at, attempt },
});

/** Before every end of a commit. */
const FIRST: EndKey = { delivery: '00000000-0000-0000-0000-000000000000', at: 0, attempt: 0 };

async function endsIn(
  postgres: Queryable,
  commits: readonly CommitRow[],
  { reader, filter, after: { number, within = FIRST }, limit }: EndsQuery,
): Promise<EndRow[]> {
  if (commits.length === 0) return [];
  const { action = null, statuses = null, reason = null } = filter;
  const { delivery, at, attempt } = within;
  const { rows } = await postgres.query<EndRow>({
    name: 'ends-in-commits',
    text: `select number::float8 as number, chunk, place, delivery, ${ms('at')} as at, attempt, event, subscription, action
           from (${ENDS}) e
           where ($8::text is null or action = $8) and ($9::text[] is null or kind = any ($9))
             and ($10::text is null or (reason = $10 and kind <> 'delivered'))
             and (number, delivery, at, attempt) > ($11::bigint, $12::uuid, ${time('$13')}, $14::int)
           order by e.number, delivery, e.at, attempt limit $15`,
    values: [...valuesOf([reader], commits), action, statuses, reason, number, delivery, at, attempt, limit],
  });
  return rows;
}

/** Returns which of these clients have ends in commits beyond their numbers, by their places. */
export async function readersOf(
  postgres: Queryable,
  commits: readonly CommitRow[],
  waiting: readonly { reader: ClientReader; number: number }[],
): Promise<Set<number>> {
  if (commits.length === 0) return new Set();
  const { rows } = await postgres.query<{ reader: number }>({
    name: 'readers-of-commits',
    text: `select distinct reader from (${ENDS}) e where number > ($8::bigint[])[reader + 1]`,
    values: [
      ...valuesOf(
        waiting.map(({ reader }) => reader),
        commits,
      ),
      waiting.map(({ number }) => number),
    ],
  });
  return new Set(rows.map(({ reader }) => reader));
}

/** Ends of several clients, by their places, in commits. Leaves out tests: no event happened. */
const ENDS = `
  select own.reader, own.action, c.number, a.* from (
    select reader.place::int - 1 as reader, s.guid, s.action
    from unnest($1::uuid[], $2::text[], $3::text[]) with ordinality as reader (account, client, interface, place)
    join waybell.subscriptions s
      on s.account_guid = reader.account and s.client_id = reader.client and s.interface = reader.interface
  ) own
  cross join unnest($4::float8[], $5::float8[]) as span (from_ms, until_ms)
  cross join lateral (
    select * from delivery_log.attempts
    where subscription = own.guid and ${NOT_DELIVERED} and at >= ${time('from_ms')} and at <= ${time('until_ms')}
    union all
    select * from delivery_log.attempts
    where subscription = own.guid and ${DELIVERED_OR_RETRIED} and kind = 'delivered'
      and at >= ${time('from_ms')} and at <= ${time('until_ms')}
  ) a
  join unnest($6::bigint[], $7::bigint[]) as c (number, chunk) on c.chunk = a.chunk
  where a.by_hand is distinct from 'test'`;

const valuesOf = (readers: readonly ClientReader[], commits: readonly CommitRow[]): unknown[] => {
  const spans = spansOf(commits);
  return [
    readers.map(({ account }) => account),
    readers.map(({ client }) => client),
    readers.map((reader) => reader.interface),
    spans.map(({ firstAt }) => firstAt),
    spans.map(({ lastAt }) => lastAt),
    commits.map(({ number }) => number),
    commits.map(({ chunk }) => chunk),
  ];
};

type Span = Pick<CommitRow, 'firstAt' | 'lastAt'>;

/** A shorter gap between two spans is read as part of them. */
const NEAR_MS = 10_000;

/** The times of commits, of which many overlap, as few spans. */
function spansOf(commits: readonly CommitRow[]): Span[] {
  const spans: Span[] = [];
  for (const { firstAt, lastAt } of commits.toSorted((one, other) => one.firstAt - other.firstAt)) {
    const last = spans.at(-1);
    if (last !== undefined && firstAt <= last.lastAt + NEAR_MS) last.lastAt = Math.max(last.lastAt, lastAt);
    else spans.push({ firstAt, lastAt });
  }
  return spans;
}
