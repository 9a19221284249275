import { describe, expect, test } from '@jest/globals';
import type { WaitingOrigin } from './endpoint.ts';
import { WaitingDeliveries } from './known-endpoint.ts';

type Waiter = { origin: WaitingOrigin };

function waitingFor(origins: readonly WaitingOrigin[]) {
  const waiting = new WaitingDeliveries<Waiter>();
  for (const origin of origins) waiting.add({ origin });
  return waiting;
}

function served(waiting: WaitingDeliveries<Waiter>, count: number): Waiter[] {
  return Array.from({ length: count }, () => {
    const waiter = waiting.next();
    if (waiter === undefined) throw new Error('nobody waits');
    waiting.delete(waiter);
    return waiter;
  });
}

describe('waiting', () => {
  test('gives fresh ones and those from the room every other place while both wait, and by hand goes first', () => {
    const waiting = waitingFor(['waited', 'waited', 'waited', 'fresh', 'fresh', 'by hand', 'fresh', 'fresh', 'waited']);
    const origins = served(waiting, 9).map(({ origin }) => origin);
    expect(origins).toEqual(['by hand', 'fresh', 'waited', 'fresh', 'waited', 'fresh', 'waited', 'fresh', 'waited']);
    expect(waiting.next()).toBeUndefined();
  });

  test('gives the places to those that wait where the others do not', () => {
    expect(served(waitingFor(['waited', 'waited']), 2)).toHaveLength(2);
    expect(served(waitingFor(['fresh', 'fresh']), 2)).toHaveLength(2);
  });
});
