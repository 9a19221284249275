import type { ServerResponse } from 'node:http';
import type { Action } from '@waybell/catalog/action';
import type { ClientReader } from '@waybell/delivery-log/read/entries';
import { latestOf, type LiveFound, type LiveLook, type LiveEntry } from './latest-entries.ts';
import type { Log } from '@waybell/runtime/log';
import { runEvery } from '@waybell/runtime/run-every';
import type { Database } from '../../database.ts';
import type { FeedPosition, Placed } from './position.ts';
import { type StreamCapacity, EventStream, type EventStreamOptions } from './event-stream.ts';
import type { LiveKind } from '@waybell/contracts/openapi/live-paths';
import { attemptView, eventView, verdictView } from '../deliveries/history-view.ts';

type LiveOptions = {
  database: Pick<Database, 'askLog'>;
  catalog: readonly Action[];
  room: StreamCapacity;
  log: Log;
  lookEveryMs?: number;
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

const LOOK_EVERY_MS = 1_000;
const BUFFER_BYTES = 2 ** 20;

/** Looks once a second, for all clients that have a stream together, and while there is none not at all. */
export function openLive({ database, catalog, room: streams, log, lookEveryMs = LOOK_EVERY_MS }: LiveOptions): Live {
  const feeds = new Map<string, LiveFeed>();
  let looking: AsyncDisposable | undefined;

  async function look(): Promise<void> {
    const asking = [...feeds.values()];
    const nowMs = Date.now();
    const looks = asking.map((feed) => feed.look(nowMs));
    try {
      const found = await database.askLog((postgres) => latestOf(postgres, looks, MOST_ROWS));
      for (const [place, feed] of asking.entries()) feed.tell(found[place] ?? { looked: [] }, nowMs);
    } catch (error) {
      for (const feed of asking) feed.sayAway();
      throw error;
    }
  }

  function join(stream: LiveStream, key: string, reader: ClientReader): void {
    const actions = catalog.filter((action) => action.interface === reader.interface).map(({ name }) => name);
    const feed = feeds.get(key) ?? new LiveFeed(reader, actions);
    feed.streams.add(stream);
    feeds.set(key, feed);
    looking ??= runEvery(look, { intervalMs: lookEveryMs, beginsAtOnce: true, warning: 'live.look-failed', log });
  }

  function leave(stream: LiveStream, key: string): void {
    const feed = feeds.get(key);
    feed?.streams.delete(stream);
    if (feed?.streams.size === 0) feeds.delete(key);
    if (feeds.size > 0) return;
    void looking?.[Symbol.asyncDispose]();
    looking = undefined;
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
    [Symbol.asyncDispose]: async () => looking?.[Symbol.asyncDispose](),
  };
}

/** The log stores records up to this long after their time. */
const OVERLAP_MS = 30_000;
/** After Postgres was away, what was held up meanwhile comes within about so long. */
const CATCHING_UP_MS = 60_000;
/** Rows of each kind that one look reads for a client. */
const MOST_ROWS = 1_000;

/** The live entries of one client, for all of its streams. */
class LiveFeed {
  readonly streams = new Set<LiveStream>();
  readonly #reader: ClientReader;
  readonly #actions: readonly string[];
  /** Rows that were read recently: each once, for all readers. */
  readonly #known = new Map<string, { at: number; records: LiveRecord[] }>();
  /** From when on each look reads again, but for streams that are behind. */
  #fromMs = 0;
  /** Streams that the look under way is for: a stream added meanwhile may want more. */
  #looking: LiveStream[] = [];
  #isAway = false;
  #caughtUpMs = 0;

  /** `actions`: those of the reader's interface. */
  constructor(reader: ClientReader, actions: readonly string[]) {
    this.#reader = reader;
    this.#actions = actions;
  }

  /** Returns what its streams lack. */
  look(nowMs: number): LiveLook {
    this.#looking = [...this.streams];
    const fromMs = this.#firstMs(this.#looking, nowMs);
    return { reader: this.#reader, actions: this.#actions, fromMs, isKnown: (key) => this.#known.has(key) };
  }

  /** Tells each stream what is new to it. */
  tell(found: LiveFound, nowMs: number): void {
    if (this.#isAway) this.#caughtUpMs = nowMs + CATCHING_UP_MS;
    this.#isAway = false;
    for (const { key, at, entries } of found.looked) this.#known.set(key, { at, records: entries.map(liveRecord) });
    const records = [...this.#known.values()]
      .flatMap((each) => each.records)
      .toSorted((one, other) => one.at - other.at);
    for (const stream of this.#looking) stream.tell({ records, unreadBefore: found.unreadBefore, nowMs });
    if (nowMs >= this.#caughtUpMs) this.#fromMs = nowMs - OVERLAP_MS;
    this.#forget(this.#looking);
  }

  /** The look failed: Postgres is away. Each stream is told so once. */
  sayAway(): void {
    if (!this.#isAway)
      for (const stream of this.#looking) stream.say('the delivery log cannot be read; the feed goes on by itself');
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

/** A reader's filter of the feed. */
export type LiveFilter = { action?: string | undefined; kind?: LiveKind | undefined };

type LiveStreamOptions = Omit<EventStreamOptions, 'id'> & { filter: LiveFilter; position: FeedPosition };

/** Limit of the records that one look sends to a reader. */
const MOST = 500;
/** The log stores records about this long after their time. */
const LAG_MS = 1_000;

type Stretch = { since: number; until: number };

/** The result of one look: records, the oldest first; and the time before which there may be unread ones. */
type LiveLooked = { records: readonly LiveRecord[]; unreadBefore?: number | undefined; nowMs: number };

/** One reader, until its connection is closed. */
class LiveStream {
  readonly position: FeedPosition;
  /** When what it was told last was looked for, in milliseconds since the epoch. */
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

  tell({ records, unreadBefore, nowMs }: LiveLooked): void {
    const fresh = records.filter((record) => !this.position.isTold(record) && this.#isAskedFor(record));
    const [passed, told] = [fresh.slice(0, -MOST), fresh.slice(-MOST)];
    for (const record of passed) this.position.note(record);
    const skipped = stretchOf([...this.#unread(unreadBefore), ...passed.map(({ at }) => ({ since: at, until: at }))]);
    this.#seenMs = nowMs;
    const events = told.map(({ event, data, ...record }) => {
      this.position.note(record);
      return this.#events.event(event, data);
    });
    if (skipped !== undefined) events.unshift(this.#events.event('skipped', JSON.stringify(skipped)));
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

function stretchOf(stretches: readonly Stretch[]): { since: string; until: string } | undefined {
  if (stretches.length === 0) return undefined;
  const since = Math.min(...stretches.map((each) => each.since));
  const until = Math.max(...stretches.map((each) => each.until));
  return { since: new Date(since).toISOString(), until: new Date(until).toISOString() };
}

/** One thing that happened, as streams tell it. */
type LiveRecord = Placed & {
  /** Null of what several actions have in common. */
  action: string | null;
  kind: LiveKind;
  event: 'attempt' | 'suppressed' | 'notice';
  data: string;
};

function liveRecord(entry: LiveEntry): LiveRecord {
  const { key, at } = entry;
  if (entry.kind === 'attempt') {
    const { attempt, action } = entry;
    // An attempt is of one of these kinds.
    const kind = attempt.kind as LiveKind;
    return { key, at, action, kind, event: 'attempt', data: JSON.stringify(attemptData(entry)) };
  }
  if (entry.kind === 'notice') {
    // The account's name is for operators only.
    const { account_name: _, ...notice } = entry.notice;
    return { key, at, action: notice.action, kind: 'notice', event: 'notice', data: JSON.stringify(notice) };
  }
  const { verdicts: _, ...event } = eventView(entry.event);
  const data = JSON.stringify({ ...event, ...verdictView(entry.verdict) });
  return { key, at, action: event.action, kind: 'suppressed', event: 'suppressed', data };
}

function attemptData(entry: LiveEntry & { kind: 'attempt' }) {
  return {
    delivery_guid: entry.delivery,
    event_guid: entry.event,
    action: entry.action,
    keys: entry.keys,
    subscription_guid: entry.subscription,
    callback_url: entry.callbackUrl,
    attempt: attemptView(entry.attempt),
  };
}
