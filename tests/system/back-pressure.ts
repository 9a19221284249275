import { describe, expect, test } from '@jest/globals';
import { queueDepths } from '@waybell/stack/queue-depths';
import { deliveryQueue, routerQueue } from '@waybell/line/topology';
import { until } from '@waybell/runtime/testing/until';
import { logOf } from '../testing/replica.ts';
import { EVENTS_LIMIT_BYTES, receiver, settingsOf, stack } from './stand.ts';

const PAUSE_DEPTH = 10;
/** Large enough that few fill the queue. */
const NOTE = 'n'.repeat(EVENTS_LIMIT_BYTES / 16);

/** Undefined while the broker does not say. */
async function depth(queue: string): Promise<number | undefined> {
  const [state] = (await queueDepths({ url: stack.brokerUrl }, [queue])) ?? [];
  return state?.isKnown ? state.messages : undefined;
}

export function backPressure(): void {
  describe('when no deliverer runs', () => {
    settingsOf('event-router', () => ({ ROUTE_PAUSE_DEPTH: String(PAUSE_DEPTH) }));

    test('the router pauses, upstream is refused, and in the end everything that was confirmed is delivered', async () => {
      const shipper = await stack.client('shipper');
      await shipper.subscribe('order.paid', receiver.url('/late'));
      await stack.stack.service('deliverer').stop();
      let confirmed = 0;
      const refusal = () =>
        shipper.hear('order.paid', { payload: { order_guid: shipper.account, note: NOTE } }).then(
          () => void (confirmed += 1),
          (error: unknown) => error,
        );

      // A publisher that outruns a router that is merely slow is refused before that.
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
}
