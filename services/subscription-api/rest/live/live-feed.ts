import type { ClientReader } from '@waybell/delivery-log/read/entries';
import { latestOf, type LiveFound } from '@waybell/delivery-log/read/live';
import type { Database } from '../../database.ts';
import { liveRecord, type LiveRecord } from './live-record.ts';
import type { LiveStream } from './live-stream.ts';

/** Records come to the log up to so long after what they tell of. */
const OVERLAP_MS = 30_000;
/** After Postgres was away, what was held up meanwhile comes within about so long. */
const CATCHING_UP_MS = 60_000;
/** Rows of each kind that one look reads. */
const MOST_ROWS = 1_000;

export type LiveFeedOptions = { database: Pick<Database, 'askLog'>; reader: ClientReader; actions: readonly string[] };

/** The live entries of one client, for all of its streams. */
export class LiveFeed {
  readonly streams = new Set<LiveStream>();
  readonly #options: LiveFeedOptions;
  /** What was looked into lately: each row once, whoever reads it. */
  readonly #known = new Map<string, { at: number; records: LiveRecord[] }>();
  /** From when on each look reads again, but for streams that are behind. */
  #fromMs = 0;
  #isAway = false;
  #caughtUpMs = 0;

  constructor(options: LiveFeedOptions) {
    this.#options = options;
  }

  /** Tells each stream what is new to it. Throws Unavailable while Postgres is away, and then has told them so. */
  async look(nowMs: number): Promise<void> {
    // One that comes meanwhile may want more than this look reads.
    const streams = [...this.streams];
    const found = await this.#find(this.#firstMs(streams, nowMs)).catch((error: unknown) => {
      if (!this.#isAway)
        for (const stream of streams) stream.say('the delivery log cannot be read; the feed goes on by itself');
      this.#isAway = true;
      throw error;
    });
    if (this.#isAway) this.#caughtUpMs = nowMs + CATCHING_UP_MS;
    this.#isAway = false;
    for (const { key, at, entries } of found.looked) this.#known.set(key, { at, records: entries.map(liveRecord) });
    const records = [...this.#known.values()]
      .flatMap((each) => each.records)
      .toSorted((one, other) => one.at - other.at);
    for (const stream of streams) stream.tell({ records, unreadBefore: found.unreadBefore, nowMs });
    if (nowMs >= this.#caughtUpMs) this.#fromMs = nowMs - OVERLAP_MS;
    this.#forget(streams);
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

  #find(fromMs: number): Promise<LiveFound> {
    const { database, reader, actions } = this.#options;
    const look = { reader, actions, fromMs, most: MOST_ROWS };
    return database.askLog((postgres) => latestOf(postgres, look, (key) => this.#known.has(key)));
  }

  #forget(streams: readonly LiveStream[]): void {
    for (const { position } of streams) position.forgetBefore(this.#fromMs);
    for (const [key, { at }] of this.#known) if (at < this.#fromMs) this.#known.delete(key);
  }
}
