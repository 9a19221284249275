/**
 * The live feed: a client's attempts, suppressions and notices as they come to the log. One poll a second reads for all clients that have
 * a stream.
 *
 *     openLive ── query of each LiveFeed (a client) ── latestOf ──> LiveFeed ── records ──> its LiveStreams (its readers)
 */
import type { ServerResponse } from 'node:http';
import { Type, type Static, type TSchema } from 'typebox';
import type { Action } from '@waybell/catalog/action';
import { noticeProperties } from '@waybell/contracts/operations-channel';
import type { ClientReader } from '@waybell/delivery-log/read/entries';
import type { Log } from '@waybell/runtime/log';
import { runEvery } from '@waybell/runtime/run-every';
import type { Database } from '../../database.ts';
import { Attempt, event as eventMembers, suppressed } from '../../operations/delivery-schemas.ts';
import { choice, component, guid, moment, object, optional, text } from '../../operations/schema.ts';
import { wire } from '../../operations/wire.ts';
import { EventStream, type StreamCapacity, type EventStreamOptions } from './event-stream.ts';
import { latestOf, type LiveFound, type LiveQuery, type LiveEntry } from './latest-entries.ts';
import type { FeedPosition, Placed } from './position.ts';

/** The kind of a record in the feed: an attempt ended, an event was not sent, or a notice of a subscription. */
export const liveKind = choice(['delivered', 'failed', 'exhausted', 'dropped', 'suppressed', 'notice'], {
  type: 'string',
});

type LiveKind = Static<typeof liveKind>;

export const LiveAttempt = component(
  'LiveAttempt',
  object({
    delivery_guid: guid('As `webhook-id`.'),
    event_guid: guid(),
    action: text(),
    keys: eventMembers.keys,
    subscription_guid: guid(),
    callback_url: optional(text('Of the subscription as it is now, without its query.')),
    attempt: Attempt,
  }),
);

export const LiveSuppressed = component('LiveSuppressed', object({ ...eventMembers, ...suppressed }));

/** The account's name is for operators only. */
const { account_name: _, ...noticeOfClient } = noticeProperties;

export const LiveNotice = component(
  'LiveNotice',
  Type.Unsafe({ type: 'object', required: Object.keys(noticeOfClient), properties: noticeOfClient }),
);

export const LiveSkipped = component(
  'LiveSkipped',
  object({
    since: moment('More happened from this time on than the feed carries: some of it is left out.'),
    until: moment(),
  }),
);

/** A reader's filter of the feed. */
export type LiveFilter = { action?: string | undefined; kind?: LiveKind | undefined };

type LiveOptions = {
  database: Pick<Database, 'askLog'>;
  catalog: readonly Action[];
  capacity: StreamCapacity;
  log: Log;
  pollEveryMs?: number;
};

type LiveRequest = {
  reader: ClientReader;
  filter: LiveFilter;
  position: FeedPosition;
  response: ServerResponse;
};

/** The streams of the live feed in this process. */
export type Live = AsyncDisposable & {
  /** Begins one. Throws a Problem (429, 503) where there are too many. */
  open(request: LiveRequest): LiveStream;
};

const POLL_EVERY_MS = 1_000;
const BUFFER_BYTES = 2 ** 20;

