import { describe, expect, test } from '@jest/globals';
import { readEnds, recordWithEnd, writeEnds } from './delivery-ends.ts';
import type { Attempted } from './outcomes.ts';

const facts = {
  delivery: 'd',
  subscription: 's',
  generation: 3,
  event: 'e',
  interface: 'carrier' as const,
  action: 'order.created',
  attempt: 4,
  at: 2,
  beganAt: 1,
};
const answer = { durationMs: 1 };
const delivered: Attempted = { ...facts, kind: 'delivered', answer };
const exhausted: Attempted = { ...facts, kind: 'exhausted', answer, body: '{}' };
const unattempted = { ...facts, kind: 'exhausted' as const };
const end = { delivery: 'd', subscription: 's', generation: 3, isDelivered: false, at: 2 };

const endOf = (outcome: Attempted, how?: Parameters<typeof recordWithEnd>[1]) => {
  const [record, ...ends] = recordWithEnd(outcome, how);
  expect(record).toEqual({ kind: 'outcome', outcome });
  return ends;
};

describe('recordWithEnd', () => {
  test('tells of a delivery that exhausted its attempts', () => {
    expect(endOf(exhausted)).toEqual([{ kind: 'end', end }]);
  });

  test.each([undefined, 'resend', 'test'] as const)(
    'tells of a success where that is asked for, by hand: %p',
    (hand) => {
      const outcome = hand === undefined ? delivered : { ...delivered, byHand: hand };
      expect(endOf(outcome, { reportsSuccess: true })).toEqual([{ kind: 'end', end: { ...end, isDelivered: true } }]);
      expect(endOf(outcome)).toEqual([]);
    },
  );

  test.each<[string, Attempted]>([
    ['an attempt that a retry may make good', { ...facts, kind: 'failed', answer, retryAt: 3 }],
    ['what was dropped', { ...facts, kind: 'dropped', reason: 'unsubscribed' }],
    ['what failed by hand', { ...exhausted, byHand: 'resend' }],
    ['a test', { ...exhausted, byHand: 'test' }],
    ['what waited too long', { ...unattempted, reason: 'expired' }],
    ['one of too many that waited', { ...unattempted, reason: 'parked_over_limit' }],
  ])('tells nothing of %s', (_, outcome) => {
    expect(endOf(outcome, { reportsSuccess: true })).toEqual([]);
  });
});

describe('readEnds', () => {
  test('reads what was written', () => {
    const ends = [end, { ...end, isDelivered: true, at: 1_700_000_000_000 }];
    expect(readEnds({ body: writeEnds(ends) })).toEqual(ends);
  });

  test('rejects a later format as that', () => {
    const body = Buffer.from('{"version":3,"ends":"whatever"}');
    expect(readEnds({ body })).toMatchObject({ kind: 'reject', reason: 'newer_format' });
  });

  test.each(['nonsense', 'null', '{}', '{"version":1,"ends":[]}', '{"version":2,"ends":1}'])('rejects %s', (text) => {
    expect(readEnds({ body: Buffer.from(text) })).toMatchObject({ kind: 'reject', reason: 'not_ends' });
  });
});
