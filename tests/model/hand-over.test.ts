import { describe, expect, test } from '@jest/globals';
import { EVERY_FAULT, EVERY_FAULT_OF_ROOMS, exploreRow, type Row } from './row.ts';

/** Scope and limits of the model: docs/decisions/0001-hand-over.md. `./waybell test mutants` shows that it can fail. */

const EVERYTHING = [...EVERY_FAULT, ...EVERY_FAULT_OF_ROOMS] as const;
const NO_FAULT = { faults: 0, kinds: [] } as const;
/** Two deliveries in one message. */
const BATCH = { deliveries: 2, isBatched: true, answers: ['delivered'] } as const;
const SLOW = { ...BATCH, isSlow: true } as const;
/** A message that causes deliveries in parts. */
const EVENT = { isRouted: true, retries: 2 } as const;
const KILLER = { faults: 10, answers: ['delivered'], rejectable: ['A'] } as const;
const SUSPECT = { isBesideSuspect: true, answers: ['delivered'] } as const;
/** A delivery without room at its endpoint waits, however often, or arrives. */
const WAITING = { answers: ['delivered', 'full'] } as const;

describe('whatever the interleaving, nothing is lost, retried beyond its schedule or stuck, and requests are bounded', () => {
  test.each<[string, Row]>([
    ['without a fault, by two replicas', { replicas: 2, retries: 2, faults: 0, kinds: [], requests: 3, copies: 1 }],
    ['with any one fault and two replicas', { replicas: 2, faults: 1, kinds: EVERY_FAULT, requests: 5, copies: 2 }],
    ['with two losses of a confirm', { faults: 2, kinds: ['unconfirmed'], requests: 2, copies: 3 }],
    [
      'with two deliveries in a replica that dies twice',
      { deliveries: 2, faults: 2, kinds: ['crash'], answers: ['delivered'], requests: 3, copies: 1 },
    ],
    [
      'with a twin of one of two deliveries in a replica, which waits and costs no request',
      { deliveries: 2, faults: 1, kinds: ['expired twice'], answers: ['failed'], requests: 2, copies: 2 },
    ],
    [
      'with two deliveries that come again while the replica is at them, or waits with them',
      { deliveries: 2, faults: 2, kinds: ['cut', 'outage'], answers: ['delivered'], requests: 1, copies: 1 },
    ],
    ['with a refusal of what is held no longer', { faults: 2, kinds: ['cut', 'refused'], requests: 3, copies: 1 }],
    ['with a message that kills its process each time', { ...KILLER, kinds: ['kills'], requests: 1, copies: 2 }],
    [
      'with such a message beside a suspect, which is not suspected for it',
      { ...KILLER, ...SUSPECT, deliveries: 2, kinds: ['kills'], requests: 2, copies: 2 },
    ],
    [
      'with connections that break again and again, for which nothing is rejected',
      { replicas: 2, faults: 5, kinds: ['cut'], answers: ['delivered'], requests: 2, copies: 2 },
    ],
    ['nor any suspect', { ...SUSPECT, faults: 5, kinds: ['cut'], requests: 1, copies: 6 }],
    [
      'with such connections beside a suspect',
      { ...SUSPECT, deliveries: 2, faults: 2, kinds: ['cut'], requests: 1, copies: 3 },
    ],
    [
      'with connections that break, and processes that die',
      { faults: 4, kinds: ['cut', 'crash'], answers: ['delivered'], requests: 5, copies: 1 },
    ],
    ['with a handler that throws each time', { ...KILLER, faults: 7, kinds: ['throws'], requests: 6, copies: 3 }],
    [
      'with outages, which get no delivery rejected',
      { faults: 5, kinds: ['throws', 'outage'], answers: ['delivered'], requests: 6, copies: 3 },
    ],
  ])('%s', async (_what, row) => {
    const { counterexample, requests, copies } = await exploreRow(row);
    expect(counterexample).toBeUndefined();
    // The bounds are not only kept but reached: a smaller one would not be true.
    expect({ requests, copies }).toEqual({ requests: row.requests, copies: row.copies });
  });
});

describe('whatever the interleaving, the same is true of a batch', () => {
  test.each<[string, Row]>([
    [
      'without a fault, by two replicas',
      { ...BATCH, answers: ['delivered', 'failed'], replicas: 2, ...NO_FAULT, requests: 2, copies: 1 },
    ],
    ['with any one fault', { ...BATCH, faults: 1, kinds: EVERY_FAULT, requests: 2, copies: 2 }],
    [
      'with a crash while Redis is away',
      { ...BATCH, faults: 2, kinds: ['crash', 'redis away'], requests: 3, copies: 1 },
    ],
    [
      'that comes again while Redis is away, and costs no request',
      { ...BATCH, faults: 2, kinds: ['cut', 'redis away'], requests: 1, copies: 1 },
    ],
    [
      'that comes again, one member of it done, while a handler throws for all of it, with Redis or without',
      { ...BATCH, faults: 3, kinds: ['cut', 'throws for all', 'redis away'], requests: 1, copies: 3 },
    ],
    ['with outages, one member of it done', { ...BATCH, faults: 3, kinds: ['cut', 'outage'], requests: 1, copies: 3 }],
    [
      'with a member that kills its process three times, and does not get its neighbour rejected',
      { ...BATCH, faults: 3, kinds: ['kills'], requests: 4, copies: 2 },
    ],
    [
      'with a member that takes long, and any one fault',
      { ...SLOW, faults: 1, kinds: EVERYTHING, requests: 2, copies: 3 },
    ],
    [
      'with a member that takes long, and a process that is late',
      { ...SLOW, replicas: 2, faults: 1, kinds: ['late'], requests: 2, copies: 2 },
    ],
  ])('%s', async (_what, row) => {
    const { counterexample, requests, copies } = await exploreRow(row);
    expect(counterexample).toBeUndefined();
    // The bounds are not only kept but reached: a smaller one would not be true.
    expect({ requests, copies }).toEqual({ requests: row.requests, copies: row.copies });
  });
});

