import { describe, expect, test } from '@jest/globals';
import { readEnds, recordWithEnd, writeEnds } from './outcome-batch.ts';
import type { Attempted, DeliveryEnd } from './outcomes.ts';

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
const answer = { durationMs: 1, reason: 'http_5xx' as const, status: 503 };
const delivered: Attempted = { ...facts, kind: 'delivered', answer };
const exhausted: Attempted = { ...facts, kind: 'exhausted', answer, body: '{}' };
const unattempted = { ...facts, kind: 'exhausted' as const };
const end = { delivery: 'd', subscription: 's', generation: 3, isDelivered: false, at: 2 };
const failed = { ...end, reason: 'http_5xx' as const, status: 503 };

const endOf = (outcome: Attempted, how?: Parameters<typeof recordWithEnd>[1]) => {
  const [record, ...ends] = recordWithEnd(outcome, how);
  expect(record).toEqual({ kind: 'outcome', outcome });
  return ends;
};

describe('recordWithEnd', () => {
  test('tells of a delivery that exhausted its attempts', () => {
    expect(endOf(exhausted)).toEqual([{ kind: 'end', end: failed }]);
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
    ['a test', { ...exhausted, byHand: 'test' }],
  ])('tells nothing of %s', (_, outcome) => {
    expect(endOf(outcome, { reportsSuccess: true })).toEqual([]);
  });
});

describe('recordWithEnd, of what says nothing about a receiver,', () => {
  test.each<[string, Attempted, object]>([
    ['what failed by hand', { ...exhausted, byHand: 'resend' }, { reason: 'http_5xx', status: 503 }],
    ['what waited too long', { ...unattempted, reason: 'expired' }, { reason: 'expired' }],
    ['one of too many that waited', { ...unattempted, reason: 'parked_over_limit' }, { reason: 'parked_over_limit' }],
  ])('tells %s as uncounted', (_, outcome, why) => {
    expect(endOf(outcome)).toEqual([{ kind: 'end', end: { ...end, ...why, isUncounted: true } }]);
  });
});

describe('an answer of 410', () => {
  const gone = { kind: 'end', end: { ...end, isGone: true } };
  const answered = { ...answer, reason: 'http_4xx' as const, status: 410 };

  test('is told of after whatever attempt, and beside the end of its delivery', () => {
    expect(endOf({ ...facts, kind: 'failed', answer: answered, retryAt: 3 })).toEqual([gone]);
    expect(endOf({ ...exhausted, answer: answered })).toEqual([
      { kind: 'end', end: { ...end, reason: 'http_4xx', status: 410 } },
      gone,
    ]);
  });

  test.each(['resend', 'test'] as const)('to what was sent by hand (%s) ends nothing', (byHand) => {
    expect(endOf({ ...facts, kind: 'failed', answer: answered, retryAt: 3, byHand })).toEqual([]);
  });

  test('is passed over where it is not known: as a failure it would count', () => {
    const ends: DeliveryEnd[] = [failed, { ...end, isGone: true }];
    const written = writeEnds(ends);
    expect(JSON.parse(written.toString()).ends).toHaveLength(1);
    expect(readEnds({ body: written })).toEqual(ends);
  });
});

describe('readEnds', () => {
  test('reads what was written', () => {
    const expired: DeliveryEnd = { ...end, reason: 'expired', isUncounted: true };
    const ends: DeliveryEnd[] = [end, { ...end, isDelivered: true, at: 1_700_000_000_000 }, failed, expired];
    expect(readEnds({ body: writeEnds(ends) })).toEqual(ends);
  });

  test('counts nothing uncounted where only what counts is known', () => {
    const { ends } = JSON.parse(writeEnds([{ ...end, reason: 'expired', isUncounted: true }, failed]).toString());
    expect(ends).toEqual([['d', 's', 3, false, 2, 'http_5xx', 503]]);
  });

  test('rejects a later format as that', () => {
    const body = Buffer.from('{"version":3,"ends":"whatever"}');
    expect(readEnds({ body })).toMatchObject({ kind: 'reject', reason: 'newer_format' });
  });

  test.each(['nonsense', 'null', '{}', '{"version":1,"ends":[]}', '{"version":2,"ends":1}'])('rejects %s', (text) => {
    expect(readEnds({ body: Buffer.from(text) })).toMatchObject({ kind: 'reject', reason: 'not_ends' });
  });
});
