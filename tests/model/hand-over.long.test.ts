import { describe, expect, test } from '@jest/globals';
import { EVERY_FAULT, EVERY_FAULT_OF_ROOMS, exploreRow, type Row } from './row.ts';

const SLOW = { deliveries: 2, isBatched: true, isSlow: true, answers: ['delivered'] } as const;
const BESIDE_SUSPECT = { isBesideSuspect: true, answers: ['delivered'] } as const;
const KILLERS = { killers: ['A', 'B'], rejectable: ['A', 'B'] } as const;
const WAITING = { answers: ['delivered', 'full'] } as const;
const EVERYTHING = [...EVERY_FAULT, ...EVERY_FAULT_OF_ROOMS] as const;

describe('whatever the interleaving, nothing is lost, forked or stuck', () => {
  test.each<[string, Row]>([
    ['with any one fault and three attempts', { retries: 2, faults: 1, kinds: EVERY_FAULT, requests: 6, copies: 2 }],
    [
      'with a message in hand when its process dies',
      { answers: ['delivered'], rejectable: ['A'], faults: 10, kinds: ['crash'], requests: 10, copies: 7 },
    ],
    [
      'with two of a class that kill their process each time, beside a suspect that does not, and is not rejected',
      { ...BESIDE_SUSPECT, ...KILLERS, deliveries: 3, faults: 6, kinds: ['kills'], requests: 6, copies: 3 },
    ],
    [
      'with suspects and several replicas, whose connections break',
      { ...BESIDE_SUSPECT, replicas: 2, faults: 4, kinds: ['cut'], requests: 2, copies: 5 },
    ],
    [
      'with failures, while the broker blocks and a process dies, or its connection is lost',
      { faults: 2, kinds: ['blocked', 'crash', 'cut'], requests: 6, copies: 3 },
    ],
    [
      'with what waits, by two replicas with any one fault',
      { ...WAITING, replicas: 2, faults: 1, kinds: EVERYTHING, requests: 3, copies: 3 },
    ],
    [
      'with what waits after a failure',
      { answers: ['failed', 'full'], faults: 1, kinds: ['commit unheard'], requests: 2, copies: 3 },
    ],
    [
      'with processes that die or are late, by two replicas',
      { ...WAITING, replicas: 2, faults: 2, kinds: ['crash', 'claim lost'], requests: 4, copies: 2 },
    ],
    [
      'with a crash while Postgres is away, or does what nobody hears of',
      { ...WAITING, faults: 2, kinds: ['crash', 'postgres away', 'commit unheard'], requests: 3, copies: 4 },
    ],
    [
      'with a put that nobody hears of, a claim that is lost, and Redis away',
      { ...WAITING, faults: 2, kinds: ['commit unheard', 'claim lost', 'redis away'], requests: 3, copies: 4 },
    ],
    [
      'with a suspect that waits while the settling of its row is late, and a claim that is lost',
      { ...WAITING, replicas: 2, faults: 2, kinds: ['throws', 'claim lost'], requests: 3, copies: 4 },
    ],
    [
      'with a member of a batch that kills its process four times',
      { ...SLOW, isSlow: false, faults: 4, kinds: ['kills'], requests: 5, copies: 3 },
    ],
    [
      'with a member of a batch that takes long, in processes that die twice',
      { ...SLOW, faults: 2, kinds: ['crash'], requests: 3, copies: 2 },
    ],
    [
      'with such a member, in a process that dies or comes to it again',
      { ...SLOW, faults: 2, kinds: ['crash', 'cut'], requests: 3, copies: 2 },
    ],
    [
      'with a suspect beside what kills, and connections that break',
      { ...BESIDE_SUSPECT, deliveries: 2, faults: 3, kinds: ['cut', 'kills'], requests: 2, copies: 4 },
    ],
    [
      'with retries of a batch that no queue takes, and which may not wait in a room',
      {
        ...SLOW,
        isSlow: false,
        answers: ['failed'],
        hasRooms: false,
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
      'with retries of a batch that no queue takes, and which wait in a room',
      { ...SLOW, isSlow: false, answers: ['failed'], faults: 1, kinds: ['returned'], requests: 2, copies: 1 },
    ],
    [
      'with a crash of a process that has a batch, while Redis and what it needs are away',
      { ...SLOW, isSlow: false, faults: 3, kinds: ['crash', 'outage', 'redis away'], requests: 4, copies: 3 },
    ],
    ['with a crash while Redis is away', { faults: 2, kinds: ['crash', 'redis away'], requests: 6, copies: 3 }],
    [
      'with a member of a batch that takes long, and comes again',
      { ...SLOW, faults: 2, kinds: ['cut', 'late'], requests: 1, copies: 2 },
    ],
    [
      'with two events that come together, of which one is taken back',
      { isRouted: true, retries: 2, deliveries: 2, faults: 2, kinds: ['cut one', 'refused'], requests: 3, copies: 1 },
    ],
    [
      'with processes that claim and die again and again',
      { ...WAITING, faults: 4, kinds: ['crash'], requests: 5, copies: 4 },
    ],
    [
      'with two deliveries in one or two hands',
      { ...WAITING, deliveries: 2, faults: 1, kinds: ['claim lost'], requests: 2, copies: 2 },
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