/** Polls the log once a second for all clients that have a stream, and not at all while there is none. */
export function openLive({
  database,
  catalog,
  capacity: streams,
  log,
  pollEveryMs = POLL_EVERY_MS,
}: LiveOptions): Live {
  const feeds = new Map<string, LiveFeed>();
  let polling: AsyncDisposable | undefined;

  async function poll(): Promise<void> {
    const reading = [...feeds.values()];
    const nowMs = Date.now();
    const queries = reading.map((feed) => feed.query(nowMs));
    try {
      const found = await database.askLog((postgres) => latestOf(postgres, queries, MOST_ROWS));
      for (const [place, feed] of reading.entries()) feed.pass(found[place] ?? { keys: [] }, nowMs);
    } catch (error) {
      for (const feed of reading) feed.reportAway();
      throw error;
    }
  }

  function join(stream: LiveStream, key: string, reader: ClientReader): void {
    const actions = catalog.filter((action) => action.interface === reader.interface).map(({ name }) => name);
    const feed = feeds.get(key) ?? new LiveFeed(reader, actions);
    feed.streams.add(stream);
    feeds.set(key, feed);
    polling ??= runEvery(poll, { intervalMs: pollEveryMs, beginsAtOnce: true, warning: 'live.look-failed', log });
  }

  function leave(stream: LiveStream, key: string): void {
    const feed = feeds.get(key);
    feed?.streams.delete(stream);
    if (feed?.streams.size === 0) feeds.delete(key);
    if (feeds.size > 0) return;
    void polling?.[Symbol.asyncDispose]();
    polling = undefined;
  }

  return {
    open({ reader, response, ...options }) {
      const begin = () => new LiveStream({ ...options, response, bufferBytes: BUFFER_BYTES });
      const stream = streams.enter(reader, response, begin);
      const key = JSON.stringify([reader.account, reader.client]);
      join(stream, key, reader);
      response.once('close', () => leave(stream, key));
      return stream;
    },
    [Symbol.asyncDispose]: async () => polling?.[Symbol.asyncDispose](),
  };
}

/** The log stores records up to this long after their time. */
const OVERLAP_MS = 30_000;
/** After Postgres was away, what was held up meanwhile comes within about so long. */
const CATCHING_UP_MS = 60_000;
/** Rows of each kind that one poll reads for a client. */
const MOST_ROWS = 1_000;

/** The live entries of one client, for all of its streams. */
class LiveFeed {
  readonly streams = new Set<LiveStream>();
  readonly #reader: ClientReader;
  readonly #actions: readonly string[];
  /** Rows that were read recently: each once, for all readers. */
  readonly #known = new Map<string, { at: number; records: LiveRecord[] }>();
  /** From when on each poll reads again, except for streams that are behind. */
  #fromMs = 0;
  /** Streams that the running poll is for: a stream added meanwhile may lack more. */
  #polled: LiveStream[] = [];
  #isAway = false;
  #caughtUpMs = 0;

  /** `actions`: those of the reader's interface. */
  constructor(reader: ClientReader, actions: readonly string[]) {
    this.#reader = reader;
    this.#actions = actions;
  }

