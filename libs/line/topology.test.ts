import { describe, expect, test } from '@jest/globals';
import { locationsQueue, operationsQueue, ownNotices, rejectionsQueue, routerQueue, topology } from './topology.ts';

const ACTION = 'carrier.order.created';

describe('topology', () => {
  const wide = topology({
    actionKeys: [ACTION, 'shipper.order.paid'],
    locationKeys: ['shipper.vehicle.location_reported'],
    retryDelaysMs: (key) => (key === ACTION ? [1_000, 2_000] : [60_000]),
    eventsLimitBytes: 5,
    quorumSize: 3,
  });

  test('has a delivery queue for each action, and a retry queue for each action and delay', () => {
    const names = wide.queues.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    expect(names).toEqual(
      expect.arrayContaining([
        'waybell.deliveries.carrier.order.created',
        'waybell.deliveries.shipper.order.paid',
        'waybell.retry.carrier.order.created.1s',
        'waybell.retry.carrier.order.created.2s',
        'waybell.retry.shipper.order.paid.1m',
      ]),
    );
    expect(names.filter((name) => name.startsWith('waybell.retry.'))).toHaveLength(3);
  });

  test('has what waited for its retry come back to the queue of its action, and of no other', () => {
    const keys = wide.queues
      .filter(({ name }) => name.startsWith('waybell.retry.'))
      .map((queue) => queue.arguments['x-dead-letter-routing-key']);
    expect(keys).toEqual([ACTION, ACTION, 'shipper.order.paid']);
  });

  test('has what cannot be put into its room come back to the queue of its action, by the key it was published with', () => {
    const waiting = wide.queues.find(({ name }) => name === 'waybell.waiting');
    expect(waiting?.bindings).toEqual([{ exchange: 'waybell.waiting', routingKey: '' }]);
    expect(waiting?.arguments).toMatchObject({ 'x-message-ttl': 30_000, 'x-dead-letter-exchange': 'waybell.returns' });
    expect(waiting?.arguments).not.toHaveProperty('x-dead-letter-routing-key');
  });

  test('has location reports tracked, and everything else routed', () => {
    const keysOf = (name: string) =>
      wide.queues.find((queue) => queue.name === name)?.bindings.map(({ routingKey }) => routingKey);
    expect(keysOf(locationsQueue)).toEqual(['shipper.vehicle.location_reported']);
    expect(keysOf(routerQueue)).toEqual([ACTION, 'shipper.order.paid']);
  });

  const isOfNotices = ({ name }: { name: string }) => name === rejectionsQueue || name === operationsQueue;
  const notices = wide.queues.filter(isOfNotices);
  const ofTheLine = wide.queues.filter((queue) => !isOfNotices(queue));

  test('loses nothing by itself: every queue is a quorum queue that dead-letters at least once and refuses when full', () => {
    for (const queue of ofTheLine) {
      expect(queue.arguments).toMatchObject({
        'x-queue-type': 'quorum',
        'x-dead-letter-strategy': 'at-least-once',
        'x-overflow': 'reject-publish',
        'x-delivery-limit': expect.any(Number),
      });
      expect(queue.arguments).toHaveProperty('x-dead-letter-exchange');
    }
  });

  test('lets notices go, the oldest first, rather than have anything wait for room, and moves them nowhere', () => {
    const shared = notices[0]?.arguments ?? {};
    expect(notices.map(({ arguments: own }) => own)).toEqual([shared, shared]);
    expect(shared).toMatchObject({ 'x-queue-type': 'quorum', 'x-overflow': 'drop-head' });
    expect(Object.keys(shared)).toEqual(expect.arrayContaining(['x-max-length-bytes', 'x-message-ttl']));
    expect(Object.keys(shared).filter((name) => name.startsWith('x-dead-letter'))).toEqual([]);
    expect(ownNotices('orders', 3)).toEqual({
      name: 'waybell.rejections.orders',
      bindings: [{ exchange: 'waybell.notices', routingKey: 'orders' }],
      arguments: shared,
    });
  });

  test('limits no queue that dead letters flow into', () => {
    const limited = ofTheLine.filter((queue) => 'x-max-length-bytes' in queue.arguments);
    expect(limited.map(({ name }) => name)).toEqual([routerQueue, locationsQueue]);
  });

  test('binds queues to exchanges that it declares', () => {
    const names = new Set(wide.exchanges.map(({ name }) => name));
    const bound = wide.queues.flatMap(({ bindings }) => bindings.map(({ exchange }) => exchange));
    const deadLettered = ofTheLine.map((queue) => queue.arguments['x-dead-letter-exchange']);
    for (const exchange of [...bound, ...deadLettered]) expect(names).toContain(exchange);
  });
});
