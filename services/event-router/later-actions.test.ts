import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { asideHeaders } from '@waybell/line/broker/amqp-message';
import { isUnreadable, type Message } from '@waybell/line/messages';
import { aLine } from '@waybell/line/testing/a-line';
import { declareTopology } from '@waybell/line/operating/declare';
import { smallTopology, TestBroker } from '@waybell/line/testing/test-broker';
import { eventsExchange, rejectedQueue, routerQueue, waitingName } from '@waybell/line/topology';
import { until } from '@waybell/runtime/testing/until';
import { readArrival } from './route-event.ts';

const LATER = 'carrier.order.archived';
const read = readArrival({ maxBytes: 2 ** 20, maxDepth: 32 });

let broker: TestBroker;

beforeAll(async () => {
  broker = await TestBroker.start();
  const queues = smallTopology.queues.filter(({ name }) => name === waitingName('full'));
  for (const { name } of queues) await broker.delete(name);
  const shorter = queues.map((queue) => ({ ...queue, arguments: { ...queue.arguments, 'x-message-ttl': 200 } }));
  await declareTopology(broker, { exchanges: [], queues: shorter });
});

afterAll(async () => {
  await broker[Symbol.asyncDispose]();
});

/** A router that reads so; it tells of all that it has read. */
async function aRouter(parse: (message: Message) => ReturnType<typeof read> | Message) {
  const seen: Message[] = [];
  const line = await aLine(broker, {
    moreQueues: [routerQueue],
    parse: (message) => {
      seen.push(message);
      const parsed = parse(message);
      return isUnreadable(parsed) ? parsed : message;
    },
    handle: async () => [],
  });
  return { seen, run: () => line.run() };
}

const publish = (routingKey: string, userId: string) =>
  broker.on(async (channel) => {
    const body = JSON.stringify({ interface: 'carrier', action: 'order.archived' });
    channel.publish(eventsExchange, routingKey, Buffer.from(body), { persistent: true, messageId: routingKey, userId });
    await channel.waitForConfirms();
  });

test('an event waits whose action only a later version has declared, until a router of that one takes it as upstream published it; by another key it is rejected', async () => {
  const { username } = new URL(broker.url);
  const [older, later] = [await aRouter(read), await aRouter((message) => message)];
  await broker.on((channel) => channel.bindQueue(routerQueue, eventsExchange, LATER));
  await using running = await older.run();
  await publish(LATER, username);
  await publish('carrier.order.created', username);
  await until('it has come back', () => older.seen.some(({ waits }) => waits === 1));
  await running[Symbol.asyncDispose]();

  await using _running = await later.run();
  await until('the later one has it', () => later.seen.length === 1);
  const origin = { exchange: eventsExchange, routingKey: LATER, messageId: LATER, userId: username };
  expect(later.seen).toMatchObject([origin]);
  const rejected = await broker.take(rejectedQueue);
  expect(rejected.map(({ properties }) => [properties.messageId, properties.headers?.[asideHeaders.reason]])).toEqual([
    ['carrier.order.created', 'unknown_action'],
  ]);
});
