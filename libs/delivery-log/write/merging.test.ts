import { describe, expect, test } from '@jest/globals';
import type { Attempted, Routed } from '@waybell/line/outcomes';
import { incomplete, type LogRecord } from './merging.ts';

const of = { event: 'e', interface: 'carrier', action: 'order.created', at: 2 } as const;
const routed = (...deliveries: string[]): Routed => ({
  ...of,
  kind: 'routed',
  keys: [],
  receivers: [],
  deliveries: deliveries.map((delivery) => ({ delivery, subscription: 's', account: 'a', client: 'c' })),
  suppressed: [],
  unknownMembers: 0,
});
const attempt = (delivery: string): Attempted => ({
  ...of,
  kind: 'dropped',
  reason: 'unsubscribed',
  delivery,
  subscription: 's',
  generation: 1,
  attempt: 1,
});

type Given = { outcome: Routed | Attempted; hasStayed?: boolean; isRepeat?: boolean };

/** The places of those that stay. */
function staying(given: Given[]): number[] {
  const records = given.map(({ outcome, isRepeat = false }): LogRecord => ({ outcome, isRepeat }));
  const waiting = given.map(({ hasStayed = false }, place) => ({ item: records[place] as LogRecord, hasStayed }));
  const stay = incomplete(waiting);
  return records.flatMap((record, place) => (stay.has(record) ? [place] : []));
}

describe('incomplete', () => {
  test.each<[string, Given[], number[]]>([
    ['a verdict without its attempt stays', [{ outcome: routed('a') }], [0]],
    ['one with it does not', [{ outcome: attempt('a') }, { outcome: routed('a') }], []],
    ['one that caused no delivery does not', [{ outcome: routed() }], []],
    ['an attempt without its verdict does not', [{ outcome: attempt('a') }], []],
    [
      'one of two attempts stays with its verdict',
      [{ outcome: routed('a', 'b') }, { outcome: attempt('b') }, { outcome: attempt('c') }],
      [0, 1],
    ],
    ['nothing stays twice', [{ outcome: routed('a', 'b'), hasStayed: true }, { outcome: attempt('b') }], []],
    ['what may be written already does not wait', [{ outcome: routed('a'), isRepeat: true }], []],
  ])('%s', (_, given, expected) => {
    expect(staying(given)).toEqual(expected);
  });
});
