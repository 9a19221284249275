/** Reads what happens to clients now: attempts, events without a delivery, and notices for the platform. */
import {
  ms,
  time,
  DELIVERED_OR_RETRIED,
  NOT_DELIVERED,
  partOf,
  writeAction,
  type AttemptRow,
} from '@waybell/delivery-log/tables';
import { attemptColumns } from '@waybell/delivery-log/read/attempts';
import type { AttemptEntry, ClientReader, EventEntry, SuppressedVerdict } from '@waybell/delivery-log/read/entries';
import { eventsAt, eventsBefore } from '@waybell/delivery-log/read/events';
import { attemptEntry, eventEntry, explainNoSubscription } from '@waybell/delivery-log/read/history';
import { noticeAsJson, type OperationsNotice } from '@waybell/line/operations-notice';
import type { Key } from '@waybell/line/outcomes';
import type { Queryable } from '@waybell/runtime/postgres';

/** Something that happened, at a time in milliseconds since the epoch. The same record always has the same key. */
export type LiveEntry = { key: string; at: number } & (
  | {
      kind: 'attempt';
      delivery: string;
      event: string;
      action: string;
      /** Keys of the event's objects; empty if the log does not have them. */
      keys: readonly Key[];
      subscription: string;
      callbackUrl: string;
      attempt: AttemptEntry;
    }
  | { kind: 'suppressed'; event: EventEntry; verdict: SuppressedVerdict }
  | { kind: 'notice'; notice: OperationsNotice }
);

/** One client's query: from when on its streams lack entries, and which keys they know. `actions`: those of its interface. */
export type LiveQuery = {
  reader: ClientReader;
  actions: readonly string[];
  fromMs: number;
  isKnown: (key: string) => boolean;
};

/** The entries of a key; none if its event was delivered. */
export type KeyEntries = { key: string; at: number; entries: LiveEntry[] };

/** `unreadBefore`: one read did not cover everything, and entries before this time may be missing. */
export type LiveFound = { keys: KeyEntries[]; unreadBefore?: number };

/** Returns the latest entries for each query, except those whose keys are known. `most`: limit of rows of each kind, the newest. */
export async function latestOf(postgres: Queryable, queries: readonly LiveQuery[], most: number): Promise<LiveFound[]> {
  const attempts = Map.groupBy(await latestAttempts(postgres, queries, most), ({ query }) => query);
  const events = Map.groupBy(await latestEvents(postgres, queries, most), ({ query }) => query);
  const notices = Map.groupBy(await latestNotices(postgres, queries, most), ({ query }) => query);
  const found: LiveFound[] = [];
  for (const [place, query] of queries.entries()) {
    const rows = {
      attempts: attempts.get(place) ?? [],
      events: events.get(place) ?? [],
      notices: notices.get(place) ?? [],
    };
    const unread = [rows.attempts, rows.events, rows.notices].flatMap((each) =>
      each.length < most ? [] : [each.at(-1)?.at ?? 0],
    );
    const keys = [
      ...(await attemptEntries(postgres, rows.attempts, query)),
      ...(await suppressionEntries(postgres, rows.events, query)),
      ...rows.notices.map(noticeEntries).filter(({ key }) => !query.isKnown(key)),
    ];
    found.push({ keys, ...(unread.length > 0 && { unreadBefore: Math.max(...unread) }) });
  }
  return found;
}

/** A row; `query`: the place of the query that it is for. */
type OfQuery<R> = R & { query: number };
type AttemptFound = OfQuery<AttemptRow & { action: string; callbackUrl: string }>;
type EventFound = OfQuery<{ event: string; at: number; isMade: boolean }>;
type NoticeFound = OfQuery<{ at: number; notice: OperationsNotice }>;

const valuesOf = (queries: readonly LiveQuery[]): unknown[][] => [
  queries.map(({ reader }) => reader.account),
  queries.map(({ reader }) => reader.client),
  queries.map(({ reader }) => reader.interface),
  queries.map(({ fromMs }) => fromMs),
];

/** A client's subscriptions, without those that ended so long before that nothing can still be sent to them. */
const SUBSCRIPTIONS = `
  select query.place::int as query, query.from_ms, s.guid, s.action, split_part(s.callback_url, '?', 1) as callback_url
  from unnest($1::uuid[], $2::text[], $3::text[], $4::float8[]) with ordinality as query (account, client, interface, from_ms, place)
  join waybell.subscriptions s on s.account_guid = query.account and s.client_id = query.client and s.interface = query.interface
  where s.ended_at is null or s.ended_at > ${time('query.from_ms')} - interval '2 days'`;

/** The newest rows of each query: `at` descending. */
const newest = (rows: string): string => `
  select * from (select r.*, row_number() over (partition by query order by at desc) as rank from (${rows}) r) r
  where rank <= $5 order by query, at desc`;

