import type { ServerResponse } from 'node:http';
import type { Action } from '@waybell/catalog/action';
import type { ClientReader } from '@waybell/delivery-log/read/entries';
import { latestOf } from './latest-entries.ts';
import type { Log } from '@waybell/runtime/log';
import { runEvery } from '@waybell/runtime/run-every';
import type { Database } from '../../database.ts';
import { LiveFeed, MOST_ROWS } from './live-feed.ts';
import { LiveStream, type LiveFilter } from './live-stream.ts';
import type { FeedPosition } from './position.ts';
import type { StreamCapacity } from './stream-capacity.ts';

export type LiveOptions = {
  database: Pick<Database, 'askLog'>;
  catalog: readonly Action[];
  room: StreamCapacity;
  log: Log;
  lookEveryMs?: number;
};

export type LiveRequest = {
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
