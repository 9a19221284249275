import { systemClock, type Clock, type Timer } from '@waybell/runtime/clock';

export type InLotsOptions<I> = {
  /** Size of a batch that leaves at once. */
  largest: number;
  /** Milliseconds after the last batch at which a smaller one leaves. */
  gatherMs: number;
  /** Limit of concurrent batches; calls that come meanwhile are gathered. */
  atOnce: number;
  /** Picks waiting items that stay for the next batch. No item stays twice. */
  stay?: (waiting: readonly QueuedItem<I>[]) => ReadonlySet<I>;
  clock?: Clock;
};

export type QueuedItem<I> = { item: I; hasStayed: boolean };

type LotCall<O> = {
  answers: O[];
  missing: number;
  resolve: (answers: readonly O[]) => void;
  reject: (error: unknown) => void;
};
type PlacedItem<I, O> = QueuedItem<I> & { call: LotCall<O>; place: number };

/**
 * Turns small calls into few large ones. Handles occasional calls at once and gathers frequent ones. `work` answers in the order
 * of its items; a call is answered when all its items are. An error of `work` rejects each call with an item in it.
 */
export function inLots<I, O>(
  work: (items: readonly I[]) => Promise<readonly O[]>,
  { largest, gatherMs, atOnce, stay = () => new Set(), clock = systemClock }: InLotsOptions<I>,
): (items: readonly I[]) => Promise<readonly O[]> {
  let waiting: PlacedItem<I, O>[] = [];
  let callsSince = 0;
  let underWay = 0;
  let nextAt = 0;
  let timer: Timer | undefined;

  function look(): void {
    if (underWay === atOnce || waiting.length === 0) return;
    if (callsSince >= largest) void workOff();
    else timer ??= clock.after(Math.max(0, nextAt - clock.now()), () => void workOff());
  }

  async function workOff(): Promise<void> {
    timer?.[Symbol.dispose]();
    timer = undefined;
    nextAt = clock.now() + gatherMs;
    callsSince = 0;
    const lot = nextLot();
    if (lot.length === 0) return look();
    underWay += 1;
    await workOn(lot);
    underWay -= 1;
    look();
  }

  function nextLot(): PlacedItem<I, O>[] {
    const staying = stay(waiting);
    const lot: PlacedItem<I, O>[] = [];
    const others: PlacedItem<I, O>[] = [];
    for (const each of waiting) {
      if (each.hasStayed || !staying.has(each.item)) lot.push(each);
      else {
        each.hasStayed = true;
        others.push(each);
      }
    }
    waiting = others;
    return lot;
  }

  async function workOn(lot: readonly PlacedItem<I, O>[]): Promise<void> {
    try {
      const answers = await work(lot.map(({ item }) => item));
      lot.forEach(({ call, place }, index) => {
        // `work` promises one answer for each item.
        call.answers[place] = answers[index] as O;
        call.missing -= 1;
        if (call.missing === 0) call.resolve(call.answers);
      });
    } catch (error) {
      for (const { call } of lot) call.reject(error);
    }
  }

  return async (items) => {
    if (items.length === 0) return [];
    return new Promise((resolve, reject) => {
      const call: LotCall<O> = { answers: [], missing: items.length, resolve, reject };
      for (const [place, item] of items.entries()) waiting.push({ item, hasStayed: false, call, place });
      callsSince += 1;
      look();
    });
  };
}
