import { expect, test, describe } from '@jest/globals';
import { nodesOf, corkWrites } from './broker-connection.ts';
import { Writable } from 'node:stream';
import { settled } from '@waybell/runtime/turned-clock';

const NODES = ['amqp://a', 'amqp://b', 'amqp://c'];

test('all nodes are named once, and processes do not all begin at the same', () => {
  const orders = Array.from({ length: 100 }, () => nodesOf(NODES.join(',')));
  for (const order of orders) expect(order.toSorted()).toEqual(NODES);
  expect(new Set(orders.map(([first]) => first)).size).toBe(NODES.length);
});

describe('corkWrites', () => {
  test('sends in one go, in order, what is written in one tick', async () => {
    const sent: string[][] = [];
    const socket = new Writable({
      decodeStrings: false,
      writev(chunks, done) {
        sent.push(chunks.map(({ chunk }) => String(chunk)));
        done();
      },
    });
    corkWrites(socket);
    for (const frame of ['method', 'header', 'body']) socket.write(frame);
    await settled();
    socket.write('next');
    await settled();
    expect(sent).toEqual([['method', 'header', 'body'], ['next']]);
  });

  test('still says when the socket is full', () => {
    const socket = new Writable({ highWaterMark: 4, write: () => undefined });
    corkWrites(socket);
    expect([socket.write('abc'), socket.write('de')]).toEqual([true, false]);
  });
});
