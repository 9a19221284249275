import { describe, expect, test } from '@jest/globals';
import { explore, type Exploration } from './explore.ts';
import { readDeliverer, type AnswerKind } from './deliverer.ts';
import type { FaultKind } from './setting.ts';

/** What is modelled, and what this shows and does not: docs/decisions/0006-hand-over-model.md. That it can fail: `./waybell test mutants`. */

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
const KILLER = { faults: 7, answers: ['delivered'], isRejectable: true } as const;

async function exploreRow(row: Row): Promise<Exploration> {
  const { deliveries = 1, retries = 1, replicas = 1, answers = ['delivered', 'failed'], isRejectable = false } = row;
  const { isBesideSuspects = false, kinds: faultKinds, faults: faultLimit } = row;
  const deliverer = await readDeliverer({ retries });
  const setting = { deliverer, deliveries, replicas, isBesideSuspects, answers, faultKinds, faultLimit };
  return explore(setting, { retries, requests: row.requests, copies: row.copies, isRejectable });
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
      'with a twin of one of two deliveries in a replica, which waits and costs no request',
      { deliveries: 2, faults: 1, kinds: ['expired twice'], answers: ['failed'], requests: 2, copies: 2 },
    ],
    [
      'with two deliveries that come again while the replica is at them, or waits with them',
      { deliveries: 2, faults: 2, kinds: ['cut', 'outage'], answers: ['delivered'], requests: 1, copies: 1 },
    ],
    ['with a refusal of what is held no longer', { faults: 2, kinds: ['cut', 'refused'], requests: 3, copies: 1 }],
    ['with a crash while Redis is away', { faults: 2, kinds: ['crash', 'redis away'], requests: 6, copies: 3 }],
    ['with a message that kills its process each time', { ...KILLER, kinds: ['crash'], requests: 8, copies: 10 }],
    [
      'with such a message beside a suspect, which is not blamed for it',
      { ...KILLER, deliveries: 2, isBesideSuspects: true, kinds: ['kills'], requests: 2, copies: 7 },
    ],
    ['with a handler that throws each time', { ...KILLER, kinds: ['throws'], requests: 6, copies: 3 }],
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
