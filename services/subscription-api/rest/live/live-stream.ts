import type { ServerResponse } from 'node:http';
import type { LiveKind } from '@waybell/contracts/openapi/live-paths';
import type { LiveRecord } from './live-record.ts';
import type { Position } from './position.ts';

/** What of the feed a reader asked for. */
export type LiveFilter = { action?: string | undefined; kind?: LiveKind | undefined };

export type LiveStreamOptions = {
  response: ServerResponse;
  filter: LiveFilter;
  position: Position;
  /** A reader that lets so much pile up is ended. */
  bufferBytes: number;
};

/** As many as one look tells a reader. */
const MOST = 500;
const HEARTBEAT_MS = 15_000;
const RETRY_MS = 2_000;
/** Records are written to the log about so long after what they tell of. */
const LAG_MS = 1_000;

type Stretch = { since: number; until: number };

/** What one look came to: records, the oldest first; and before which time there may be more than it read. */
export type LiveLooked = { records: readonly LiveRecord[]; unreadBefore?: number | undefined; nowMs: number };

/** One reader, until its connection is closed. */
export class LiveStream {
  readonly position: Position;
  /** When what it was told last was looked for, in milliseconds since the epoch. */
  #seenMs: number;
  readonly #options: LiveStreamOptions;
  readonly #heartbeat: NodeJS.Timeout;

  constructor(options: LiveStreamOptions) {
    this.#options = options;
    this.position = options.position;
    this.#seenMs = options.position.floorMs;
    const { response } = options;
    response.statusCode = 200;
    response.setHeader('content-type', 'text/event-stream');
    // Some proxies would otherwise wait for more.
    response.setHeader('x-accel-buffering', 'no');
    this.#write(`retry: ${RETRY_MS}\nid: ${this.position.toString()}\n\n`);
    this.#heartbeat = setInterval(() => this.say('alive'), HEARTBEAT_MS);
    response.once('close', () => clearInterval(this.#heartbeat));
  }

  get seenMs(): number {
    return this.#seenMs;
  }

  /** A comment, which clients pass over, and the id to go on from: also a reader that was told nothing for long goes on near now. */
  say(comment: string): void {
    this.#write(`: ${comment}\nid: ${this.position.toString()}\n\n`);
  }

  tell({ records, unreadBefore, nowMs }: LiveLooked): void {
    const fresh = records.filter((record) => !this.position.isTold(record) && this.#isAskedFor(record));
    const [passed, told] = [fresh.slice(0, -MOST), fresh.slice(-MOST)];
    for (const record of passed) this.position.note(record);
    const skipped = stretchOf([...this.#unread(unreadBefore), ...passed.map(({ at }) => ({ since: at, until: at }))]);
    this.#seenMs = nowMs;
    const events = told.map(({ event, data, ...record }) => {
      this.position.note(record);
      return this.#event(event, data);
    });
    if (skipped !== undefined) events.unshift(this.#event('skipped', JSON.stringify(skipped)));
    if (events.length > 0) this.#write(events.join(''));
  }

  end(): void {
    this.#options.response.end();
  }

  #isAskedFor({ action, kind }: LiveRecord): boolean {
    const { filter } = this.#options;
    return (filter.action ?? action) === action && (filter.kind ?? kind) === kind;
  }

  /** What this reader has not seen of what was not read. */
  #unread(unreadBefore: number | undefined): Stretch[] {
    const since = Math.max(this.position.floorMs, this.#seenMs - LAG_MS);
    return unreadBefore === undefined || unreadBefore <= since ? [] : [{ since, until: unreadBefore }];
  }

  #event(name: string, data: string): string {
    return `event: ${name}\nid: ${this.position.toString()}\ndata: ${data}\n\n`;
  }

  #write(text: string): void {
    const { response, bufferBytes } = this.#options;
    if (response.writableEnded || response.destroyed) return;
    if (response.writableLength > bufferBytes) response.destroy();
    else response.write(text);
  }
}

function stretchOf(stretches: readonly Stretch[]): { since: string; until: string } | undefined {
  if (stretches.length === 0) return undefined;
  const since = Math.min(...stretches.map((each) => each.since));
  const until = Math.max(...stretches.map((each) => each.until));
  return { since: new Date(since).toISOString(), until: new Date(until).toISOString() };
}
