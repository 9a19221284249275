import type { ServerResponse } from 'node:http';
import { Problem } from '../http/problem.ts';

/** How many streams may be open in this process: of one client of an account, and in all. */
export type StreamLimits = { streamsPerClient: number; streams: number };

type EndableStream = { end(): void };

/** Room for the streams of this process, of whichever kind. Disposed of, it ends them. */
export type StreamCapacity = Disposable & {
  /** Opens one of a client's, until its response is closed. Throws a Problem (429, 503) where there are too many. */
  enter<Stream extends EndableStream>(whose: WhoseStream, response: ServerResponse, open: () => Stream): Stream;
};

export type WhoseStream = { account: string; client: string };

/** `until`: once it is given, streams end and no other begins. */
export function streamCapacity(limits: StreamLimits, until?: AbortSignal): StreamCapacity {
  const streams = new Map<EndableStream, string>();
  const disposed = new AbortController();
  const ended = until === undefined ? disposed.signal : AbortSignal.any([disposed.signal, until]);
  ended.addEventListener('abort', () => [...streams.keys()].forEach((stream) => stream.end()));
  return {
    enter({ account, client }, response, open) {
      if (ended.aborted) throw busy('This process is about to stop: ask again.');
      if (streams.size >= limits.streams) throw busy('There are as many streams as one process keeps open: ask later.');
      const key = JSON.stringify([account, client]);
      const own = [...streams.values()].filter((each) => each === key);
      if (own.length >= limits.streamsPerClient) throw tooMany(limits);
      const stream = open();
      streams.set(stream, key);
      response.once('close', () => streams.delete(stream));
      return stream;
    },
    [Symbol.dispose]: () => disposed.abort(),
  };
}

const RETRY_AFTER = { headers: { 'retry-after': '5' } };

const busy = (detail: string) => new Problem('unavailable', detail, RETRY_AFTER);

function tooMany({ streamsPerClient }: StreamLimits): Problem {
  const detail = `A client has ${streamsPerClient} streams at once: close one first.`;
  return new Problem('too-many-requests', detail, RETRY_AFTER);
}
