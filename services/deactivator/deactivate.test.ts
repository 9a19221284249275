import { describe, expect, test } from '@jest/globals';
import type { Outcome } from '@waybell/line/outcomes';
import { deactivate } from './deactivate.ts';
import type { Deactivation, Ended } from './settle-deliveries.ts';

const facts = {
  delivery: 'd',
  subscription: 's',
  generation: 1,
  event: 'e',
  interface: 'carrier' as const,
  action: 'order.created',
  attempt: 1,
  at: 2,
  beganAt: 1,
  answer: { durationMs: 1 },
};
const delivered: Outcome = { ...facts, kind: 'delivered' };
const failed: Outcome = { ...facts, kind: 'failed', retryAt: 3 };
const exhausted: Outcome = { ...facts, kind: 'exhausted', attempt: 4, body: '{}' };
const dropped: Outcome = { ...facts, kind: 'dropped', reason: 'unsubscribed' };
const forgotten: Outcome = { ...facts, kind: 'dropped', reason: 'forgotten', attempt: 3 };
const routed: Outcome = {
  kind: 'routed',
  event: 'e',
  interface: 'carrier',
  action: 'order.created',
  at: 1,
  subjects: [],
  receivers: [],
  deliveries: [],
  suppressed: [{ reason: 'no_subscription' }],
  unknownMembers: 0,
};
const off: Deactivation = {
  subscription_guid: 's',
  generation: 1,
  interface: 'carrier',
  action: 'order.created',
  rule: 'exhausted',
};

/** Runs the handler on a batch; what it noted, caused and announced. */
async function run(outcomes: Outcome[], settled: Deactivation[] = []) {
  const noted: (readonly Ended[])[] = [];
  const announced: Deactivation[] = [];
  const settle = async (ended: readonly Ended[]) => {
    noted.push(ended);
    return settled;
  };
  const caused = await deactivate({ settle, onDeactivated: (each) => announced.push(each) })(outcomes);
  return { noted, announced, caused };
}

describe('deactivate', () => {
  test('notes ends, and nothing else, in one go', async () => {
    const { noted, caused } = await run([routed, failed, delivered, dropped, exhausted]);
    expect(noted).toEqual([[delivered, exhausted]]);
    expect(caused).toEqual([]);
  });

  test('asks nothing of the database where nothing ended', async () => {
    expect((await run([routed, failed, dropped, forgotten])).noted).toEqual([]);
  });

  test('announces what was switched off', async () => {
    expect((await run([exhausted], [off])).announced).toEqual([off]);
  });

  test.each(['resend', 'test'] as const)(
    'counts nothing that was sent by hand, be it delivered or not: %s',
    async (byHand) => {
      expect((await run([delivered, exhausted].map((each) => ({ ...each, byHand })))).noted).toEqual([]);
      expect((await run([{ ...exhausted, byHand }, delivered])).noted).toEqual([[delivered]]);
    },
  );

  test.each(['expired', 'parked_over_limit'])(
    'counts nothing that waited too long against anybody, be it attempted before or not: %s',
    async (reason) => {
      const waited: Outcome = { ...exhausted, answer: { durationMs: 0, reason } };
      expect((await run([{ ...waited, attempt: 1 }, waited])).noted).toEqual([]);
      expect((await run([waited, exhausted])).noted).toEqual([[exhausted]]);
    },
  );
});
