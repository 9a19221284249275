import { systemClock, type Clock, type Timer } from '@waybell/runtime/clock';

export type GatherOptions = {
  /** Number of calls whose items leave at once. */
  largest: number;
  /** Milliseconds after the last batch at which a smaller one leaves. */
  gatherMs: number;
  /** Limit of concurrent batches; calls that come meanwhile are gathered. */
  atOnce: number;
  clock?: Clock;
};

type Call<I, O> = PromiseWithResolvers<readonly O[]> & { items: readonly I[] };

/**
 * Turns small calls into few large ones. Handles occasional calls at once and gathers frequent ones. `work` answers in the order
 * of its items; its error rejects each call of the batch.
 */
export function gather<I, O>(
  work: (items: readonly I[]) => Promise<readonly O[]>,
  { largest, gatherMs, atOnce, clock = systemClock }: GatherOptions,
): (items: readonly I[]) => Promise<readonly O[]> {
  let waiting: Call<I, O>[] = [];
  let underWay = 0;
  let nextAt = 0;
  let timer: Timer | undefined;

  function look(): void {
    if (underWay === atOnce || waiting.length === 0) return;
    if (waiting.length >= largest) void workOff();
    else timer ??= clock.after(Math.max(0, nextAt - clock.now()), () => void workOff());
  }

  async function workOff(): Promise<void> {
    timer?.[Symbol.dispose]();
    timer = undefined;
    nextAt = clock.now() + gatherMs;
    const batch = waiting;
    waiting = [];
    underWay += 1;
    await workOn(batch);
    underWay -= 1;
    look();
  }

  async function workOn(batch: readonly Call<I, O>[]): Promise<void> {
    try {
      const answers = await work(batch.flatMap(({ items }) => items));
      let at = 0;
      for (const { items, resolve } of batch) resolve(answers.slice(at, (at += items.length)));
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }

  return async (items) => {
    if (items.length === 0) return [];
    const call = { ...Promise.withResolvers<readonly O[]>(), items };
    waiting.push(call);
    look();
    return call.promise;
  };
}