describe('whatever the interleaving, the same is true of what comes, runs or leaves together', () => {
  test.each<[string, Row]>([
    [
      'with two deliveries and any one fault',
      { deliveries: 2, answers: ['delivered'], faults: 1, kinds: EVERY_FAULT, requests: 2, copies: 2 },
    ],
    [
      'with a handler that throws for all of it, or lacks something for all, or for one of it',
      { ...BATCH, faults: 2, kinds: ['throws for all', 'outage', 'throws'], requests: 3, copies: 3 },
    ],
    [
      'in a replica that is told to end, and whose connection breaks',
      { ...BATCH, faults: 2, kinds: ['closing', 'cut'], requests: 3, copies: 3 },
    ],
    [
      'in a replica that is told to end while it waits',
      { ...BATCH, faults: 2, kinds: ['closing', 'outage'], requests: 3, copies: 3 },
    ],
    [
      'with a retry that no queue takes, and which may not wait in a room',
      { answers: ['failed'], hasRooms: false, faults: 2, kinds: ['returned'], requests: 5, copies: 4 },
    ],
  ])('%s', async (_what, row) => {
    const { counterexample, requests, copies } = await exploreRow(row);
    expect(counterexample).toBeUndefined();
    expect({ requests, copies }).toEqual({ requests: row.requests, copies: row.copies });
  });
});

describe('whatever the interleaving, the same is true of what an event causes in parts', () => {
  test.each<[string, Row]>([
    ['with any one fault', { ...EVENT, faults: 1, kinds: EVERY_FAULT, requests: 2, copies: 2 }],
    [
      'in a replica that is told to end',
      { ...EVENT, faults: 2, kinds: ['closing', 'refused'], requests: 3, copies: 1 },
    ],
    ['with connections that break', { ...EVENT, faults: 2, kinds: ['cut', 'refused'], requests: 3, copies: 1 }],
    [
      'with two events in a batch, and any one fault',
      { ...EVENT, ...BATCH, faults: 1, kinds: EVERY_FAULT, requests: 2, copies: 2 },
    ],
    [
      'with parts of two events that no queue takes, and which may not wait in a room',
      { ...EVENT, ...BATCH, hasRooms: false, faults: 1, kinds: ['returned'], requests: 2, copies: 2 },
    ],
  ])('%s', async (_what, row) => {
    const { counterexample, requests, copies } = await exploreRow(row);
    expect(counterexample).toBeUndefined();
    expect({ requests, copies }).toEqual({ requests: row.requests, copies: row.copies });
  });
});

describe('whatever the interleaving, the same is true of what waits in the room of its endpoint', () => {
  test.each<[string, Row]>([
    [
      'without a fault, by two replicas: a room is released while none of its rows is in hand',
      { ...WAITING, answers: ['delivered', 'failed', 'full'], replicas: 2, ...NO_FAULT, requests: 2, copies: 2 },
    ],
    ['with any one fault', { ...WAITING, faults: 1, kinds: EVERYTHING, requests: 2, copies: 3 }],
    [
      'with processes that die, and claims that are lost',
      { ...WAITING, faults: 2, kinds: ['crash', 'claim lost'], requests: 3, copies: 2 },
    ],
    [
      'with retries, and a claim that is lost while its process lives',
      { answers: ['failed', 'full'], faults: 1, kinds: ['claim lost'], requests: 3, copies: 2 },
    ],
    [
      'with a crash while Redis is away',
      { ...WAITING, faults: 2, kinds: ['crash', 'redis away'], requests: 3, copies: 2 },
    ],
    [
      'with what comes again and waits already, though Redis forgets it',
      { ...WAITING, faults: 2, kinds: ['cut', 'redis forgets'], requests: 1, copies: 2 },
    ],
    [
      'with a put that comes after its delivery has come back from the waiting queue',
      { ...WAITING, faults: 2, kinds: ['commit unheard', 'redis forgets'], requests: 1, copies: 4 },
    ],
    ['with a suspect', { ...WAITING, faults: 2, kinds: ['throws', 'crash'], requests: 3, copies: 4 }],
  ])('%s', async (_what, row) => {
    const { counterexample, requests, copies } = await exploreRow(row);
    expect(counterexample).toBeUndefined();
    // The bounds are not only kept but reached: a smaller one would not be true.
    expect({ requests, copies }).toEqual({ requests: row.requests, copies: row.copies });
  });
});

describe('whatever the interleaving, the same is true of what the broker does not take, and waits in a room', () => {
  test.each<[string, Row]>([
    ['while it blocks, or a queue stalls', { faults: 2, kinds: ['blocked', 'stalled'], requests: 2, copies: 2 }],
    [
      'while it blocks and a process dies, or its connection is lost',
      { faults: 2, kinds: ['blocked', 'crash', 'cut'], answers: ['delivered'], requests: 3, copies: 1 },
    ],
    [
      'while queues stall or are missing, and nothing is heard of what is sent on',
      { faults: 2, kinds: ['stalled', 'returned', 'unconfirmed'], requests: 2, copies: 3 },
    ],
    ['of a batch, while it blocks', { ...BATCH, faults: 2, kinds: ['blocked', 'crash'], requests: 3, copies: 1 }],
  ])('%s', async (_what, row) => {
    const { counterexample, requests, copies } = await exploreRow(row);
    expect(counterexample).toBeUndefined();
    expect({ requests, copies }).toEqual({ requests: row.requests, copies: row.copies });
  });
});
