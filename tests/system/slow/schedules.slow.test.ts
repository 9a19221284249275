import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { anEvent } from '../../testing/event.ts';
import { Receiver } from '../../testing/receiver.ts';
import { TestStack } from '../../testing/test-stack.ts';

// Not 60 s, so that a receiver that never answers can be waited for.
const SHIPPER_RESPONSE_LIMIT_MS = 2_000;
const SHIPPER_INTERVAL_MS = 60_000;
const CARRIER_LIMIT_MS = 3_000;
const CARRIER_FIRST_DELAY_MS = 1_000;
// A limit runs from the start of a request; a busy machine may see it arrive that much later.
const TRANSIT_MS = 1_000;
// Late is the machine's affair here, not the schedule's.
const LATE_MS = 15_000;

let stack: TestStack;
let receiver: Receiver;
/** When the deliverer gave up on a request that had no answer, by path. */
const givenUpAt = new Map<string, number>();

const answerAfter = (ms: number) => {
  receiver.answer(`/after-${ms}`, (response) => void setTimeout(() => response.writeHead(200).end(), ms));
  return `/after-${ms}`;
};

async function notify(interfaceName: 'shipper' | 'carrier', path: string): Promise<void> {
  const action = interfaceName === 'shipper' ? 'order.paid' : 'order.created';
  const client = await stack.client(interfaceName);
  await client.subscribe(action, receiver.url(path));
  await stack.upstream.publish(
    anEvent({ interface: interfaceName, action, parties: { [interfaceName]: client.account } }),
  );
}

/** Milliseconds from one request to the next. */
async function gapAt(path: string, limitMs?: number): Promise<number> {
  const [first, second] = await receiver.untilReceived(path, 2, limitMs);
  expect(second?.headers['x-webhook-attempt']).toBe('2');
  return (second?.at ?? 0) - (first?.at ?? 0);
}

// All wait at the same time.
beforeAll(async () => {
  stack = await TestStack.start({ SHIPPER_RESPONSE_LIMIT: `${SHIPPER_RESPONSE_LIMIT_MS}ms` });
  receiver = await Receiver.start();
  receiver.answer('/fails', 500);
  receiver.answer('/hangs', (response, { path }) => {
    response.on('close', () => givenUpAt.set(path, givenUpAt.get(path) ?? performance.now()));
  });
  await notify('shipper', '/fails');
  await notify('shipper', '/hangs');
  await notify('carrier', answerAfter(2_500));
  await notify('carrier', answerAfter(3_500));
}, 120_000);

afterAll(async () => {
  await receiver?.[Symbol.asyncDispose]();
  await stack?.[Symbol.asyncDispose]();
}, 120_000);

describe('a carrier receiver', () => {
  test('that answers after 3.5 s has failed, and is asked again a second after the limit of 3 s', async () => {
    const gap = await gapAt('/after-3500');
    expect(gap).toBeGreaterThanOrEqual(CARRIER_LIMIT_MS + CARRIER_FIRST_DELAY_MS - TRANSIT_MS);
    expect(gap).toBeLessThan(CARRIER_LIMIT_MS + CARRIER_FIRST_DELAY_MS + LATE_MS);
  });

  test('that answers after 2.5 s has succeeded', async () => {
    // By the time the other is asked a third time, this one would have been asked twice.
    await receiver.untilReceived('/after-3500', 3);
    expect(receiver.at('/after-2500')).toHaveLength(1);
  });
});

describe('a shipper receiver', () => {
  test('that fails is asked again after 60 s, never before', async () => {
    const gap = await gapAt('/fails', SHIPPER_INTERVAL_MS * 2);
    expect(gap).toBeGreaterThanOrEqual(SHIPPER_INTERVAL_MS);
    expect(gap).toBeLessThan(SHIPPER_INTERVAL_MS + LATE_MS);
  }, 180_000);

  test('that never answers is given up at the limit, and asked again 60 s after that', async () => {
    const gap = await gapAt('/hangs', SHIPPER_INTERVAL_MS * 2);
    const [first] = receiver.at('/hangs');
    const waited = (givenUpAt.get('/hangs') ?? 0) - (first?.at ?? 0);
    expect(waited).toBeGreaterThanOrEqual(SHIPPER_RESPONSE_LIMIT_MS - TRANSIT_MS);
    expect(waited).toBeLessThan(SHIPPER_RESPONSE_LIMIT_MS + LATE_MS);
    // The attempt failed before its receiver could notice.
    expect(gap).toBeGreaterThanOrEqual(SHIPPER_INTERVAL_MS + SHIPPER_RESPONSE_LIMIT_MS - TRANSIT_MS);
    expect(gap).toBeLessThan(SHIPPER_RESPONSE_LIMIT_MS + SHIPPER_INTERVAL_MS + LATE_MS);
  }, 180_000);
});
