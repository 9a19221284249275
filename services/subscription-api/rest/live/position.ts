import { hash } from 'node:crypto';

/** One record, at a time in milliseconds since the epoch. */
export type Placed = { key: string; at: number };

/** How an id is written; every text that is so written can be read. */
export const POSITION_PATTERN = String.raw`^[0-9a-z]{1,9}\.[A-Za-z0-9_-]{0,80}$`;

const PRINT_BYTES = 3;
/** Limit of the records in an id. */
const MOST_PRINTS = 20;
const MOST_SENT = 10_000;

/**
 * The position of a reader: it was sent everything up to a time, and some records after it. Records come to the log out of order,
 * so that by a time alone some would be sent twice, or never. An id carries that time, and prints of the latest records
 * after it.
 */
export class FeedPosition {
  #floorMs: number;
  /** Time up to which an id names no single record. */
  #idFloorMs = 0;
  /** The times of records, by their keys. */
  readonly #sent = new Map<string, number>();
  /** The latest of them, the oldest first. */
  readonly #latest: { at: number; print: string }[] = [];
  /** Prints of records that were sent before the reader came back. */
  readonly #resumed: Set<string>;

  constructor(floorMs: number, resumed: readonly string[] = []) {
    this.#floorMs = floorMs;
    this.#resumed = new Set(resumed);
  }

  /** Reads an id that has the pattern. One that lies ahead of `nowMs` counts as that. */
  static read(id: string, nowMs: number): FeedPosition {
    const [floor = '', prints = ''] = id.split('.');
    const length = (PRINT_BYTES * 4) / 3;
    const each = prints.match(new RegExp(`.{${length}}`, 'g')) ?? [];
    return new FeedPosition(Math.min(Number.parseInt(floor, 36), nowMs), each);
  }

  /** Up to this time everything counts as sent. */
  get floorMs(): number {
    return this.#floorMs;
  }

  isSent(record: Placed): boolean {
    if (record.at <= this.#floorMs || this.#sent.has(record.key)) return true;
    if (this.#resumed.size === 0 || !this.#resumed.has(printOf(record))) return false;
    this.note(record);
    return true;
  }

  note({ key, at }: Placed): void {
    this.#sent.set(key, at);
    const place = this.#latest.findLastIndex((each) => each.at <= at) + 1;
    this.#latest.splice(place, 0, { at, print: printOf({ key, at }) });
    if (this.#latest.length > MOST_PRINTS) this.#idFloorMs = Math.max(this.#idFloorMs, this.#latest.shift()?.at ?? 0);
    const [first] = this.#sent;
    if (first === undefined || this.#sent.size <= MOST_SENT) return;
    this.#sent.delete(first[0]);
    this.#floorMs = Math.max(this.#floorMs, first[1]);
  }

  /** From now on everything before this time counts as sent. */
  forgetBefore(fromMs: number): void {
    if (fromMs <= this.#floorMs) return;
    this.#floorMs = fromMs - 1;
    for (const [key, at] of this.#sent) if (at <= this.#floorMs) this.#sent.delete(key);
  }

  /** The id of what was sent last. */
  toString(): string {
    const floorMs = Math.max(this.#floorMs, this.#idFloorMs);
    const prints = this.#latest.filter(({ at }) => at > floorMs).map(({ print }) => print);
    return `${floorMs.toString(36)}.${prints.join('')}`;
  }
}

function printOf({ key }: Placed): string {
  return hash('sha256', key, 'buffer').subarray(0, PRINT_BYTES).toString('base64url');
}
