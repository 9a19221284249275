import { describe, expect, test } from '@jest/globals';
import { EVERY_FAULT, EVERY_FAULT_OF_PARKING, exploreRow, type Row } from './row.ts';

const SLOW = { deliveries: 2, isBatched: true, isSlow: true, answers: ['delivered'] } as const;
const BESIDE_KILLER = { deliveries: 2, isBesideSuspect: true, faults: 4, answers: ['delivered'] } as const;
const KILLER = { faults: 7, answers: ['delivered'], rejectable: ['A'] } as const;
const ARRIVES = { parks: 1, answers: ['delivered', 'full'] } as const;

describe('whatever the interleaving, nothing is lost, forked or stuck', () => {
  test.each<[string, Row]>([
    ['with any one fault and three attempts', { retries: 2, faults: 1, kinds: EVERY_FAULT, requests: 6, copies: 2 }],
    ['with a message in hand when its process dies', { ...KILLER, kinds: ['crash'], requests: 8, copies: 10 }],
    [
      'with a message that kills its process each time, beside a suspect',
      { ...KILLER, deliveries: 2, isBesideSuspect: true, kinds: ['kills'], requests: 2, copies: 7 },
    ],
    [
      'with failures, while the broker blocks and a process dies, or its connection is lost',
      { faults: 2, kinds: ['blocked', 'crash', 'cut'], requests: 6, copies: 3 },
    ],
    [
      'with what is parked after a failure, and any one fault',
      {
        parks: 1,
        answers: ['failed', 'full'],
        faults: 1,
        kinds: [...EVERY_FAULT, ...EVERY_FAULT_OF_PARKING, 'late'],
        requests: 4,
        copies: 3,
      },
    ],
    [
      'with retries, and a lease that is lost while its owner lives',
      {
        replicas: 2,
        parks: 1,
        answers: ['failed', 'full'],
        faults: 1,
        kinds: ['lease lost'],
        requests: 5,
        copies: 3,
      },
    ],
    [
      'with an insert by one of two replicas that nobody hears of, or that fails',
      {
        replicas: 2,
        parks: 1,
        answers: ['delivered', 'failed', 'full'],
        faults: 1,
        kinds: ['commit unheard', 'postgres away', 'unconfirmed'],
        requests: 4,
        copies: 3,
      },
    ],
    [
      'with a member of a batch that kills its process four times',
      { ...SLOW, isSlow: false, faults: 4, kinds: ['kills'], requests: 5, copies: 3 },
    ],
    [
      'with a member of a batch that takes long, in processes that die twice',
      { ...SLOW, faults: 2, kinds: ['crash'], requests: 3, copies: 5 },
    ],
    [
      'with such a member, in a process that dies or comes to it again',
      { ...SLOW, faults: 2, kinds: ['crash', 'cut'], requests: 3, copies: 5 },
    ],
    [
      'with a suspect that takes long, so that what kills comes beside it, and which is not rejected for that',
      { ...BESIDE_KILLER, isSlow: true, kinds: ['kills'], requests: 5, copies: 4 },
    ],
    [
      'with a suspect beside what kills, and connections that break',
      { ...BESIDE_KILLER, kinds: ['cut', 'kills'], requests: 3, copies: 5 },
    ],
    [
      'with retries of a batch that no queue takes, and which may not be kept',
      {
        ...SLOW,
        isSlow: false,
        answers: ['failed'],
        keeps: false,
        faults: 1,
        kinds: ['returned'],
        requests: 3,
        copies: 2,
      },
    ],
    [
      'with retries that leave together and are not confirmed, while one of their messages is taken back',
      { deliveries: 2, answers: ['failed'], faults: 2, kinds: ['cut one', 'unconfirmed'], requests: 3, copies: 3 },
    ],
    [
      'with retries that leave together and are lost, while one of their messages is taken back',
      { deliveries: 2, answers: ['failed'], faults: 2, kinds: ['cut one', 'refused'], requests: 3, copies: 1 },
    ],
    [
      'while the broker blocks, and Postgres is away or tells nothing',
      { faults: 2, kinds: ['blocked', 'postgres away', 'commit unheard'], requests: 2, copies: 2 },
    ],
    [
      'with retries of a batch that no queue takes, and which are kept',
      { ...SLOW, isSlow: false, answers: ['failed'], faults: 1, kinds: ['returned'], requests: 2, copies: 1 },
    ],
    ['with a crash while Redis is away', { faults: 2, kinds: ['crash', 'redis away'], requests: 6, copies: 3 }],
    [
      'with what is moved twice, and a lease that is lost while its owner lives',
      { ...ARRIVES, replicas: 2, parks: 2, faults: 1, kinds: ['lease lost'], requests: 3, copies: 3 },
    ],
    [
      'with a member of a batch that takes long, and comes again',
      { ...SLOW, faults: 2, kinds: ['cut', 'late'], requests: 1, copies: 3 },
    ],
    [
      'without a fault, by two replicas, with an endpoint that is full',
      {
        ...ARRIVES,
        replicas: 2,
        parks: 2,
        answers: ['delivered', 'failed', 'full'],
        faults: 0,
        kinds: [],
        requests: 2,
        copies: 3,
      },
    ],
    [
      'with two events that come together, of which one is taken back',
      { isRouted: true, retries: 2, deliveries: 2, faults: 2, kinds: ['cut one', 'refused'], requests: 3, copies: 1 },
    ],
    ['with owners that die again and again', { ...ARRIVES, faults: 4, kinds: ['crash'], requests: 5, copies: 7 }],
    [
      'with two deliveries in one or two hands',
      { ...ARRIVES, deliveries: 2, faults: 1, kinds: ['crash', 'lease lost'], requests: 2, copies: 2 },
    ],
  ])(
    '%s',
    async (_what, row) => {
      const { counterexample, requests, copies } = await exploreRow(row);
      expect(counterexample).toBeUndefined();
      // The bounds are not only kept but reached: a smaller one would not be true.
      expect({ requests, copies }).toEqual({ requests: row.requests, copies: row.copies });
    },
    120_000,
  );
});
