import { describe, expect, test } from '@jest/globals';
import { borrowVhost, controlShared } from '@waybell/runtime/testing/borrow';
import { TurnedClock } from '@waybell/runtime/turned-clock';
import { shared } from '@waybell/runtime/testing/shared';
import { declareTopology, TopologyMismatch } from './declare.ts';
import type { Destination } from '../messages.ts';
import { MemoryBroker } from '../testing/memory-broker.ts';
import { smallTopology, TestBroker } from '../testing/test-broker.ts';
import {
  deliveriesExchange,
  deliveryQueue,
  endsExchange,
  eventsExchange,
  retryExchange,
  retryKey,
  retryQueue,
  routerQueue,
  straysQueue,
  suspectsExchange,
  waitingExchange,
  type Queue,
} from '../topology.ts';

const ACTION = 'carrier.order.created';
const broker = shared(() => TestBroker.start());

const publish = (exchange: string, routingKey: string, body: string) =>
  broker.on(async (channel) => {
    channel.publish(exchange, routingKey, Buffer.from(body));
    await channel.waitForConfirms();
  });

describe('declareTopology', () => {
  test('changes nothing where everything is there already', async () => {
    await broker.put(routerQueue, ['kept']);
    await declareTopology(broker, smallTopology);
    expect(await broker.takeBodies(routerQueue, 1)).toEqual(['kept']);
  });

  test('names each queue and argument that is otherwise, and declares the rest', async () => {
    const change = (queue: Queue) => ({ ...queue, arguments: { ...queue.arguments, 'x-max-length-bytes': 7 } });
    const [wrong, right] = [smallTopology.queues.slice(0, 2), smallTopology.queues.slice(2)];
    const added = { ...right[0]!, name: 'waybell.test.added', bindings: [] };
    const queues = [...wrong.map(change), ...right, added];
    const declared = declareTopology(broker, { ...smallTopology, queues });
    await expect(declared).rejects.toThrow(TopologyMismatch);
    for (const { name } of wrong) await expect(declared).rejects.toThrow(`Queue "${name}"`);
    await expect(declared).rejects.toThrow("inequivalent arg 'x-max-length-bytes'");
    await expect(declared).rejects.toThrow('./waybell declare');
    expect(await broker.ready(added.name)).toBe(0);
  });

  test('keeps queues that were declared with another number of members', async () => {
    const change = (queue: Queue) => ({
      ...queue,
      arguments: { ...queue.arguments, 'x-quorum-initial-group-size': 5 },
    });
    await declareTopology(broker, { ...smallTopology, queues: smallTopology.queues.map(change) });
    await declareTopology(broker, smallTopology);
    const limited = (queue: Queue) => ({
      ...change(queue),
      arguments: { ...change(queue).arguments, 'x-max-length-bytes': 7 },
    });
    const declared = declareTopology(broker, {
      ...smallTopology,
      queues: smallTopology.queues.slice(0, 1).map(limited),
    });
    await expect(declared).rejects.toThrow("inequivalent arg 'x-max-length-bytes'");
  });

  test('names the exchange that is of another type', async () => {
    const declared = declareTopology(broker, {
      exchanges: [{ name: deliveriesExchange, type: 'fanout' }],
      queues: [],
    });
    await expect(declared).rejects.toThrow(`Exchange "${deliveriesExchange}"`);
  });

  test('says that a limit of the virtual host is reached', async () => {
    const { url } = await borrowVhost();
    await controlShared('set_vhost_limits', '-p', new URL(url).pathname.slice(1), '{"max-queues":3}');
    const declared = declareTopology({ url }, smallTopology);
    await expect(declared).rejects.toThrow(/queue limit in vhost .* is reached.*: raise the limit, or clear it/);
  });

  test('says that the broker is not there', async () => {
    await expect(declareTopology({ url: 'amqp://127.0.0.1:1' }, smallTopology)).rejects.toThrow('ECONNREFUSED');
  });
});

describe('the declared line', () => {
  test('brings an event to the router, and one of an unknown action to the strays', async () => {
    await publish(eventsExchange, ACTION, 'known');
    await publish(eventsExchange, 'carrier.order.unheard_of', 'unknown');
    expect(await broker.takeBodies(routerQueue, 1)).toEqual(['known']);
    expect(await broker.takeBodies(straysQueue, 1)).toEqual(['unknown']);
  });

  test('brings each message where the broker in memory does, by each key of each exchange', async () => {
    const memory = new MemoryBroker(smallTopology, new TurnedClock());
    const { exchanges, queues } = smallTopology;
    const keys = new Set(
      [...exchanges, ...queues].flatMap(({ bindings = [] }) => bindings.map((each) => each.routingKey)),
    );
    // The test below tries what comes back by itself meanwhile.
    keys.delete(retryKey(ACTION, 100));
    const published = exchanges
      .filter(({ name }) => name !== waitingExchange)
      .flatMap(({ name }) => [...keys, 'unheard of'].map((routingKey) => ({ exchange: name, routingKey })));
    const textOf = ({ exchange, routingKey }: Destination) => `${exchange} ${routingKey}`;
    const lost: string[] = [];
    await broker.on(async (channel) => {
      channel.on('return', ({ content }) => lost.push(content.toString()));
      for (const to of published)
        channel.publish(to.exchange, to.routingKey, Buffer.from(textOf(to)), { mandatory: true });
      await channel.waitForConfirms();
    });
    const isLost = (to: Destination) => !memory.publish({ kind: 'publish', ...to, body: Buffer.from(textOf(to)) });
    expect(lost.toSorted()).toEqual(published.filter(isLost).map(textOf).toSorted());
    const losing = [deliveriesExchange, endsExchange, retryExchange, suspectsExchange];
    expect(lost.filter((each) => each.endsWith('unheard of')).toSorted()).toEqual(
      losing.map((each) => `${each} unheard of`).toSorted(),
    );
    for (const { name } of queues) {
      const [there, inMemory] = [await broker.take(name), memory.kept(name)];
      const bodies = inMemory.map(({ publication: { body } }) => body.toString());
      expect([name, there.map(({ content }) => content.toString()).toSorted()]).toEqual([name, bodies.toSorted()]);
    }
  });

  test('brings a retry back to the queue of its action when its time is over, and not before', async () => {
    await publish(retryExchange, retryKey(ACTION, 3_600_000), 'much later');
    await publish(retryExchange, retryKey(ACTION, 100), 'again');
    expect(await broker.takeBodies(deliveryQueue(ACTION), 1)).toEqual(['again']);
    expect(await broker.takeBodies(retryQueue(ACTION, 3_600_000), 1)).toEqual(['much later']);
    expect(await broker.ready(deliveryQueue(ACTION))).toBe(0);
  });
});
