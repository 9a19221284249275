import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { InHandLimit } from './prefetch-budget.ts';
import { floorOf, maxMinShares, nextMoves, type QueueUse } from './prefetch-budget.ts';

const sum = (numbers: readonly number[]) => numbers.reduce((total, each) => total + each, 0);

/** Traffic of one queue: messages that it would send without a limit, and their size. */
type Traffic = { backlog: number; bytes: number };

/** Simulated queues under a budget: traffic fills the prefetches, and a part of the held messages is settled in each round. */
class Queues {
  readonly hold: InHandLimit;
  readonly states: { prefetches: number[]; outstanding: number; peak: number; meanBytes: number }[];
  moveCount = 0;

  constructor(count: number, hold: InHandLimit) {
    this.hold = hold;
    const floor = floorOf(hold.messages, count);
    this.states = Array.from({ length: count }, () => ({ prefetches: [floor], outstanding: 0, peak: 0, meanBytes: 0 }));
  }

  get granted(): number[] {
    return this.states.map(({ prefetches }) => sum(prefetches));
  }

  review(traffic: readonly Traffic[], settledOfOutstanding = 0.5): void {
    const uses = this.states.map((state, index): QueueUse => {
      const { backlog = 0, bytes = 0 } = traffic[index] ?? {};
      const held = Math.min(backlog, sum(state.prefetches));
      state.peak = Math.max(held, Math.floor(state.peak * 0.9));
      if (held > 0) state.meanBytes = bytes;
      state.outstanding = Math.floor(state.outstanding * (1 - settledOfOutstanding));
      return { ...state, wasFull: held === sum(state.prefetches) };
    });
    const moves = nextMoves(uses, this.hold);
    this.moveCount = moves.length;
    for (const move of moves) {
      const state = this.states[move.index];
      if (move.kind === 'grow') state?.prefetches.push(move.by);
      else if (state !== undefined)
        state.outstanding += Math.min(traffic[move.index]?.backlog ?? 0, state.prefetches.pop() ?? 0);
    }
  }
}

const some = (count: number, traffic: Traffic): Traffic[] => Array.from({ length: count }, () => traffic);
const SMALL = 300;

