import type { LiveKind } from '@waybell/contracts/openapi/live-paths';
import { EventStream, type EventStreamOptions } from './event-stream.ts';
import type { LiveRecord } from './live-record.ts';
import type { FeedPosition } from './position.ts';

/** A reader's filter of the feed. */
export type LiveFilter = { action?: string | undefined; kind?: LiveKind | undefined };

export type LiveStreamOptions = Omit<EventStreamOptions, 'id'> & { filter: LiveFilter; position: FeedPosition };

/** Limit of the records that one look sends to a reader. */
const MOST = 500;
/** The log stores records about this long after their time. */
const LAG_MS = 1_000;

type Stretch = { since: number; until: number };

/** The result of one look: records, the oldest first; and the time before which there may be unread ones. */
export type LiveLooked = { records: readonly LiveRecord[]; unreadBefore?: number | undefined; nowMs: number };

/** One reader, until its connection is closed. */
export class LiveStream {
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
