import { describe, expect, test } from '@jest/globals';
import { systemClock } from '@waybell/runtime/clock';
import { limitOf, numbers } from '../testing/a-line.ts';
import { taking, type HeldMessage } from '../testing/taking.ts';
import { TestBroker } from '../testing/test-broker.ts';
import { until } from '@waybell/runtime/testing/until';
import { shared } from '@waybell/runtime/testing/shared';
import { silentLog as log } from '@waybell/runtime/testing/patience';
import { openConsumers } from './consumers.ts';

const broker = shared(() => TestBroker.start());

const openTheirs = () =>
  openConsumers({ url: broker.url, name: 'test', heartbeatSeconds: 10, log, clock: systemClock });
const aQueueWith = async (count: number, size = 1) => {
  const queue = await broker.queue();
  await broker.put(
    queue,
    numbers(count).map((number) => number.padEnd(size)),
  );
  return queue;
};
const queuesOf = async (count: number) => {
  const queues: string[] = [];
  while (queues.length < count) queues.push(await broker.queue());
  return queues;
};

describe('the hold of a step with many queues', () => {
  test('goes nearly all to the one queue that has messages, and never beyond', async () => {
    const hot = await aQueueWith(500);
    await using consumers = await openTheirs();
    const held: HeldMessage[] = [];
    consumers.consume(
      [hot, ...(await queuesOf(9))],
      limitOf(200),
      taking((each) => held.push(each)),
    );
    await until('most of it is used', () => held.length >= 150);
    await until('no more comes', async () => 500 - (await broker.ready(hot)) === held.length);
    expect(held.length).toBeLessThanOrEqual(200);
  });

  test('moves to another queue as the first is settled, and nothing is given back for it', async () => {
    const [first, second] = [await aQueueWith(2_000), await broker.queue()];
    await using consumers = await openTheirs();
    const [held, often]: [HeldMessage[], number[]] = [[], []];
    const consumer = consumers.consume(
      [first, second, ...(await queuesOf(8))],
      limitOf(200),
      taking((each) => {
        often.push(each.message.deliveryCount);
        held.push(each);
      }),
    );
    const of = (queue: string) => held.filter((each) => each.message.queue === queue && each.isHeld());
    await until('the first has most', () => of(first).length >= 150);
    await broker.put(second, numbers(2_000));
    await until('the second has its part', () => {
      of(first).forEach((each, index) => index % 3 === 0 && each.acknowledge());
      return of(second).length >= 60;
    });
    expect(held.filter((each) => each.isHeld()).length).toBeLessThanOrEqual(200);
    expect(Math.max(...often)).toBe(0);
    await consumer.pause('test');
  });

  test('stops at its bytes where messages are large', async () => {
    const queue = await aQueueWith(100, 10_000);
    await using consumers = await openTheirs();
    const held: HeldMessage[] = [];
    consumers.consume(
      [queue, await broker.queue()],
      { messages: 100, bytes: 400_000 },
      taking((each) => held.push(each)),
    );
    await until('it has grown', () => held.length > 12);
    held[0]?.acknowledge();
    await until('no more comes', async () => 100 - (await broker.ready(queue)) === held.length);
    expect(held.length).toBeLessThanOrEqual(41);
  });
});