async function latestAttempts(
  postgres: Queryable,
  queries: readonly LiveQuery[],
  most: number,
): Promise<AttemptFound[]> {
  const ofSubscription = (which: string) => `(
    select * from delivery_log.attempts where subscription = own.guid and ${which} and at >= ${time('own.from_ms')}
    order by at desc limit $5)`;
  const { rows } = await postgres.query<AttemptFound>({
    name: 'live-attempts',
    text: `select ${attemptColumns('false')}, a.query - 1 as query, a.action, a.callback_url as "callbackUrl" from (${newest(`
             select a.*, own.query, own.action, own.callback_url from (${SUBSCRIPTIONS}) own
             cross join lateral (${ofSubscription(NOT_DELIVERED)} union all ${ofSubscription(DELIVERED_OR_RETRIED)}) a`)}) a`,
    values: [...valuesOf(queries), most],
  });
  return rows;
}

async function attemptEntries(
  postgres: Queryable,
  found: readonly AttemptFound[],
  { reader, isKnown }: LiveQuery,
): Promise<KeyEntries[]> {
  const fresh = found.filter((each) => !isKnown(keyOfAttempt(each)));
  const keys = new Map((await eventsBefore(postgres, fresh, reader)).map((row) => [row.event, row.keys]));
  return fresh.map((each) => {
    const { query: _, action, callbackUrl, ...row } = each;
    const { delivery, event, at, subscription } = row;
    const key = keyOfAttempt(each);
    const what = { delivery, event, action, keys: keys.get(event) ?? [], subscription, callbackUrl };
    return { key, at, entries: [{ kind: 'attempt', key, at, ...what, attempt: attemptEntry(row) }] };
  });
}

const keyOfAttempt = ({ delivery, at, attempt }: Pick<AttemptFound, 'delivery' | 'at' | 'attempt'>): string =>
  `${delivery} ${at} ${attempt}`;

/** Finds kept events for the accounts, and whether the clients have deliveries of them. */
async function latestEvents(postgres: Queryable, queries: readonly LiveQuery[], most: number): Promise<EventFound[]> {
  const asked = queries.flatMap(({ reader, actions }, query) =>
    actions.map((action) => ({ query, part: partOf(reader.account, writeAction(reader.interface, action)) })),
  );
  const { rows } = await postgres.query<EventFound>({
    name: 'live-events',
    text: `select query - 1 as query, event, ${ms('at')} as at, is_made as "isMade" from (${newest(`
             select client.query, e.event, e.at, e.is_made
             from (
               select query.place::int as query, query.from_ms,
                 array(select own.guid from (${SUBSCRIPTIONS}) own where own.query = query.place) as guids
               from unnest($4::float8[]) with ordinality as query (from_ms, place)
             ) client
             join unnest($6::int[], $7::bigint[]) as asked (query, part) on asked.query + 1 = client.query
             cross join lateral (
               select event, at, coalesce(subscriptions && client.guids, false) as is_made from delivery_log.events
               where part = asked.part and at >= ${time('client.from_ms')} and place is not null
               order by at desc limit $5
             ) e`)}) e`,
    values: [...valuesOf(queries), most, asked.map(({ query }) => query), asked.map(({ part }) => part)],
  });
  return rows;
}

async function suppressionEntries(
  postgres: Queryable,
  found: readonly EventFound[],
  { reader, isKnown }: LiveQuery,
): Promise<KeyEntries[]> {
  const fresh = found.filter((each) => !isKnown(keyOf(each)));
  const rows = await eventsAt(
    postgres,
    fresh.filter(({ isMade }) => !isMade),
    reader,
  );
  const entries = rows.map((row) => eventEntry([row], [], reader));
  await explainNoSubscription(postgres, entries);
  const byKey = Map.groupBy(entries, keyOf);
  return fresh.map((each) => {
    const key = keyOf(each);
    return { key, at: each.at, entries: (byKey.get(key) ?? []).flatMap((event) => suppressionsIn(event, key)) };
  });
}

const keyOf = ({ event, at }: Pick<EventFound, 'event' | 'at'>): string => `${event} ${at}`;

function suppressionsIn(event: EventEntry, key: string): LiveEntry[] {
  return event.verdicts.flatMap((verdict, place) =>
    verdict.kind === 'suppressed' ? [{ kind: 'suppressed', key: `${key} ${place}`, at: event.at, event, verdict }] : [],
  );
}

/** Finds notices that are published, or will not be soon: until then what was missed is not counted. */
async function latestNotices(postgres: Queryable, queries: readonly LiveQuery[], most: number): Promise<NoticeFound[]> {
  const { rows } = await postgres.query<NoticeFound>({
    name: 'live-notices',
    text: `select query - 1 as query, ${ms('at')} as at, ${noticeAsJson} as notice from (${newest(`
             select n.*, query.place::int as query
             from unnest($1::uuid[], $2::text[], $3::text[], $4::float8[])
               with ordinality as query (account, client, interface, from_ms, place)
             join waybell.notices n on n.account = query.account and n.client = query.client and n.at >= ${time('query.from_ms')}
             where n.published_at is not null or n.at < now() - interval '3 seconds'`)}) n`,
    values: [...valuesOf(queries), most],
  });
  return rows;
}

function noticeEntries({ at, notice }: NoticeFound): KeyEntries {
  const key = `notice ${notice.guid}`;
  return { key, at, entries: [{ kind: 'notice', key, at, notice }] };
}
