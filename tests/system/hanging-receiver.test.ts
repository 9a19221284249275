import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { anEvent } from '../testing/event.ts';
import { Ledger } from '../testing/ledger.ts';
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
    DELIVER_SLOTS: String(SLOTS),
    CARRIER_RESPONSE_LIMIT: '2s',
    CARRIER_RETRY_DELAYS: '100ms,100ms,100ms',
  });
  receiver = await Receiver.start();
  ledger = await Ledger.open(stack, receiver);
}, 120_000);

afterAll(async () => {
  await receiver?.[Symbol.asyncDispose]();
  await stack?.[Symbol.asyncDispose]();
}, 120_000);

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

const guidsAt = (path: string) => new Set(receiver.at(path).map(({ headers }) => headers['webhook-id'])).size;

describe('a receiver that never answers', () => {
  test('holds up nobody but itself, and each of its deliveries comes to an end', async () => {
    let [open, mostOpen] = [0, 0];
    receiver.answer('/hangs', (response) => {
      open += 1;
      mostOpen = Math.max(mostOpen, open);
      response.on('close', () => (open -= 1));
    });
    const hanging = await aCarrier('/hangs');
    const paths = Array.from({ length: HEALTHY }, (_, place) => `/healthy/${place}`);
    const healthy = await Promise.all(paths.map(aCarrier));
    for (let count = 0; count < EVENTS; count += 1) await hanging();
    for (const publish of healthy) for (let count = 0; count < EVENTS; count += 1) await publish();

    for (const path of paths) await receiver.untilReceived(path, EVENTS);
    // The healthy have all of theirs before half of what hangs was even attempted.
    expect(guidsAt('/hangs')).toBeLessThan(EVENTS / 2);
    // A request that was given up may be open here for a moment while the next one comes.
    expect(mostOpen).toBeLessThanOrEqual(3);

    await ledger.untilQuiet();
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
  }, 300_000);
});