describe('the budget', () => {
  test('never grants more than its messages, whatever the traffic does', () => {
    const burst = fc.array(fc.record({ backlog: fc.constantFrom(0, 0, 3, 50, 9_999), bytes: fc.nat(100_000) }), {
      minLength: 1,
      maxLength: 20,
    });
    fc.assert(
      fc.property(
        fc.integer({ min: 20, max: 2_000 }),
        fc.array(fc.tuple(burst, fc.double({ min: 0, max: 1, noNaN: true })), { minLength: 1, maxLength: 30 }),
        (messages, story) => {
          const queues = new Queues(20, { messages, bytes: 2 ** 24 });
          for (const [traffic, settled] of story) {
            queues.review(traffic, settled);
            expect(sum(queues.granted) + sum(queues.states.map(({ outstanding }) => outstanding))).toBeLessThanOrEqual(
              messages,
            );
            expect(Math.min(...queues.granted)).toBeGreaterThanOrEqual(floorOf(messages, 20));
          }
        },
      ),
    );
  });

  test('never grows beyond its bytes, and comes back to them from above, floors excepted', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 1, max: 2 ** 20 }), { minLength: 5, maxLength: 5 }),
        fc.integer({ min: 1, max: 2 ** 20 }),
        (sizes, before) => {
          const hold = { messages: 1_000, bytes: 8 * 2 ** 20 };
          const queues = new Queues(5, hold);
          for (let review = 0; review < 20; review += 1) queues.review(some(5, { backlog: 9_999, bytes: before }));
          for (let review = 0; review < 40; review += 1) {
            queues.review(sizes.map((bytes) => ({ backlog: 9_999, bytes })));
          }
          const moving = queues.states.map(({ prefetches, meanBytes }) => sum(prefetches.slice(1)) * meanBytes);
          expect(sum(moving)).toBeLessThanOrEqual(hold.bytes);
        },
      ),
    );
  });

  test('goes nearly all to one queue that uses it, in a few reviews', () => {
    const queues = new Queues(72, { messages: 2_048, bytes: 2 ** 26 });
    const traffic = [{ backlog: 100_000, bytes: SMALL }];
    for (let review = 0; review < 10; review += 1) queues.review(traffic);
    expect(queues.granted[0]).toBeGreaterThan(0.8 * 2_048);
    expect(queues.granted.slice(1)).toEqual(queues.granted.slice(1).map(() => floorOf(2_048, 72)));
  });

  test('is shared within a factor of two when all want more, whichever had it before', () => {
    fc.assert(
      fc.property(fc.integer({ min: 2, max: 72 }), fc.nat(71), (count, first) => {
        const queues = new Queues(count, { messages: 2_048, bytes: 2 ** 26 });
        const alone = Array.from({ length: count }, (_, index) => ({
          backlog: index === first % count ? 100_000 : 0,
          bytes: SMALL,
        }));
        for (let review = 0; review < 15; review += 1) queues.review(alone);
        for (let review = 0; review < 60; review += 1) queues.review(some(count, { backlog: 100_000, bytes: SMALL }));
        const fair = 2_048 / count;
        expect(Math.min(...queues.granted)).toBeGreaterThanOrEqual(Math.floor(fair / 2));
      }),
    );
  });

  test('takes from the queue that is farthest above its share, and from no more than it needs', () => {
    const full = (...prefetches: number[]) => ({
      prefetches,
      outstanding: 0,
      peak: sum(prefetches),
      wasFull: true,
      meanBytes: SMALL,
    });
    const uses = [full(4), full(4, 30), full(4, 58), full(4, 29)];
    expect(nextMoves(uses, { messages: 133, bytes: 2 ** 26 })).toEqual([{ kind: 'shrink', index: 2 }]);
    const heavy = [full(4, 30), full(4, 200), full(4, 29)];
    expect(nextMoves(heavy, { messages: 1_000, bytes: 170 * SMALL })).toEqual([{ kind: 'shrink', index: 1 }]);
  });

  test('rests while the traffic stays as it is', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.record({ backlog: fc.constantFrom(0, 2, 20, 300, 9_999), bytes: fc.integer({ min: 1, max: 50_000 }) }),
          {
            minLength: 12,
            maxLength: 12,
          },
        ),
        (traffic) => {
          const queues = new Queues(12, { messages: 1_000, bytes: 2 ** 23 });
          for (let review = 0; review < 150; review += 1) queues.review(traffic);
          let moves = 0;
          for (let review = 0; review < 20; review += 1) {
            queues.review(traffic);
            moves += queues.moveCount;
          }
          expect(moves).toBe(0);
        },
      ),
    );
  });

  test('comes back to the floors when the traffic is over', () => {
    const queues = new Queues(8, { messages: 1_000, bytes: 2 ** 26 });
    for (let review = 0; review < 10; review += 1) queues.review(some(8, { backlog: 9_999, bytes: SMALL }));
    for (let review = 0; review < 100; review += 1) queues.review([]);
    expect(queues.granted).toEqual(queues.granted.map(() => floorOf(1_000, 8)));
  });
});

describe('shares', () => {
  test('are within what is wanted, sum up to what there is, and favour none', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(500), { minLength: 1, maxLength: 20 }), fc.nat(2_000), (wants, total) => {
        const shares = maxMinShares(wants, total);
        expect(sum(shares)).toBeCloseTo(Math.min(total, sum(wants)), 6);
        const largest = Math.max(...shares);
        expect(shares.every((share, index) => share <= (wants[index] ?? 0))).toBe(true);
        const short = shares.filter((share, index) => share < (wants[index] ?? 0));
        expect(short).toEqual(short.map(() => largest));
      }),
    );
  });
});
