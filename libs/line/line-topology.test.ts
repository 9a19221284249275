import { describe, expect, test } from '@jest/globals';
import { actionKey, actions } from '@waybell/catalog/actions';
import { lineTopology, exchangesOf, queuesOf, type ServiceName } from './line-topology.ts';
import { deliveryQueue, retryQueue, LANES } from './topology.ts';

const schedule = { shipper: [60_000, 60_000], carrier: [1_000, 2_000] };
const deliveries = actions.map(actionKey).map(deliveryQueue);
const always = ['waybell.rejected'];

describe('the queues that a service publishes to', () => {
  test.each<[ServiceName, string[]]>([
    ['event-router', [...deliveries, 'waybell.outcomes.log', 'waybell.rejections']],
    ['deactivator', ['waybell.outcomes.log']],
    ['location-tracker', ['waybell.events.router', 'waybell.outcomes.log', 'waybell.rejections']],
    ['delivery-log', deliveries],
    ['deliverer', ['waybell.waiting', 'waybell.outcomes.log', 'waybell.ends.deactivator']],
  ])('are for the %s those that its exchanges lead to', (name, queues) => {
    expect(queuesOf(name).toSorted()).toEqual([...queues, ...always].toSorted());
  });

  test('are for a deliverer the retry queues of the actions that it takes', () => {
    const actionKeys = ['carrier.order.created', 'shipper.order.created'];
    const retries = queuesOf('deliverer', { schedule, actionKeys }).filter((queue) =>
      queue.startsWith('waybell.retry.'),
    );
    expect(retries).toEqual([
      retryQueue('carrier.order.created', 1_000),
      retryQueue('carrier.order.created', 2_000),
      retryQueue('shipper.order.created', 60_000),
    ]);
  });

  test('are all declared', () => {
    const declared = new Set(
      lineTopology({ schedule, eventsLimitBytes: 1, quorumSize: 1 }).queues.map(({ name }) => name),
    );
    const actionKeys = actions.map(actionKey);
    // An object has the keys that it was written with.
    const names = Object.keys(LANES) as ServiceName[];
    const published = names.flatMap((name) => queuesOf(name, { schedule, actionKeys }));
    expect(published.filter((queue) => !declared.has(queue))).toEqual([]);
  });
});

test('a deliverer may send a member of a batch back by each exchange by which that may have come', () => {
  const { queues } = lineTopology({ schedule, eventsLimitBytes: 1, quorumSize: 1 });
  const bindings = queues.filter(({ name }) => deliveries.includes(name)).flatMap((queue) => queue.bindings);
  expect(exchangesOf('deliverer')).toEqual(expect.arrayContaining(bindings.map(({ exchange }) => exchange)));
});
