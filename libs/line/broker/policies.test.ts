import { describe, expect, test } from '@jest/globals';
import { smallTopology } from '../testing/test-broker.ts';
import { operationsQueue, rejectedQueue, rejectionsQueue, retryQueue, waitingQueue } from '../topology.ts';
import { harmfulPolicies, type Governed } from './policies.ts';

const RETRY = retryQueue('carrier.order.created', 3_600_000);

/** One queue for notices is left out: as many as there are for events could not be told from those. */
const queues = smallTopology.queues.filter(({ name }) => name !== operationsQueue);

/** Resources of the line, governed by a policy on `.*`. */
function governedBy(definition: Record<string, unknown>, what: Partial<Governed> = {}): Governed[] {
  const { exchanges } = smallTopology;
  const common = { policy: 'all', operatorPolicy: '', definition, ...what };
  return [
    ...queues.map((queue): Governed => ({ ...common, kind: 'queue', name: queue.name, arguments: queue.arguments })),
    ...exchanges.map(({ name, alternate }): Governed => ({
      ...common,
      kind: 'exchange',
      name,
      arguments: alternate === undefined ? {} : { 'alternate-exchange': alternate },
    })),
    { ...common, kind: 'queue', name: 'orders', arguments: {} },
  ];
}

const COUNT = queues.length;
const EVENT_QUEUES = 2;
const NOTICE_QUEUES = 1;

describe('harmfulPolicies', () => {
  test.each<[Record<string, unknown>, loses: boolean, touched: number]>([
    [{ expires: 60_000 }, true, COUNT],
    [{ 'message-ttl': 20_000 }, true, COUNT - 1],
    [{ 'message-ttl': 0 }, true, COUNT],
    [{ overflow: 'drop-head' }, true, COUNT - NOTICE_QUEUES],
    [{ overflow: 'reject-publish-dlx', 'max-length': 10 }, true, COUNT - NOTICE_QUEUES],
    [{ 'delivery-limit': 5 }, true, COUNT],
    [{ 'delivery-limit': -1 }, true, COUNT],
    [{ 'dead-letter-routing-key': 'x' }, true, 1],
    [{ 'federation-upstream-set': 'all' }, true, COUNT],
    [
      { 'alternate-exchange': 'x' },
      true,
      smallTopology.exchanges.filter(({ alternate }) => alternate === undefined).length,
    ],
    [{ 'max-length': 1_000 }, false, COUNT - NOTICE_QUEUES],
    [{ 'max-length-bytes': 1_000 }, false, COUNT - NOTICE_QUEUES],
    [{ 'max-length-bytes': 2 ** 20 }, false, COUNT - NOTICE_QUEUES - EVENT_QUEUES],
  ])('finds %j', (definition, loses, touched) => {
    const [found, ...others] = harmfulPolicies(governedBy(definition), '/');
    expect(others).toEqual([]);
    expect(found).toMatchObject({ loses });
    for (const [key, value] of Object.entries(definition).slice(0, 1))
      expect(found?.text).toContain(`policy "all": ${key}=${JSON.stringify(value)}`);
    expect(found?.text).toContain(`for ${touched} of ours`);
  });

  test.each<Record<string, unknown>>([
    {},
    { 'ha-mode': 'all', 'queue-mode': 'lazy', 'max-in-memory-length': 10 },
    { 'message-ttl': 8 * 86_400_000, 'delivery-limit': 2_000_000_000 },
    { overflow: 'reject-publish' },
    { 'dead-letter-exchange': 'elsewhere' },
    { 'queue-leader-locator': 'balanced', 'consumer-timeout': 60_000 },
  ])('does not mind %j', (definition) => {
    // A message-ttl longer than a queue's own has no effect; it harms only queues that keep messages for ever.
    const without = 'message-ttl' in definition ? [rejectionsQueue, RETRY, waitingQueue] : undefined;
    const governed = governedBy(definition).filter(({ name }) => without?.includes(name) ?? true);
    expect(harmfulPolicies(governed, '/')).toEqual([]);
  });

  test('names each policy once, with the command against it, and what it touches', () => {
    const [one, ...rest] = governedBy({ expires: 1 }, { policy: '', operatorPolicy: 'ops' });
    const both = governedBy({ 'message-ttl': 1 }, { operatorPolicy: 'ops' }).filter(
      ({ name }) => name === rejectedQueue,
    );
    expect(one).toBeDefined();
    const texts = harmfulPolicies([...(one === undefined ? [] : [one]), ...both, ...rest.slice(0, 2)], 'freight').map(
      ({ text }) => text,
    );
    expect(texts).toEqual([
      'operator policy "ops": expires=1 for 3 of ours, such as waybell.events.router, by which they lose, or give elsewhere, what they hold: clear it (rabbitmqctl clear_operator_policy -p "freight" "ops"), or give it a pattern that leaves out waybell.*',
      'policy "all" or operator policy "ops": message-ttl=1 for 1 of ours, such as waybell.rejected, by which they lose, or give elsewhere, what they hold: clear it (rabbitmqctl clear_policy -p "freight" "all"; rabbitmqctl clear_operator_policy -p "freight" "ops"), or give it a pattern that leaves out waybell.*',
    ]);
  });
});
