/** Reads what happens to clients now: attempts, events without a delivery, and notices for the platform. */
import {
  DELIVERED_OR_RETRIED,
  NOT_DELIVERED,
  partOf,
  writeAction,
  type AttemptRow,
} from '@waybell/delivery-log/tables';
import type { Key } from '@waybell/line/outcomes';
import { noticeAsJson, type OperationsNotice } from '@waybell/line/operations-notice';
import type { Queryable } from '@waybell/runtime/postgres';
import { ms, time } from '@waybell/delivery-log/columns';
import { attemptColumns } from '@waybell/delivery-log/read/attempts';
import type { AttemptEntry, ClientReader, EventEntry, SuppressedVerdict } from '@waybell/delivery-log/read/entries';
import { eventsAt, eventsBefore } from '@waybell/delivery-log/read/events';
import { attemptEntry, eventEntry, explainNoSubscription } from '@waybell/delivery-log/read/history';

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

/** One client's request: its start, and what it has seen. `actions`: those of its interface. */
export type LiveLook = {
  reader: ClientReader;
  actions: readonly string[];
  fromMs: number;
  isKnown: (key: string) => boolean;
};

/** The entries of a key; none if its event was delivered. */
export type LookedUpKey = { key: string; at: number; entries: LiveEntry[] };

/** `unreadBefore`: one read did not cover everything, and entries before this time may be missing. */
export type LiveFound = { looked: LookedUpKey[]; unreadBefore?: number };

/** Returns the latest entries for each look, except those whose keys are known. `most`: limit of rows of each kind, the newest. */
export async function latestOf(postgres: Queryable, looks: readonly LiveLook[], most: number): Promise<LiveFound[]> {
  const attempts = Map.groupBy(await latestAttempts(postgres, looks, most), ({ look }) => look);
  const events = Map.groupBy(await latestEvents(postgres, looks, most), ({ look }) => look);
  const notices = Map.groupBy(await latestNotices(postgres, looks, most), ({ look }) => look);
  const found: LiveFound[] = [];
  for (const [place, look] of looks.entries()) {
    const own = {
      attempts: attempts.get(place) ?? [],
      events: events.get(place) ?? [],
      notices: notices.get(place) ?? [],
    };
    const unread = [own.attempts, own.events, own.notices].flatMap((rows) =>
      rows.length < most ? [] : [rows.at(-1)?.at ?? 0],
    );
    const looked = [
      ...(await attemptsLooked(postgres, own.attempts, look)),
      ...(await eventsLooked(postgres, own.events, look)),
      ...own.notices.map(noticeLooked).filter(({ key }) => !look.isKnown(key)),
    ];
    found.push({ looked, ...(unread.length > 0 && { unreadBefore: Math.max(...unread) }) });
  }
  return found;
}

/** `look`: the place of the look that it is for. */
type Looked<R> = R & { look: number };
type AttemptFound = Looked<AttemptRow & { action: string; callbackUrl: string }>;
type EventFound = Looked<{ event: string; at: number; isMade: boolean }>;
type NoticeFound = Looked<{ at: number; notice: OperationsNotice }>;

const valuesOf = (looks: readonly LiveLook[]): unknown[][] => [
  looks.map(({ reader }) => reader.account),
  looks.map(({ reader }) => reader.client),
  looks.map(({ reader }) => reader.interface),
  looks.map(({ fromMs }) => fromMs),
];

/** A client's subscriptions, without those that ended so long before that nothing can still be sent to them. */
const OWN = `
  select look.place::int as look, look.from_ms, s.guid, s.action, split_part(s.callback_url, '?', 1) as callback_url
  from unnest($1::uuid[], $2::text[], $3::text[], $4::float8[]) with ordinality as look (account, client, interface, from_ms, place)
  join waybell.subscriptions s on s.account_guid = look.account and s.client_id = look.client and s.interface = look.interface
  where s.ended_at is null or s.ended_at > ${time('look.from_ms')} - interval '2 days'`;

/** The newest rows of each look: `at` descending. */
const newest = (rows: string): string => `
  select * from (select r.*, row_number() over (partition by look order by at desc) as rank from (${rows}) r) r
  where rank <= $5 order by look, at desc`;

