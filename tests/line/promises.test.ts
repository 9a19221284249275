import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { findAction } from '@waybell/catalog/actions';
import { isAttempted } from '@waybell/line/outcomes';
import { retryExchange } from '@waybell/line/topology';
import { aLine } from './a-line.ts';
import type { LineOptions, MemoryLine, Receiver } from './memory-line.ts';
import type { Row } from './memory-subscriptions.ts';

const HOUR_MS = 3_600_000;
const shipper = { interface: 'shipper', action: 'order.paid' } as const;
const failing: Receiver = () => ({ status: 500 });
const kinds = (line: MemoryLine) => line.outcomes.map(({ kind }) => kind);

describe('a carrier notification', () => {
  test('is exhausted with its exact body and its last answer', async () => {
    const { line, event } = aLine({ receiver: () => ({ status: 'none', afterMs: 3_000 }) });
    line.publish(event());
    await line.run();
    expect(line.outcomes.at(-1)).toMatchObject({
      kind: 'exhausted',
      attempt: 4,
      beganAt: line.requests[0]?.at,
      answer: { reason: 'response_timeout', durationMs: 3_000 },
      body: line.requests[0]?.body,
    });
  });
});

describe('a shipper notification', () => {
  test('that exhausts its attempts switches its subscription off where a setting says so', async () => {
    const settings = { DEACTIVATE_ON_EXHAUSTED: 'shipper' };
    const { line, event, subscription } = aLine({ row: shipper, receiver: failing, settings });
    line.publish(event());
    await line.run();
    expect(subscription.state).toBe('deactivated');
  });

  test('counts only against the generation it was made for', async () => {
    const settings = { DEACTIVATE_ON_EXHAUSTED: 'shipper' };
    const { line, event, subscription } = aLine({ row: shipper, receiver: failing, settings });
    line.publish(event());
    await line.runFor(90_000);
    subscription.generation += 1;
    await line.run();
    expect(line.outcomes.at(-1)).toMatchObject({ kind: 'exhausted', generation: 1 });
    expect(subscription.state).toBe('active');
  });
});

describe('a notification whose retry is pending', () => {
  test.each([
    ['unsubscribed', (row: Row) => (row.state = 'ended')],
    ['deactivated', (row: Row) => (row.state = 'deactivated')],
    ['feature_off', (row: Row) => (row.isFeatureOn = false)],
  ])('is dropped at its turn: %s', async (reason, change) => {
    const { line, event, subscription } = aLine({ receiver: failing });
    line.publish(event());
    await line.runFor(500);
    change(subscription);
    await line.run();
    expect(line.requests).toHaveLength(1);
    expect(kinds(line)).toEqual(['routed', 'failed', 'dropped']);
    expect(line.outcomes.at(-1)).toMatchObject({ kind: 'dropped', reason, attempt: 2 });
    expect(line.subscriptions.deactivations).toEqual([]);
  });

  test('goes to the changed URL at its next attempt', async () => {
    const { line, event, subscription } = aLine({ receiver: failing });
    line.publish(event());
    await line.runFor(500);
    subscription.callbackUrl = 'https://moved.example/';
    await line.run();
    const [first, ...others] = line.requests.map(({ url }) => url);
    expect(first).not.toBe('https://moved.example/');
    expect(others).toEqual(Array.from({ length: 3 }, () => 'https://moved.example/'));
  });
});

