import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { queueDepths } from '@waybell/cli/stack/queue-depths';
import { deliveryQueue, routerQueue } from '@waybell/line/topology';
import { anEvent } from '../testing/event.ts';
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
    ROUTE_PAUSE_DEPTH: String(PAUSE_DEPTH),
    EVENTS_QUEUE_LIMIT: String(EVENTS_QUEUE_LIMIT),
  });
  receiver = await Receiver.start();
}, 120_000);

afterAll(async () => {
  await receiver?.[Symbol.asyncDispose]();
  await stack?.[Symbol.asyncDispose]();
}, 120_000);

async function depth(queue: string): Promise<number> {
  const [found] = (await queueDepths({ url: stack.brokerUrl }, [queue])) ?? [];
  return found?.messages ?? 0;
}

describe('when nobody delivers', () => {
  test('the router pauses, upstream is refused, and in the end everything that was confirmed is delivered', async () => {
    const shipper = await stack.client('shipper');
    await shipper.subscribe('order.paid', receiver.url('/late'));
    await stack.stack.service('deliverer').stop();
    const publish = () =>
      stack.upstream.publish(
        anEvent({ interface: 'shipper', action: 'order.paid', parties: { shipper: shipper.account } }),
      );

    const isPaused = () => logOf(stack.stack.service('event-router').spec).some(({ msg }) => msg === 'routing.paused');
    let confirmed = 0;
    await until('the router is paused', async () => {
      for (let count = 0; count < PAUSE_DEPTH; count += 1) await publish().then(() => (confirmed += 1));
      return isPaused();
    });
    const refusal = await until('upstream is refused', () =>
      publish().then(
        () => void (confirmed += 1),
        (error: unknown) => error,
      ),
    );
    expect(refusal).toBeInstanceOf(Error);
    expect(await depth(deliveryQueue('shipper.order.paid'))).toBeGreaterThan(PAUSE_DEPTH);
    expect(await depth(routerQueue)).toBeGreaterThan(0);

    await stack.stack.service('deliverer').start();
    const received = await receiver.untilReceived('/late', confirmed);
    expect(new Set(received.map(({ headers }) => headers['webhook-id'])).size).toBe(confirmed);
    await until('events are routed again', async () => (await depth(routerQueue)) === 0);
    await publish();
    await receiver.untilReceived('/late', confirmed + 1);
  });
});
