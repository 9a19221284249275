import { systemClock, type Clock, type Timer } from '@waybell/runtime/clock';

export type InLotsOptions = {
  /** Items in a lot, at most: so many do not wait for more. */
  largest: number;
  /** How long after the last lot one that is not full leaves, in milliseconds. */
  gatherMs: number;
  /** Lots that are worked on at the same time, at most; what comes meanwhile is gathered. */
  atOnce: number;
  clock?: Clock;
};

type Waiting<I, O> = { item: I; resolve: (answer: O) => void; reject: (error: unknown) => void };

/**
 * Turns single calls into few large ones. What comes now and then is worked on at once; what comes faster is gathered.
 * `work` answers in the order of its items; what it throws, each of them gets.
 */
export function inLots<I, O>(
  work: (items: readonly I[]) => Promise<readonly O[]>,
  { largest, gatherMs, atOnce, clock = systemClock }: InLotsOptions,
): (item: I) => Promise<O> {
  const waiting: Waiting<I, O>[] = [];
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
    underWay += 1;
    await workOn(waiting.splice(0, largest));
    underWay -= 1;
    look();
  }

  async function workOn(lot: readonly Waiting<I, O>[]): Promise<void> {
    try {
      const answers = await work(lot.map(({ item }) => item));
      lot.forEach(({ resolve }, place) => {
        // One answer for each item, as `work` promises.
        resolve(answers[place] as O);
      });
    } catch (error) {
      for (const { reject } of lot) reject(error);
    }
  }

  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject });
      look();
    });
}
