import { describe, expect, test } from '@jest/globals';
import { publishDelivery, type Delivery } from '@waybell/line/delivery';
import type { Outgoing } from '@waybell/line/messages';
import { verdictOf } from '@waybell/line/suspicion';
import { explore, type Exploration } from './explore.ts';
import { readStepTable, realStep, type AnswerKind, type MakeStep } from './step-table.ts';
import { asBuilt, type FaultKind, type HandOver } from './world.ts';

/** What is modelled, and what this shows and does not: docs/decisions/0006-hand-over-model.md. */

type Row = {
  deliveries?: number;
  retries?: number;
  replicas?: number;
  isBesideSuspects?: boolean;
  faults: number;
  kinds: readonly FaultKind[];
  answers?: readonly AnswerKind[];
  isRejectable?: boolean;
  requests: number;
  copies: number;
};

const EVERY_FAULT: readonly FaultKind[] = [
  ...(['crash', 'cut', 'refused', 'unconfirmed', 'returned'] as const),
  ...(['expired twice', 'redis away', 'redis forgets', 'throws', 'outage'] as const),
];

const killerBesideSuspect = {
  deliveries: 2,
  isBesideSuspects: true,
  isRejectable: true,
  faults: 7,
  kinds: ['kills'],
  answers: ['delivered'],
  requests: 2,
  copies: 7,
} as const satisfies Row;

async function exploreRow(row: Row, handOver: HandOver = asBuilt, make: MakeStep = realStep): Promise<Exploration> {
  const { deliveries = 1, retries = 1, replicas = 1, answers = ['delivered', 'failed'], isRejectable = false } = row;
  const { isBesideSuspects = false, kinds: faultKinds, faults: faultLimit } = row;
  const step = await readStepTable(make, { deliveries, retries });
  const world = { step, handOver, deliveries, replicas, isBesideSuspects, answers, faultKinds, faultLimit };
  return explore(world, { retries, requests: row.requests, copies: row.copies, isRejectable });
}

describe('whatever the interleaving, nothing is lost, retried beyond its schedule or stuck, and requests are bounded', () => {
  test.each<[string, Row]>([
    ['without a fault, by two replicas', { replicas: 2, retries: 2, faults: 0, kinds: [], requests: 3, copies: 1 }],
    ['with any one fault and three attempts', { retries: 2, faults: 1, kinds: EVERY_FAULT, requests: 6, copies: 2 }],
    ['with any one fault and two replicas', { replicas: 2, faults: 1, kinds: EVERY_FAULT, requests: 5, copies: 2 }],
    ['with two losses of a confirm', { faults: 2, kinds: ['unconfirmed'], requests: 2, copies: 3 }],
    [
      'with two deliveries in a replica that dies twice',
      { deliveries: 2, faults: 2, kinds: ['crash'], answers: ['delivered'], requests: 3, copies: 1 },
    ],
    [
      'with a message that kills its process each time',
      { faults: 7, kinds: ['crash'], answers: ['delivered'], isRejectable: true, requests: 8, copies: 10 },
    ],
    ['with such a message beside a suspect, which is not blamed for it', killerBesideSuspect],
    [
      'with a handler that throws each time',
      { faults: 7, kinds: ['throws'], answers: ['delivered'], isRejectable: true, requests: 6, copies: 3 },
    ],
    [
      'with outages, which get no delivery rejected',
      { faults: 5, kinds: ['throws', 'outage'], answers: ['delivered'], requests: 6, copies: 3 },
    ],
  ])('%s', async (_what, row) => {
    const explored = await exploreRow(row);
    expect(explored.counterexample).toBeUndefined();
    // The bounds are not only kept but reached: a smaller one would not be true.
    expect(explored).toMatchObject({ requests: row.requests, copies: row.copies });
  });
});

/** A retry that keeps the number of its attempt, as one whose note is copied from the message at hand. */
const copyingNote: MakeStep = (world) => {
  const step = realStep(world);
  const withNoteOf = (delivery: Delivery, outgoing: Outgoing): Outgoing => {
    const { note } = publishDelivery(delivery);
    return outgoing.kind === 'publish' && note !== undefined ? { ...outgoing, note } : outgoing;
  };
  return {
    ...step,
    handle: async (delivery) => (await step.handle(delivery)).map((outgoing) => withNoteOf(delivery, outgoing)),
  };
};

const notIsolated: HandOver['verdictOf'] = (door, deliveryCount) =>
  verdictOf(door === 'suspects' ? 'quarantine' : door, deliveryCount);

const oneRetryTooMany: MakeStep = (world) => realStep({ ...world, retries: world.retries + 1 });

describe('done otherwise, the hand-over breaks a law, and the shortest story in which it does is told:', () => {
  const crash: Row = { faults: 1, kinds: ['crash'], requests: 5, copies: 2 };
  const unconfirmed: Row = { faults: 1, kinds: ['unconfirmed'], requests: 2, copies: 2 };
  const kills: Row = { ...crash, faults: 3, answers: ['delivered'], copies: 3 };
  const outages: Row = { faults: 5, kinds: ['throws', 'outage'], answers: ['delivered'], requests: 6, copies: 3 };
  test.each<[string, Row, Partial<HandOver>, MakeStep, string]>([
    ['acknowledged before the confirm', crash, { acknowledges: 'when sent' }, realStep, 'lost'],
    ['remembered before the confirm', crash, { remembers: 'when sent' }, realStep, 'lost'],
    ['a return unheard', { ...crash, kinds: ['returned'] }, { hearsReturns: false }, realStep, 'lost'],
    ['a refusal unheard', { ...crash, kinds: ['refused'] }, { hearsRefusals: false }, realStep, 'lost'],
    ['a retry that copies its attempt', { ...crash, faults: 0 }, {}, copyingNote, 'lost'],
    ['one retry too many', { ...crash, faults: 0 }, {}, oneRetryTooMany, 'an attempt beyond the schedule'],
    ['nothing remembered', unconfirmed, { remembers: 'never' }, realStep, 'more than 2 requests'],
    ['copies side by side in a replica', unconfirmed, { takesTurns: false }, realStep, 'more than 2 requests'],
    ['killers taken again and again', kills, { verdictOf: () => 'handle' }, realStep, 'handled after 3 deliveries'],
    [
      'suspects not isolated',
      { ...killerBesideSuspect, faults: 3, requests: 9 },
      { verdictOf: notIsolated },
      realStep,
      'rejected without reason',
    ],
    ['suspects given back', outages, { givesBackSuspects: 'to the broker' }, realStep, 'rejected without reason'],
  ])('%s', async (_what, row, change, make, broken) => {
    const { counterexample } = await exploreRow(row, { ...asBuilt, ...change }, make);
    expect((await exploreRow(row)).counterexample).toBeUndefined();
    expect(counterexample?.broken).toMatch(new RegExp(`^${broken}`));
    expect(counterexample?.story.filter((line) => line.startsWith('FAULT:')).length).toBeLessThanOrEqual(row.faults);
  });

  test('acknowledged before the confirm, the story reads', async () => {
    const { counterexample } = await exploreRow(crash, { ...asBuilt, acknowledges: 'when sent' });
    expect(counterexample).toEqual({
      broken: 'lost: no copy is left, and no end was recorded (delivery A)',
      story: [
        'deliverer 1 takes attempt 1 of A from the queue',
        'deliverer 1 handles attempt 1 of A: delivered',
        'deliverer 1 acknowledges attempt 1 of A',
      ],
    });
  });
});
