import { describe, expect, test } from '@jest/globals';
import type { PatientWish } from './endpoint.ts';
import type { KnownEndpoint } from './known-endpoint.ts';
import { Waiting, type Waiter } from './waiting.ts';

function waitingFor(wishes: readonly PatientWish[]) {
  const waiting = new Waiting();
  // An endpoint that is asked nothing here.
  const endpoint = {} as KnownEndpoint;
  for (const wish of wishes) waiting.add({ endpoint, wish, resolve: () => undefined });
  return waiting;
}

function served(waiting: Waiting, count: number): Waiter[] {
  return Array.from({ length: count }, () => {
    const waiter = waiting.next();
    if (waiter === undefined) throw new Error('nobody waits');
    waiting.delete(waiter);
    return waiter;
  });
}

describe('waiting', () => {
  test('gives fresh and parked ones every other place while both wait, and by hand goes first', () => {
    const waiting = waitingFor(['parked', 'parked', 'parked', 'fresh', 'fresh', 'by hand', 'fresh', 'fresh', 'parked']);
    const wishes = served(waiting, 9).map(({ wish }) => wish);
    expect(wishes).toEqual(['by hand', 'fresh', 'parked', 'fresh', 'parked', 'fresh', 'parked', 'fresh', 'parked']);
    expect(waiting.next()).toBeUndefined();
  });

  test('gives the places to those that wait where the others do not', () => {
    expect(served(waitingFor(['parked', 'parked']), 2)).toHaveLength(2);
    expect(served(waitingFor(['fresh', 'fresh']), 2)).toHaveLength(2);
  });
});
