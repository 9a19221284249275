import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { queueDepths } from '@waybell/stack/queue-depths';
import { deliveryQueue, routerQueue } from '@waybell/line/topology';
import { anEvent } from '../testing/event.ts';
import { PATIENT } from '../testing/patience.ts';
import { Receiver } from '../testing/receiver.ts';
import { logOf } from '../testing/replica.ts';
import { TestStack } from '../testing/test-stack.ts';
import { until } from '@waybell/runtime/testing/until';

const PAUSE_DEPTH = 100;
const EVENTS_QUEUE_LIMIT = 64 * 1_024;

let stack: TestStack;
let receiver: Receiver;

beforeAll(async () => {
  stack = await TestStack.start({
    ...PATIENT,
    ROUTE_PAUSE_DEPTH: String(PAUSE_DEPTH),
    EVENTS_QUEUE_LIMIT: String(EVENTS_QUEUE_LIMIT),
  });
  receiver = await Receiver.start();
});

afterAll(async () => {
  await receiver?.[Symbol.asyncDispose]();
  await stack?.[Symbol.asyncDispose]();
});

/** Undefined while the broker does not say. */
async function depth(queue: string): Promise<number | undefined> {
  return (await queueDepths({ url: stack.brokerUrl }, [queue]))?.[0]?.messages;
}

describe('when nobody delivers', () => {
  test('the router pauses, upstream is refused, and in the end everything that was confirmed is delivered', async () => {
    const shipper = await stack.client('shipper');
    await shipper.subscribe('order.paid', receiver.url('/late'));
    await stack.stack.service('deliverer').stop();
    let confirmed = 0;
    const refusal = () =>
      stack.upstream
        .publish(anEvent({ interface: 'shipper', action: 'order.paid', parties: { shipper: shipper.account } }))
        .then(
          () => void (confirmed += 1),
          (error: unknown) => error,
        );

    // Refused before that is who outruns a router that is merely slow.
    await until('the router is paused', async () => {
      await refusal();
      return logOf(stack.stack.service('event-router').spec).some(({ msg }) => msg === 'routing.paused');
    });
    expect(await until('upstream is refused', refusal)).toMatchObject({ message: 'message nacked' });
    const delivering = await until('the broker says what waits', () => depth(deliveryQueue('shipper.order.paid')));
    expect(delivering).toBeGreaterThanOrEqual(PAUSE_DEPTH);
    expect(await until('the broker says what waits', () => depth(routerQueue))).toBeGreaterThan(0);

    await stack.stack.service('deliverer').start();
    const received = await receiver.untilReceived('/late', confirmed);
    expect(new Set(received.map(({ headers }) => headers['webhook-id'])).size).toBe(confirmed);
    await until('events are routed again', async () => (await depth(routerQueue)) === 0);
    expect(await refusal()).toBeUndefined();
    await receiver.untilReceived('/late', confirmed);
  });
});