describe('a notification that waits', () => {
  test('for more than 24 h is exhausted, expired, unattempted, and does not count against its receiver', async () => {
    const { line, event, subscription } = aLine();
    line.down.add('deliverer');
    line.publish(event());
    await line.skip(24 * HOUR_MS + 1);
    line.down.clear();
    await line.run();
    expect(line.requests).toEqual([]);
    expect(line.outcomes.at(-1)).toMatchObject({ kind: 'exhausted', attempt: 1, reason: 'expired' });
    expect(subscription.state).toBe('active');
  });

  test('for more than 24 h after a failure counts against no subscription', async () => {
    const { line, event, subscription } = aLine({ receiver: failing });
    line.publish(event());
    await line.runFor(500);
    line.down.add('deliverer');
    await line.skip(24 * HOUR_MS);
    line.down.clear();
    await line.run();
    expect(line.requests).toHaveLength(1);
    expect(line.outcomes.at(-1)).toMatchObject({ kind: 'exhausted', attempt: 2, reason: 'expired' });
    expect(subscription.state).toBe('active');
  });

  test('for 24 h is still attempted', async () => {
    const { line, event } = aLine();
    line.down.add('deliverer');
    line.publish(event());
    await line.skip(24 * HOUR_MS - 1);
    line.down.clear();
    await line.run();
    expect(line.requests).toHaveLength(1);
  });
});

describe('an event', () => {
  test('that comes again after 24 h, and not before, is the same message again', async () => {
    const { line, event } = aLine();
    const published = event();
    line.publish(published);
    await line.run();
    await line.skip(23.9 * HOUR_MS);
    line.publish(published);
    await line.run();
    expect(line.requests).toHaveLength(1);
    await line.skip(0.1 * HOUR_MS);
    line.publish(published);
    await line.run();
    expect(new Set(line.requests.map(({ guid }) => guid)).size).toBe(1);
    expect(line.requests).toHaveLength(2);
  });

  test('that reached no subscription is not remembered: it may come again', async () => {
    const { line, event, subscription } = aLine();
    const published = event();
    subscription.state = 'deactivated';
    line.publish(published);
    await line.run();
    expect(line.outcomes).toMatchObject([{ kind: 'routed', suppressed: [{ reason: 'no_subscription' }] }]);
    subscription.state = 'active';
    line.publish(published);
    await line.run();
    expect(line.requests).toHaveLength(1);
  });

  test('of a revision that changes nothing of what a subscription wants is suppressed, saying so', async () => {
    const row = { ...shipper, action: 'order.modified', auditFieldSet: [] };
    const { line, event, subscription } = aLine({ row });
    line.publish(event({ payload: { ...findAction('shipper', row.action)?.example } }));
    await line.run();
    const suppressed = [{ reason: 'no_audited_change', subscription: subscription.guid }];
    expect(line.outcomes).toMatchObject([{ deliveries: [], suppressed }]);
  });

  test('of an action that does not exist is rejected as unroutable', async () => {
    const { line, event } = aLine();
    line.publish(event({ action: 'order.creatd' }));
    await line.run();
    expect(line.rejections).toMatchObject([{ reason: 'unroutable' }]);
    expect(line.rejections[0]?.detail).toContain('carrier.order.creatd');
  });
});

describe('a delivery whose retry no queue takes', () => {
  test('is tried again alone, and in the end rejected with its bytes: it is not lost', async () => {
    const refuses: LineOptions['refuses'] = (publication) =>
      publication.exchange === retryExchange ? 'returned' : undefined;
    const { line, event } = aLine({ receiver: failing, refuses, isLoggingErrors: true });
    line.publish(event());
    await line.run();
    expect(new Set(line.requests.map(({ attempt }) => attempt))).toEqual(new Set([1]));
    expect(line.rejections).toMatchObject([{ reason: 'unbound', body: line.requests[0]?.body }]);
    expect(line.outcomes.at(-1)).toMatchObject({ kind: 'rejected', delivery: line.requests[0]?.guid });
  });
});

describe('a crash of the deliverer', () => {
  test('before the retry was remembered costs one request more, and joins the delivery again', async () => {
    let crashes = 0;
    const diesAt: LineOptions['diesAt'] = ({ what }, service) =>
      service === 'deliverer' && what === 'remember' && crashes++ === 0;
    const { line, event } = aLine({ receiver: failing, diesAt });
    line.publish(event());
    await line.run();
    expect(line.requests.map(({ attempt }) => attempt)).toEqual([1, 1, 2, 3, 4]);
  });
});