  /** Returns what its streams lack. */
  query(nowMs: number): LiveQuery {
    this.#polled = [...this.streams];
    const fromMs = this.#firstMs(this.#polled, nowMs);
    return { reader: this.#reader, actions: this.#actions, fromMs, isKnown: (key) => this.#known.has(key) };
  }

  /** Passes on to each stream what is new to it. */
  pass(found: LiveFound, nowMs: number): void {
    if (this.#isAway) this.#caughtUpMs = nowMs + CATCHING_UP_MS;
    this.#isAway = false;
    for (const { key, at, entries } of found.keys) this.#known.set(key, { at, records: entries.map(liveRecord) });
    const records = [...this.#known.values()]
      .flatMap((each) => each.records)
      .toSorted((one, other) => one.at - other.at);
    for (const stream of this.#polled) stream.send({ records, unreadBefore: found.unreadBefore, nowMs });
    if (nowMs >= this.#caughtUpMs) this.#fromMs = nowMs - OVERLAP_MS;
    this.#forget(this.#polled);
  }

  /** The poll failed: Postgres is away. Each stream says so once. */
  reportAway(): void {
    if (!this.#isAway)
      for (const stream of this.#polled) stream.say('the delivery log cannot be read; the feed goes on by itself');
    this.#isAway = true;
  }

  /** The earliest time of which a stream may lack something. */
  #firstMs(streams: readonly LiveStream[], nowMs: number): number {
    const overlapping = Math.min(this.#fromMs, nowMs - OVERLAP_MS);
    return Math.min(
      ...streams.map(({ position, seenMs }) =>
        Math.max(position.floorMs + 1, Math.min(overlapping, seenMs - OVERLAP_MS)),
      ),
    );
  }

  #forget(streams: readonly LiveStream[]): void {
    for (const { position } of streams) position.forgetBefore(this.#fromMs);
    for (const [key, { at }] of this.#known) if (at < this.#fromMs) this.#known.delete(key);
  }
}

type LiveStreamOptions = Omit<EventStreamOptions, 'id'> & { filter: LiveFilter; position: FeedPosition };

/** Limit of the records that one poll sends to a reader. */
const MOST_SENT = 500;
/** The log stores records about this long after their time. */
const LAG_MS = 1_000;

type Stretch = { since: number; until: number };

/** The result of one poll: records, the oldest first; and the time before which there may be unread ones. */
type LiveRead = { records: readonly LiveRecord[]; unreadBefore?: number | undefined; nowMs: number };

/** One reader, until its connection is closed. */
class LiveStream {
  readonly position: FeedPosition;
  /** When the last poll for it began, in milliseconds since the epoch. */
  #seenMs: number;
  readonly #filter: LiveFilter;
  readonly #events: EventStream;

  constructor({ filter, position, ...options }: LiveStreamOptions) {
    this.position = position;
    this.#seenMs = position.floorMs;
    this.#filter = filter;
    this.#events = new EventStream({ ...options, id: () => position.toString() });
  }

  get seenMs(): number {
    return this.#seenMs;
  }

  /** A comment, which clients ignore. */
  say(comment: string): void {
    this.#events.say(comment);
  }

  send({ records, unreadBefore, nowMs }: LiveRead): void {
    const fresh = records.filter((record) => !this.position.isSent(record) && this.#isAskedFor(record));
    const [skippedRecords, sent] = [fresh.slice(0, -MOST_SENT), fresh.slice(-MOST_SENT)];
    for (const record of skippedRecords) this.position.note(record);
    const skipped = stretchOf([
      ...this.#unread(unreadBefore),
      ...skippedRecords.map(({ at }) => ({ since: at, until: at })),
    ]);
    this.#seenMs = nowMs;
    const events = sent.map(({ event, data, ...record }) => {
      this.position.note(record);
      return this.#events.event(event, data);
    });
    if (skipped !== undefined) events.unshift(this.#events.event('skipped', written(LiveSkipped, skipped)));
    if (events.length > 0) this.#events.write(events.join(''));
  }

  end(): void {
    this.#events.end();
  }

  #isAskedFor({ action, kind }: LiveRecord): boolean {
    const asked = this.#filter;
    return (asked.action ?? action) === action && (asked.kind ?? kind) === kind;
  }

  /** Returns the unread periods that this reader has not seen. */
  #unread(unreadBefore: number | undefined): Stretch[] {
    const since = Math.max(this.position.floorMs, this.#seenMs - LAG_MS);
    return unreadBefore === undefined || unreadBefore <= since ? [] : [{ since, until: unreadBefore }];
  }
}

function stretchOf(stretches: readonly Stretch[]): Stretch | undefined {
  if (stretches.length === 0) return undefined;
  return {
    since: Math.min(...stretches.map((each) => each.since)),
    until: Math.max(...stretches.map((each) => each.until)),
  };
}

/** One thing that happened, as streams send it. */
type LiveRecord = Placed & {
  /** Null of what several actions have in common. */
  action: string | null;
  kind: LiveKind;
  event: 'attempt' | 'suppressed' | 'notice';
  data: string;
};

const written = (schema: TSchema, value: object): string => JSON.stringify(wire(schema, value));

function liveRecord(entry: LiveEntry): LiveRecord {
  const { key, at, kind } = entry;
  switch (kind) {
    case 'attempt': {
      const { attempt, action } = entry;
      // An attempt is of one of these kinds.
      const of = { action, kind: attempt.kind as LiveKind };
      return { key, at, ...of, event: kind, data: written(LiveAttempt, entry) };
    }
    case 'suppressed': {
      const { event, verdict } = entry;
      return {
        key,
        at,
        action: event.action,
        kind,
        event: kind,
        data: written(LiveSuppressed, { ...event, ...verdict }),
      };
    }
    case 'notice': {
      const { notice } = entry;
      return { key, at, action: notice.action, kind, event: kind, data: written(LiveNotice, notice) };
    }
  }
}
