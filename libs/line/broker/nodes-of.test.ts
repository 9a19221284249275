import { expect, test } from '@jest/globals';
import { nodesOf } from './broker-connection.ts';

const NODES = ['amqp://a', 'amqp://b', 'amqp://c'];

test('all nodes are named once, and processes do not all begin at the same', () => {
  const orders = Array.from({ length: 100 }, () => nodesOf(NODES.join(',')));
  for (const order of orders) expect(order.toSorted()).toEqual(NODES);
  expect(new Set(orders.map(([first]) => first)).size).toBe(NODES.length);
});
