import type { ServerResponse } from 'node:http';
import type { Action } from '@waybell/catalog/action';
import type { ClientReader } from '@waybell/delivery-log/read/entries';
import type { Log } from '@waybell/runtime/log';
import { repeatedly } from '@waybell/runtime/repeatedly';
import { Room } from '@waybell/runtime/room';
import type { Database } from '../../database.ts';
import { Problem } from '../http/problem.ts';
import { LiveFeed } from './live-feed.ts';
import { LiveStream, type LiveFilter } from './live-stream.ts';
import type { Position } from './position.ts';

/** How many streams may be open in this process: of one client of an account, and in all. */
export type LiveLimits = { streamsPerClient: number; streams: number };

export type LiveOptions = {
  database: Pick<Database, 'askLog'>;
  catalog: readonly Action[];
  limits: LiveLimits;
  log: Log;
  /** Once it is given, streams end and no other begins. */
  until?: AbortSignal;
};

export type LiveRequest = { reader: ClientReader; filter: LiveFilter; position: Position; response: ServerResponse };

/** The streams of this process. Disposed of, it ends them. */
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
export function openLive({ database, catalog, limits, log, until }: LiveOptions): Live {
  const looking = new Map<string, Looking>();
  const streams = new Set<LiveStream>();
  const room = new Room(LOOKS_AT_ONCE);
  const ended = new AbortController();
  const isOver = () => ended.signal.aborted || until?.aborted === true;
  const endAll = () => streams.forEach((stream) => stream.end());
  until?.addEventListener('abort', endAll);

  async function look(feed: LiveFeed, stop: AbortSignal): Promise<void> {
    await room.take(1);
    try {
      if (!stop.aborted) await feed.look(Date.now());
    } finally {
      room.giveBack(1);
    }
  }

  /** A feed looks from its first stream on. */
  function join(stream: LiveStream, key: string, reader: ClientReader): void {
    const found = looking.get(key);
    if (found !== undefined) return void found.feed.streams.add(stream);
    const actions = catalog.filter((action) => action.interface === reader.interface).map(({ name }) => name);
    const feed = new LiveFeed({ database, reader, actions });
    feed.streams.add(stream);
    const options = { intervalMs: LOOK_EVERY_MS, beginsAtOnce: true, complaint: 'live.look-failed', log };
    looking.set(key, { feed, loop: repeatedly((stop) => look(feed, stop), options) });
  }

  function close(key: string, stream: LiveStream): void {
    streams.delete(stream);
    const found = looking.get(key);
    found?.feed.streams.delete(stream);
    if (found === undefined || found.feed.streams.size > 0) return;
    looking.delete(key);
    void found.loop[Symbol.asyncDispose]();
  }

  return {
    open({ reader, response, ...options }) {
      if (isOver()) throw busy('This process is about to stop: ask again.');
      if (streams.size >= limits.streams) throw busy('There are as many streams as one process keeps open: ask later.');
      const key = JSON.stringify([reader.account, reader.client]);
      if ((looking.get(key)?.feed.streams.size ?? 0) >= limits.streamsPerClient) throw tooMany(limits);
      const stream = new LiveStream({ ...options, response, bufferBytes: BUFFER_BYTES });
      streams.add(stream);
      join(stream, key, reader);
      response.once('close', () => close(key, stream));
      return stream;
    },
    async [Symbol.asyncDispose]() {
      until?.removeEventListener('abort', endAll);
      ended.abort();
      endAll();
      await Promise.all([...looking.values()].map(({ loop }) => loop[Symbol.asyncDispose]()));
    },
  };
}

const RETRY_AFTER = { headers: { 'retry-after': '5' } };

const busy = (detail: string) => new Problem('unavailable', detail, RETRY_AFTER);

function tooMany({ streamsPerClient }: LiveLimits): Problem {
  const detail = `A client has ${streamsPerClient} streams at once: close one first.`;
  return new Problem('too-many-requests', detail, RETRY_AFTER);
}
