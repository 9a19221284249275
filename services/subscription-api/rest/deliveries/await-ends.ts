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
  room: StreamCapacity;
  log: Log;
  lookEveryMs?: number;
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

type WaitingForEnds = { reader: ClientReader; number: number; found: (isFound: boolean) => void };

const LOOK_EVERY_MS = 1_000;
/** Limit of the commits that one look reads; the next look goes on. */
const MOST_COMMITS = 10_000;

/** Looks once a second, for all that wait together, and while none does not at all. */
export function awaitEnds({ database, room, log, lookEveryMs = LOOK_EVERY_MS }: AwaitEndsOptions): AwaitEnds {
  const all = new Set<WaitingForEnds>();
  let looking: AsyncDisposable | undefined;

  async function look(): Promise<void> {
    const waiting = [...all];
    const number = Math.min(...waiting.map((each) => each.number));
    const { last, found } = await database.askLog(async (postgres) => {
      const commits = await commitsAfter(postgres, { number }, MOST_COMMITS);
      return { last: commits.at(-1), found: await readersOf(postgres, commits, waiting) };
    });
    for (const [place, each] of waiting.entries()) {
      if (found.has(place)) each.found(true);
      else each.number = Math.max(each.number, last?.number ?? 0);
    }
  }

  function join(waiting: WaitingForEnds): void {
    all.add(waiting);
    looking ??= runEvery(look, { intervalMs: lookEveryMs, warning: 'ends.look-failed', log });
  }

  function leave(waiting: WaitingForEnds): void {
    all.delete(waiting);
    if (all.size > 0) return;
    void looking?.[Symbol.asyncDispose]();
    looking = undefined;
  }

  return {
    begin(reader, response, waitMs) {
      const ending = new AbortController();
      room.enter(reader, response, () => ({ end: () => ending.abort() }));
      response.once('close', () => ending.abort());
      const over = AbortSignal.any([ending.signal, AbortSignal.timeout(waitMs)]);
      return {
        async after(number) {
          if (over.aborted) return false;
          const { promise, resolve: found } = Promise.withResolvers<boolean>();
          const waiting = { reader, number, found };
          over.addEventListener('abort', () => found(false), { once: true });
          join(waiting);
          try {
            return await promise;
          } finally {
            leave(waiting);
          }
        },
      };
    },
    [Symbol.asyncDispose]: async () => looking?.[Symbol.asyncDispose](),
  };
}
