import { describe, expect, test } from '@jest/globals';
import type { Attempted, Outcome, Routed } from '@waybell/line/outcomes';
import { balance, sumOf, type Books } from './balance.ts';

const facts = {
  subscription: 's',
  generation: 1,
  event: 'e',
  interface: 'shipper',
  action: 'order.paid',
  at: 0,
} as const;
const answer = { durationMs: 1 };
const ended = (kind: 'delivered' | 'exhausted' | 'failed', attempt: number): Attempted => {
  const about = { ...facts, delivery: 'd', attempt, beganAt: 0, answer };
  if (kind === 'failed') return { ...about, kind, retryAt: 0 };
  return kind === 'exhausted' ? { ...about, kind, body: '' } : { ...about, kind };
};
const suppressed = (reason: 'no_subscription' | 'duplicate'): Routed => ({
  kind: 'routed',
  event: 'e',
  interface: 'shipper',
  action: 'order.paid',
  at: 0,
  subjects: [],
  receivers: [],
  deliveries: [],
  suppressed: [{ reason }],
  unknownMembers: 0,
});
const owed = { event: 'e', subscription: 's', delivery: 'd' };
const of = (outcomes: Outcome[], attempts: number[] = [], rejected: string[] = []) => {
  const books: Books = {
    owed: [owed],
    outcomes,
    seen: attempts.map((attempt) => ({ delivery: 'd', attempt })),
    rejected: new Set(rejected),
  };
  return balance(books);
};

describe('balance', () => {
  test('what has none of the five ends is lost', () => {
    expect(of([]).lost).toEqual([owed]);
    expect(of([ended('failed', 1)], [1]).lost).toEqual([owed]);
    expect(of([suppressed('duplicate')]).lost).toEqual([owed]);
  });

  test('each end counts, the event by its own', () => {
    expect(of([ended('delivered', 1)], [1])).toMatchObject({ delivered: 1, lost: [] });
    expect(of([ended('exhausted', 1)], [1])).toMatchObject({ exhausted: 1, lost: [] });
    expect(of([suppressed('no_subscription')])).toMatchObject({ suppressed: 1, lost: [] });
    expect(of([], [], ['e'])).toMatchObject({ rejected: 1, lost: [] });
    expect(of([], [], ['d'])).toMatchObject({ rejected: 1, lost: [] });
  });

  test('what ran twice is delivered if either run delivered it', () => {
    expect(of([ended('exhausted', 4), ended('delivered', 4)], [1, 2, 3, 4, 4])).toMatchObject({
      delivered: 1,
      exhausted: 0,
    });
  });

  test('a request beyond the first of the same attempt is a duplicate, two such attempts are a fork', () => {
    expect(of([ended('delivered', 2)], [1, 1, 2])).toMatchObject({ duplicates: 1, forked: [] });
    expect(of([ended('delivered', 2)], [1, 1, 2, 2, 2])).toMatchObject({ duplicates: 3, forked: ['d'] });
  });

  test('attempts are 1 to n; one that got no further than the network is in the outcomes', () => {
    expect(of([ended('delivered', 3)], [1, 3]).withGap).toEqual(['d']);
    expect(of([ended('failed', 2), ended('delivered', 3)], [1, 3]).withGap).toEqual([]);
  });

  test('a delivery that no receiver saw was not delivered', () => {
    expect(of([ended('delivered', 1)]).unseen).toEqual(['d']);
  });
});

describe('sumOf', () => {
  test('several balances count together', () => {
    const lost = of([]);
    const forked = of([ended('delivered', 2)], [1, 1, 2, 2]);
    expect(sumOf([lost, forked, forked])).toEqual({
      ...forked,
      delivered: 2,
      lost: [owed],
      duplicates: 4,
      forked: ['d', 'd'],
    });
  });
});
