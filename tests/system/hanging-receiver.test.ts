import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { anEvent } from '../testing/event.ts';
import { Ledger } from '../testing/ledger.ts';
import { PATIENT } from '../testing/patience.ts';
import { Receiver } from '../testing/receiver.ts';
import { TestStack } from '../testing/test-stack.ts';

const ACTION = 'order.created';
const SLOTS = 20;
/** More than there are slots, for each receiver. */
const EVENTS = 30;
const HEALTHY = 3;

let stack: TestStack;
let receiver: Receiver;
let ledger: Ledger;

beforeAll(async () => {
  stack = await TestStack.start({
    ...PATIENT,
    DELIVER_SLOTS: String(SLOTS),
    CARRIER_RESPONSE_LIMIT: '2s',
    // Where this process stands still, so do the healthy: they answer by the last attempt.
    CARRIER_RETRY_DELAYS: '100ms,100ms,6s',
  });
  receiver = await Receiver.start();
  ledger = await Ledger.open(stack, receiver);
});

afterAll(async () => {
  await receiver?.[Symbol.asyncDispose]();
  await stack?.[Symbol.asyncDispose]();
});

/** A carrier subscribed at this path. Resolves with a way to publish one event for it. */
async function aCarrier(path: string): Promise<() => Promise<void>> {
  const client = await stack.client('carrier');
  await client.subscribe(ACTION, receiver.url(path));
  const subscription = await stack.subscriptionAt(receiver.url(path));
  return async () => {
    const event = anEvent({ interface: 'carrier', action: ACTION, parties: { carrier: client.account } });
    const sentAt = performance.now();
    await stack.upstream.publish(event);
    ledger.confirmed(event, [subscription], sentAt);
  };
}

/** How many attempts were under way at once, at most, as the deliverer wrote them down. */
function mostAtOnce(subscription: string): number {
  const attempts = ledger
    .recorded()
    .filter((outcome) => outcome.kind === 'failed' || outcome.kind === 'exhausted')
    .filter((outcome) => outcome.subscription === subscription)
    .map(({ at, answer }) => ({ from: at - answer.durationMs, to: at }));
  return Math.max(...attempts.map(({ from }) => attempts.filter((each) => each.from <= from && from < each.to).length));
}

const guidsAt = (path: string) => new Set(receiver.at(path).map(({ headers }) => headers['webhook-id'])).size;

describe('a receiver that never answers', () => {
  test('holds up nobody but itself, and each of its deliveries comes to an end', async () => {
    receiver.answer('/hangs', () => undefined);
    const hanging = await aCarrier('/hangs');
    const paths = Array.from({ length: HEALTHY }, (_, place) => `/healthy/${place}`);
    const healthy = await Promise.all(paths.map(aCarrier));
    for (let count = 0; count < EVENTS; count += 1) await hanging();
    for (const publish of healthy) for (let count = 0; count < EVENTS; count += 1) await publish();

    for (const path of paths) await receiver.untilReceived(path, EVENTS);
    // The healthy have all of theirs before half of what hangs was even attempted.
    expect(guidsAt('/hangs')).toBeLessThan(EVENTS / 2);

    await ledger.untilQuiet();
    expect(mostAtOnce(await stack.subscriptionAt(receiver.url('/hangs')))).toBeLessThanOrEqual(3);
    const { lost, duplicates, withGap, delivered, exhausted, dropped } = ledger.balance();
    expect({ lost, duplicates, withGap, delivered }).toEqual({
      lost: [],
      duplicates: 0,
      withGap: [],
      delivered: HEALTHY * EVENTS,
    });
    // Once one is exhausted the subscription is off, and the others are dropped.
    expect(exhausted).toBeGreaterThan(0);
    expect(exhausted + dropped).toBe(EVENTS);
  });
});