describe('a deliverer that stands still', () => {
  test('for longer than its claim on a room makes nothing of a request that it had under way there: whoever has it asks again', async () => {
    let hasAnswered = false;
    const { line, event } = aLine({
      receiver: ({ waited }) => {
        if (waited === undefined) return { status: 'none', afterMs: 60_000 };
        if (hasAnswered) return { status: 200 };
        hasAnswered = true;
        return { status: 500, afterMs: 20 };
      },
    });
    for (let count = 0; count < 5; count += 1) line.publish(event());
    while (!hasAnswered) await line.runFor(10);
    const { guid, attempt } = line.requests.find(({ waited }) => waited !== undefined) ?? {};
    await line.skip(30_000);
    await line.run();
    expect(line.requests.filter((each) => each.guid === guid && each.attempt === attempt)).toHaveLength(2);
    const told = line.outcomes.filter(isAttempted).filter((each) => each.delivery === guid && each.attempt === attempt);
    expect(told.map(({ kind }) => kind)).toEqual(['delivered']);
  });
});

describe('a receiver that never answers', () => {
  const EVENTS = 5;
  const hanging: Receiver = () => ({ status: 'none', afterMs: 60_000 });

  /** A line with one that hangs and one that is healthy, on the same action, and the events of both in turn. */
  function aDividedLine(settings: Record<string, string>) {
    const { line, event, subscription } = aLine({ row: shipper, receiver: hanging, settings });
    const account = randomUUID();
    const healthy = line.subscriptions.add({ ...shipper, account });
    for (let count = 0; count < EVENTS; count += 1) {
      line.publish(event());
      line.publish(event({ parties: { shipper: account } }));
    }
    const to = ({ guid }: Row) => line.requests.filter((request) => request.subscription === guid);
    return { line, hung: () => to(subscription), healthy: () => to(healthy) };
  }

  test('holds up only itself', async () => {
    const { line, hung, healthy } = aDividedLine({ DELIVER_SLOTS: '20' });
    const beganAt = line.now;
    await line.runFor(5_000);
    expect(healthy()).toHaveLength(EVENTS);
    expect(healthy().every(({ at }) => at - beganAt < 1_000)).toBe(true);
    expect(hung().length).toBeLessThanOrEqual(2);
  });

  test('is switched off within 35 s where it is a carrier that a thousand deliveries wait for', async () => {
    const { line, event, subscription } = aLine({ receiver: () => ({ status: 'none', afterMs: 3_000 }) });
    const beganAt = line.now;
    for (let count = 0; count < 1_000; count += 1) line.publish(event());
    await line.runFor(60_000);
    expect(subscription.state).toBe('deactivated');
    expect((subscription.offAt ?? Infinity) - beganAt).toBeLessThan(35_000);
    await line.run();
    expect(line.left).toEqual([]);
  });

  test('has each attempt that waited for its turn recorded with why it waited', async () => {
    const { line } = aDividedLine({ DELIVER_SLOTS: '20' });
    await line.run();
    const attempts = line.outcomes.filter(isAttempted);
    const healthy = attempts.filter(({ kind }) => kind === 'delivered');
    const hung = attempts.filter(({ kind }) => kind !== 'delivered');
    expect(healthy.map(({ waited }) => waited)).toEqual(healthy.map(() => undefined));
    expect(hung[0]?.waited).toBeUndefined();
    expect(new Set(hung.map(({ waited }) => waited))).toContain('hung');
  });

  test('has deliveries that waited for longer than DELIVERY_MAX_AGE exhausted as expired, without a request', async () => {
    const { line, hung } = aDividedLine({ DELIVER_SLOTS: '20', DELIVERY_MAX_AGE: '2m' });
    await line.run();
    const asked = new Set(hung().map(({ guid }) => guid)).size;
    const expired = line.outcomes.filter((outcome) => 'reason' in outcome && outcome.reason === 'expired');
    expect(asked).toBeLessThan(EVENTS);
    expect(expired.length).toBeGreaterThanOrEqual(EVENTS - asked);
    expect(line.left).toEqual([]);
  });
});