async function latestAttempts(postgres: Queryable, looks: readonly LiveLook[], most: number): Promise<AttemptFound[]> {
  const ofSubscription = (which: string) => `(
    select * from delivery_log.attempts where subscription = own.guid and ${which} and at >= ${time('own.from_ms')}
    order by at desc limit $5)`;
  const { rows } = await postgres.query<AttemptFound>({
    name: 'live-attempts',
    text: `select ${attemptColumns('false')}, a.look - 1 as look, a.action, a.callback_url as "callbackUrl" from (${newest(`
             select a.*, own.look, own.action, own.callback_url from (${OWN}) own
             cross join lateral (${ofSubscription(NOT_DELIVERED)} union all ${ofSubscription(DELIVERED_OR_RETRIED)}) a`)}) a`,
    values: [...valuesOf(looks), most],
  });
  return rows;
}

async function attemptsLooked(
  postgres: Queryable,
  found: readonly AttemptFound[],
  { reader, isKnown }: LiveLook,
): Promise<LookedUpKey[]> {
  const fresh = found.filter((each) => !isKnown(keyOfAttempt(each)));
  const keys = new Map((await eventsBefore(postgres, fresh, reader)).map((row) => [row.event, row.keys]));
  return fresh.map((each) => {
    const { look: _, action, callbackUrl, ...row } = each;
    const { delivery, event, at, subscription } = row;
    const key = keyOfAttempt(each);
    const what = { delivery, event, action, keys: keys.get(event) ?? [], subscription, callbackUrl };
    return { key, at, entries: [{ kind: 'attempt', key, at, ...what, attempt: attemptEntry(row) }] };
  });
}

const keyOfAttempt = ({ delivery, at, attempt }: Pick<AttemptFound, 'delivery' | 'at' | 'attempt'>): string =>
  `${delivery} ${at} ${attempt}`;

/** Finds kept events for the accounts, and whether the clients have deliveries of them. */
async function latestEvents(postgres: Queryable, looks: readonly LiveLook[], most: number): Promise<EventFound[]> {
  const asked = looks.flatMap(({ reader, actions }, look) =>
    actions.map((action) => ({ look, part: partOf(reader.account, writeAction(reader.interface, action)) })),
  );
  const { rows } = await postgres.query<EventFound>({
    name: 'live-events',
    text: `select look - 1 as look, event, ${ms('at')} as at, is_made as "isMade" from (${newest(`
             select client.look, e.event, e.at, e.is_made
             from (
               select look.place::int as look, look.from_ms,
                 array(select own.guid from (${OWN}) own where own.look = look.place) as guids
               from unnest($4::float8[]) with ordinality as look (from_ms, place)
             ) client
             join unnest($6::int[], $7::bigint[]) as asked (look, part) on asked.look + 1 = client.look
             cross join lateral (
               select event, at, coalesce(subscriptions && client.guids, false) as is_made from delivery_log.events
               where part = asked.part and at >= ${time('client.from_ms')} and place is not null
               order by at desc limit $5
             ) e`)}) e`,
    values: [...valuesOf(looks), most, asked.map(({ look }) => look), asked.map(({ part }) => part)],
  });
  return rows;
}

async function eventsLooked(
  postgres: Queryable,
  found: readonly EventFound[],
  { reader, isKnown }: LiveLook,
): Promise<LookedUpKey[]> {
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
async function latestNotices(postgres: Queryable, looks: readonly LiveLook[], most: number): Promise<NoticeFound[]> {
  const { rows } = await postgres.query<NoticeFound>({
    name: 'live-notices',
    text: `select look - 1 as look, ${ms('at')} as at, ${noticeAsJson} as notice from (${newest(`
             select n.*, look.place::int as look
             from unnest($1::uuid[], $2::text[], $3::text[], $4::float8[])
               with ordinality as look (account, client, interface, from_ms, place)
             join waybell.notices n on n.account = look.account and n.client = look.client and n.at >= ${time('look.from_ms')}
             where n.published_at is not null or n.at < now() - interval '3 seconds'`)}) n`,
    values: [...valuesOf(looks), most],
  });
  return rows;
}

function noticeLooked({ at, notice }: NoticeFound): LookedUpKey {
  const key = `notice ${notice.guid}`;
  return { key, at, entries: [{ kind: 'notice', key, at, notice }] };
}
