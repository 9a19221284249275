import type { ServerResponse } from 'node:http';
import type { Action } from '@waybell/catalog/action';
import type { ClientReader } from '@waybell/delivery-log/read/entries';
import type { Log } from '@waybell/runtime/log';
import { runEvery } from '@waybell/runtime/run-every';
import { Budget } from '@waybell/runtime/budget';
import type { Database } from '../../database.ts';
import { LiveFeed } from './live-feed.ts';
import { LiveStream, type LiveFilter } from './live-stream.ts';
import type { FeedPosition } from './position.ts';
import type { StreamRoom } from './stream-room.ts';

export type LiveOptions = {
  database: Pick<Database, 'askLog'>;
  catalog: readonly Action[];
  room: StreamRoom;
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
/** Looks of all feeds together take so many connections of the delivery log's, so that requests find one. */
const LOOKS_AT_ONCE = 2;
const BUFFER_BYTES = 2 ** 20;

type Looking = { feed: LiveFeed; loop: AsyncDisposable };

/** Looks once a second for each client that has a stream, however many those are, and for no other. */
export function openLive({ database, catalog, room: streams, log, lookEveryMs = LOOK_EVERY_MS }: LiveOptions): Live {
  const looking = new Map<string, Looking>();
  const looks = new Budget(LOOKS_AT_ONCE);

  async function look(feed: LiveFeed, stop: AbortSignal): Promise<void> {
    await looks.take(1);
    try {
      if (!stop.aborted) await feed.look(Date.now());
    } finally {
      looks.giveBack(1);
    }
  }

  /** A feed looks from its first stream on. */
  function join(stream: LiveStream, key: string, reader: ClientReader): void {
    const found = looking.get(key);
    if (found !== undefined) return void found.feed.streams.add(stream);
    const actions = catalog.filter((action) => action.interface === reader.interface).map(({ name }) => name);
    const feed = new LiveFeed({ database, reader, actions });
    feed.streams.add(stream);
    const options = { intervalMs: lookEveryMs, beginsAtOnce: true, complaint: 'live.look-failed', log };
    looking.set(key, { feed, loop: runEvery((stop) => look(feed, stop), options) });
  }

  function close(key: string, stream: LiveStream): void {
    const found = looking.get(key);
    found?.feed.streams.delete(stream);
    if (found === undefined || found.feed.streams.size > 0) return;
    looking.delete(key);
    void found.loop[Symbol.asyncDispose]();
  }

  return {
    open({ reader, response, ...options }) {
      const begin = () => new LiveStream({ ...options, response, bufferBytes: BUFFER_BYTES });
      const stream = streams.enter(reader, response, begin);
      const key = JSON.stringify([reader.account, reader.client]);
      join(stream, key, reader);
      response.once('close', () => close(key, stream));
      return stream;
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([...looking.values()].map(({ loop }) => loop[Symbol.asyncDispose]()));
    },
  };
}
