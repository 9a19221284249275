import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Ledger } from '../testing/ledger.ts';
import { PATIENT } from '../testing/patience.ts';
import { Receiver } from '../testing/receiver.ts';
import { ATTEMPTS, subscribed } from '../testing/subscribers.ts';
import { TestStack } from '../testing/test-stack.ts';

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
    // Of the carrier that hangs: the healthy are shippers, whose receivers may stand still for longer.
    CARRIER_RESPONSE_LIMIT: '2s',
    CARRIER_RETRY_DELAYS: '100ms,100ms,100ms',
  });
  receiver = await Receiver.start();
  ledger = await Ledger.open(stack, receiver);
});

afterAll(async () => {
  await receiver?.[Symbol.asyncDispose]();
  await stack?.[Symbol.asyncDispose]();
});

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
    const place = { stack, receiver };
    const never = Array.from({ length: ATTEMPTS.carrier }, () => undefined);
    const hangs = { interface: 'carrier', action: 'order.created', folder: '/hangs', answers: never } as const;
    const healthy = { interface: 'shipper', action: 'order.paid', folder: '/healthy', answers: [200] } as const;
    const hanging = await subscribed(place, hangs);
    const others = await Promise.all(Array.from({ length: HEALTHY }, () => subscribed(place, healthy)));
    for (const party of [hanging, ...others])
      for (let count = 0; count < EVENTS; count += 1) await ledger.publish(party);

    const [{ path, subscription } = { path: '', subscription: '' }] = hanging.addresses;
    for (const { addresses } of others) await receiver.untilReceived(addresses[0]?.path ?? '', EVENTS);
    // The healthy have all of theirs before half of what hangs was even attempted.
    expect(guidsAt(path)).toBeLessThan(EVENTS / 2);

    await ledger.untilQuiet();
    expect(mostAtOnce(subscription)).toBeLessThanOrEqual(3);
    const { lost, duplicates, delivered, exhausted, dropped } = ledger.balance();
    expect({ lost, duplicates, delivered }).toEqual({ lost: [], duplicates: 0, delivered: HEALTHY * EVENTS });
    // Once one is exhausted the subscription is off, and the others are dropped.
    expect(exhausted).toBeGreaterThan(0);
    expect(exhausted + dropped).toBe(EVENTS);
  });
});
