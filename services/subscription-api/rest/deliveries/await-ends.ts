import type { ServerResponse } from 'node:http';
import { commitsAfter } from '@waybell/delivery-log/read/commits';
import { readersOf } from '@waybell/delivery-log/read/ends';
import type { ClientReader } from '@waybell/delivery-log/read/entries';
import type { Log } from '@waybell/runtime/log';
import { runEvery } from '@waybell/runtime/run-every';
import type { Database } from '../../database.ts';
import type { StreamCapacity } from '../live/event-stream.ts';

export type AwaitEndsOptions = {
  database: Pick<Database, 'askLog'>;
  capacity: StreamCapacity;
  log: Log;
  pollEveryMs?: number;
};

/** A request that waits for ends of a client's deliveries. */
export type EndsAwaited = {
  /** Resolves with whether there is one in a commit after this number; false: the request is not to wait any longer. */
  after(number: number): Promise<boolean>;
};

/** The requests of this process that wait for ends. */
export type AwaitEnds = AsyncDisposable & {
  /**
   * Begins to wait, for at most this long. Waits count as a client's streams: throws a Problem (429, 503) if there are too many.
   */
  begin(reader: ClientReader, response: ServerResponse, waitMs: number): EndsAwaited;
};

type AwaitedEnds = { reader: ClientReader; number: number; found: (isFound: boolean) => void };

const POLL_EVERY_MS = 1_000;
/** Limit of the commits that one poll reads; the next one goes on. */
const MOST_COMMITS = 10_000;

/** Polls the log once a second for all requests together, and not at all while there is none. */
export function awaitEnds({ database, capacity, log, pollEveryMs = POLL_EVERY_MS }: AwaitEndsOptions): AwaitEnds {
  const all = new Set<AwaitedEnds>();
  let polling: AsyncDisposable | undefined;

  async function poll(): Promise<void> {
    const requests = [...all];
    const number = Math.min(...requests.map((each) => each.number));
    const { last, found } = await database.askLog(async (postgres) => {
      const commits = await commitsAfter(postgres, { number }, MOST_COMMITS);
      return { last: commits.at(-1), found: await readersOf(postgres, commits, requests) };
    });
    for (const [place, each] of requests.entries()) {
      if (found.has(place)) each.found(true);
      else each.number = Math.max(each.number, last?.number ?? 0);
    }
  }

  function join(awaited: AwaitedEnds): void {
    all.add(awaited);
    polling ??= runEvery(poll, { intervalMs: pollEveryMs, warning: 'ends.look-failed', log });
  }

  function leave(awaited: AwaitedEnds): void {
    all.delete(awaited);
    if (all.size > 0) return;
    void polling?.[Symbol.asyncDispose]();
    polling = undefined;
  }

  return {
    begin(reader, response, waitMs) {
      const ending = new AbortController();
      capacity.enter(reader, response, () => ({ end: () => ending.abort() }));
      response.once('close', () => ending.abort());
      const over = AbortSignal.any([ending.signal, AbortSignal.timeout(waitMs)]);
      return {
        async after(number) {
          if (over.aborted) return false;
          const { promise, resolve: found } = Promise.withResolvers<boolean>();
          const awaited = { reader, number, found };
          over.addEventListener('abort', () => found(false), { once: true });
          join(awaited);
          try {
            return await promise;
          } finally {
            leave(awaited);
          }
        },
      };
    },
    [Symbol.asyncDispose]: async () => polling?.[Symbol.asyncDispose](),
  };
}
