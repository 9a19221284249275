import { describe, expect, test } from '@jest/globals';
import type { AttemptEntry, DeliveryEntry } from '@waybell/delivery-log/read/entries';
import { describeDelivery } from './describe-history.ts';

const NINE = Date.parse('2026-11-20T09:00:00Z');
const attempt = (attemptNumber: number, what: Partial<AttemptEntry>): AttemptEntry => ({
  attempt: attemptNumber,
  at: NINE + attemptNumber * 1_000,
  kind: 'failed',
  subscription: 'first',
  ...what,
});
const nameOf = () => undefined;
const delivery: DeliveryEntry = {
  delivery: 'd',
  event: 'e',
  interface: 'carrier',
  action: 'order.created',
  keys: [],
  at: NINE,
  subscription: 'first',
  account: 'a',
  client: 'c',
  status: 'exhausted',
  attempts: [],
};

describe('describeDelivery', () => {
  test('tells of one that was sent again after a switch-off in the order of time, and to whom it goes now', () => {
    const attempts = [
      attempt(1, { kind: 'exhausted' }),
      attempt(2, { kind: 'dropped', at: NINE + 60_000 }),
      attempt(3, { kind: 'delivered', at: NINE + 120_000, byHand: 'resend', subscription: 'second' }),
    ];
    const deactivation = { at: NINE + 1_500, rule: 'exhausted' };
    expect(describeDelivery({ ...delivery, status: 'delivered', attempts, deactivation }, nameOf).slice(1)).toEqual([
      '  to account a, client c, subscription second',
      '  2026-11-20 09:00:01.000  attempt 1  to subscription first',
      '  2026-11-20 09:00:01.500  this switched the subscription off (rule: exhausted)',
      '  2026-11-20 09:01:00.000  no attempt 2:   to subscription first',
      '  2026-11-20 09:02:00.000  attempt 3  by hand: resend',
    ]);
  });

  test('says of what was no response which rule it broke, and what came', () => {
    const why = { reason: 'invalid_response', meaning: '', remedy: '' };
    const broken = attempt(1, { why, brokenRule: 'line 1 of its headers has no colon', answer: 'HTTP/1.1 200\r\nno' });
    expect(describeDelivery({ ...delivery, attempts: [broken] }, nameOf).slice(-2)).toEqual([
      '  2026-11-20 09:00:01.000  attempt 1  invalid_response: line 1 of its headers has no colon',
      '    said: HTTP/1.1 200 no',
    ]);
  });

  test('names the one subscription once, and the one that waits for its first attempt', () => {
    const once = describeDelivery({ ...delivery, attempts: [attempt(1, {})] }, nameOf).join();
    expect(once.match(/subscription first/g)).toHaveLength(1);
    expect(describeDelivery(delivery, nameOf)[1]).toContain('subscription first');
  });

  const retrying = {
    ...delivery,
    status: 'retrying' as const,
    attempts: [attempt(1, { durationMs: 5 })],
    nextAttemptAt: NINE + 60_000,
  };
  const first = (entry: DeliveryEntry, now: number) => describeDelivery(entry, nameOf, now)[0];
  const due = 'delivery d: not delivered yet, after 1 attempt; the next';
  const why =
    'and no attempt was made: no deliverer has taken it, or RabbitMQ has lost it by a policy (see "./waybell status")';

  test('says when the next attempt is due, and of one that was missed how long ago that was', () => {
    expect(first(retrying, NINE)).toBe(`${due} is due at 2026-11-20 09:01:00.000`);
    expect(first(retrying, NINE + 90_000)).toBe(`${due} was due at 2026-11-20 09:01:00.000`);
    expect(first(retrying, NINE + 13 * 60_000)).toBe(
      `${due} was due at 2026-11-20 09:01:00.000, 12 minutes ago, ${why}`,
    );
    expect(first(retrying, NINE + 5 * 3_600_000)).toContain(', 4 hours ago, ');
    expect(first({ ...delivery, status: 'waiting' }, NINE + 200_000)).toBe(
      `delivery d: waiting for its first attempt, due at 2026-11-20 09:00:00.000, 3 minutes ago, ${why}`,
    );
  });

  test('says of one that waits no more than that', () => {
    const waiting = { since: NINE + 60_000, why: 'hung' as const };
    expect(first({ ...retrying, waiting }, NINE + 13 * 60_000)).toBe(
      `${due} was due at 2026-11-20 09:01:00.000; waiting since 2026-11-20 09:01:00.000: its endpoint does not answer`,
    );
  });
});
