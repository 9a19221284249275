import type { ClientReader } from '@waybell/delivery-log/read/entries';
import type { LiveFound, LiveLook } from './latest-entries.ts';
import { liveRecord, type LiveRecord } from './live-record.ts';
import type { LiveStream } from './live-stream.ts';

/** The log stores records up to this long after their time. */
const OVERLAP_MS = 30_000;
/** After Postgres was away, what was held up meanwhile comes within about so long. */
const CATCHING_UP_MS = 60_000;
/** Rows of each kind that one look reads for a client. */
export const MOST_ROWS = 1_000;

/** The live entries of one client, for all of its streams. */
export class LiveFeed {
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
