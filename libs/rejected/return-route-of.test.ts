import { describe, expect, test } from '@jest/globals';
import { isEvent, returnRouteOf } from './rejected-messages.ts';
import { aRejected } from './testing/a-rejected.ts';

const EVENT_KEY = 'carrier.order.created';
const DELIVERY = { type: EVENT_KEY, queue: `waybell.deliveries.${EVENT_KEY}` };

describe('returnRouteOf', () => {
  test.each([
    ['an event', {}, { exchange: 'waybell.events', routingKey: EVENT_KEY }],
    [
      'a mistyped event, by the same exchange and key',
      { queue: 'waybell.strays', routingKey: 'carrier.order.createt' },
      { exchange: 'waybell.events', routingKey: 'carrier.order.createt' },
    ],
    ['a delivery', { ...DELIVERY, exchange: 'waybell.deliveries' }, 'delivery'],
    ['a delivery back from its retry queue', { ...DELIVERY, exchange: 'waybell.returns' }, 'delivery'],
    [
      'a delivery on its way to a retry queue',
      { ...DELIVERY, exchange: 'waybell.retry', routingKey: `${EVENT_KEY}.1s` },
      'delivery',
    ],
    ['a delivery on its way to where it waits', { ...DELIVERY, exchange: 'waybell.waiting' }, 'delivery'],
    [
      'one that the broker gave up where it waited',
      { ...DELIVERY, queue: 'waybell.waiting', exchange: 'waybell.waiting' },
      'delivery',
    ],
    ['a delivery that waited', { ...DELIVERY, exchange: 'waybell.deliveries', routingKey: EVENT_KEY }, 'delivery'],
    ['a delivery that was taken and given back too often', { ...DELIVERY, exchange: 'waybell.strays' }, 'delivery'],
    [
      'an event that was taken and given back too often',
      { queue: 'waybell.strays', exchange: 'waybell.strays' },
      { exchange: 'waybell.events', routingKey: EVENT_KEY },
    ],
  ])('leads %s back', (_what, rejected, route) => {
    const delivery = { exchange: 'waybell.deliveries', routingKey: EVENT_KEY };
    expect(returnRouteOf(aRejected(rejected))).toEqual(route === 'delivery' ? delivery : route);
  });

  test.each([
    ['waybell.outcomes', 'waybell.outcomes.log'],
    ['waybell.ends', 'waybell.ends.deactivator'],
  ])('leads what came by %s to the queue of its consumer', (exchange, routingKey) => {
    const route = { exchange: '', routingKey };
    expect(returnRouteOf(aRejected({ exchange, routingKey: '' }))).toEqual(route);
    // Sent back too early, it is rejected again.
    expect(returnRouteOf(aRejected(route))).toEqual(route);
  });

  test.each([
    ['what somebody put into the rejected queue', { exchange: 'waybell.rejected', routingKey: '' }],
    ['what came straight to some other queue', { exchange: '', routingKey: 'orders' }],
    ['a stray without a known key', { exchange: 'waybell.strays', routingKey: 'x' }],
    ['a delivery whose action is not known', { exchange: 'waybell.returns', routingKey: 'carrier.order.createt' }],
  ])('leads %s nowhere', (_what, rejected) => {
    expect(returnRouteOf(aRejected(rejected))).toBeUndefined();
  });
});

describe('isEvent', () => {
  test.each([
    ['an event', {}, true],
    ['one that no queue took, whatever its key', { exchange: 'waybell.strays', routingKey: 'x' }, true],
    ['a delivery', { ...DELIVERY, exchange: 'waybell.deliveries' }, false],
    ['one that no queue took', { exchange: 'waybell.strays', routingKey: 'x', type: 'carrier.order.createt' }, false],
    ['a batch of records', { exchange: 'waybell.outcomes', routingKey: '' }, false],
  ])('tells of %s, %j, that it is one: %s', (_what, rejected, is) => {
    expect(isEvent(aRejected(rejected))).toBe(is);
  });
});
