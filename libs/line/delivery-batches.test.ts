import { describe, expect, test } from '@jest/globals';
import { until } from '@waybell/runtime/testing/until';
import { shared } from '@waybell/runtime/testing/shared';
import { readMessage } from './broker/amqp-message.ts';
import { deliveriesContentType, joinDeliveries, openBatch } from './delivery-batch.ts';
import { CRASHES_UNOPENED } from './hand-over/suspicion.ts';
import type { StoreRunning } from './hand-over/effect-runner.ts';
import { newSourceId, type Publication } from './messages.ts';
import { deliveriesExchange, rejectedQueue } from './topology.ts';
import { aLine, limitOf, numbers, to } from './testing/a-line.ts';
import { aDelivery } from './testing/a-delivery.ts';
import { TestBroker } from './testing/test-broker.ts';

const broker = shared(() => TestBroker.start());
const delivery = (queue: string, body: string): Publication => ({
  ...to(queue, body),
  delivery: aDelivery({ guid: body }),
});

/** Puts a batch of these into the queue. */
async function putBatch(queue: string, bodies: readonly string[]): Promise<void> {
  for (const { publication } of joinDeliveries(bodies.map((body) => ({ publication: delivery(queue, body) })))) {
    const { body, messageId = '', note = '', contentType = '', type = '' } = publication;
    await broker.on(async (channel) => {
      channel.publish(deliveriesExchange, queue, body, {
        persistent: true,
        messageId,
        correlationId: note,
        contentType,
        type,
      });
      await channel.waitForConfirms();
    });
  }
}

/** Takes the batch and gives it back this often. */
async function takeInVain(queue: string, times: number): Promise<void> {
  await broker.on(async (channel) => {
    for (let time = 0; time < times; time += 1) {
      const message = await until('it is there', () => channel.get(queue));
      channel.reject(message, true);
    }
  });
}

const aGate = () => {
  let open: () => void = () => undefined;
  return { opened: new Promise<void>((resolve) => (open = resolve)), open: () => open() };
};

describe('what a step publishes to one queue in one go', () => {
  test('travels in few messages, and each comes out by itself, with all that is its own', async () => {
    const second = await broker.queue();
    const first = await aLine(broker, { handle: async (body) => [delivery(second, body)] });
    await broker.put(first.input, numbers(100));
    {
      await using _running = await first.run();
      await until(
        'all have left',
        async () => (await broker.ready(first.input)) === 0 && (await broker.ready(second)) > 0,
      );
    }
    expect(await broker.ready(second)).toBeLessThan(60);
    const next = await aLine(broker, { moreQueues: [second] });
    await using _running = await next.run();
    expect((await broker.takeBodies(next.output, 100)).toSorted()).toEqual(numbers(100).toSorted());
    expect(next.seen.every(({ messageId, body }) => messageId === body.toString())).toBe(true);
  });

  test('is a batch also where it is one delivery, or is published past the step', async () => {
    const line = await aLine(broker, { handle: async (body) => [delivery(line.output, body)] });
    await using running = await line.run();
    await broker.put(line.input, ['1']);
    await until('the one is there', async () => (await broker.ready(line.output)) === 1);
    await running.broker.publish(delivery(line.output, '2'));
    const taken = await broker.take(line.output);
    for (const message of taken) expect(message.properties.contentType).toBe(deliveriesContentType);
    const members = taken.flatMap((message) => openBatch(readMessage(line.output, message)));
    expect(members.map(({ messageId, body }) => `${messageId} ${body.toString()}`).toSorted()).toEqual(['1 1', '2 2']);
  });

  test('that no queue takes fails for each that caused it, and for no other', async () => {
    const gate = aGate();
    const together = new Set<string>();
    const line = await aLine(broker, {
      handle: async (body) => {
        if (Number(body) >= 2) return [delivery(line.output, body)];
        if (together.add(body).size === 2) gate.open();
        await gate.opened;
        return [delivery('waybell.test.nowhere', body)];
      },
    });
    await using _running = await line.run();
    await broker.put(line.input, numbers(6));
    await until('the others are through', async () => (await broker.ready(line.output)) > 0);
    const rejected: string[] = [];
    await until('both are rejected', async () => {
      rejected.push(...(await broker.take(rejectedQueue)).map(({ content }) => content.toString()));
      return rejected.length >= 2;
    });
    expect(rejected.toSorted()).toEqual(['0', '1']);
  });
});

describe('a batch in its queue', () => {
  test('is acknowledged when the last of it is done with, and until then comes again whole', async () => {
    const gate = aGate();
    const line = await aLine(broker, {
      handle: async (body) => {
        if (body === '3') await gate.opened;
        return [to(line.output, body)];
      },
    });
    await putBatch(line.input, numbers(5));
    const running = await line.run();
    expect(await broker.takeBodies(line.output, 4)).toHaveLength(4);
    expect(await broker.ready(line.input)).toBe(0);
    gate.open();
    expect(await broker.takeBodies(line.output, 1)).toEqual(['3']);
    await running[Symbol.asyncDispose]();
    expect(await broker.ready(line.input)).toBe(0);
  });

  test('goes when its slow member is kept elsewhere, and that is let go when it is done with', async () => {
    const gate = aGate();
    const kept: string[] = [];
    const storeRunning: StoreRunning<unknown> = async ({ message }) => {
      const body = message.body.toString();
      kept.push(body);
      return {
        id: newSourceId(),
        messages: [message],
        acknowledge: () => kept.splice(kept.indexOf(body), 1),
        giveBack: () => undefined,
      };
    };
    const line = await aLine(broker, {
      tools: { storeRunning },
      // The broker sends nothing more before the batch is acknowledged.
      inHandLimit: limitOf(1),
      handle: async (body) => {
        if (body === '3') await gate.opened;
        return [to(line.output, body)];
      },
    });
    await putBatch(line.input, numbers(5));
    {
      await using _running = await line.run();
      await until('the slow one is kept', () => kept.length > 0);
      expect(kept).toEqual(['3']);
      await broker.put(line.input, ['later']);
      expect((await broker.takeBodies(line.output, 5)).toSorted()).toEqual(['0', '1', '2', '4', 'later']);
      gate.open();
      await until('it is let go', () => kept.length === 0);
    }
    expect(await broker.takeBodies(line.output, 1)).toEqual(['3']);
  });

  test('that came three times is taken apart: each comes again by itself, and is known to have come before', async () => {
    const line = await aLine(broker);
    await putBatch(line.input, numbers(4));
    await takeInVain(line.input, 3);
    await using _running = await line.run();
    expect((await broker.takeBodies(line.output, 4)).toSorted()).toEqual(numbers(4));
    expect(line.seen.map(({ deliveryCount, cameBefore }) => [deliveryCount, cameBefore])).toEqual(
      numbers(4).map(() => [0, true]),
    );
  });

  test.each([
    ['that came too often', CRASHES_UNOPENED, numbers(3), 'process_killed'],
    ['that cannot be read', 0, undefined, 'not_a_batch'],
  ])('%s is rejected whole, with the reason', async (_, times, members, reason) => {
    const line = await aLine(broker);
    if (members === undefined) await broker.put(line.input, ['nonsense'], { contentType: deliveriesContentType });
    else await putBatch(line.input, members);
    await takeInVain(line.input, times);
    await using _running = await line.run();
    const [rejected] = await until('it is rejected', async () => {
      const taken = await broker.take(rejectedQueue);
      return taken.length > 0 && taken;
    });
    expect(rejected?.properties.headers?.['waybell-reason']).toBe(reason);
    expect(rejected?.properties.contentType).toBe(deliveriesContentType);
    expect(line.seen).toEqual([]);
  });

  test('waits as it came while as many messages are in hand as may be', async () => {
    const gate = aGate();
    let most = 0;
    let inHand = 0;
    const line = await aLine(broker, {
      inHandLimit: limitOf(20),
      handle: async (body) => {
        most = Math.max(most, (inHand += 1));
        await gate.opened;
        inHand -= 1;
        return [to(line.output, body)];
      },
    });
    for (let count = 0; count < 5; count += 1) await putBatch(line.input, numbers(8));
    await using _running = await line.run();
    await until('two are open', () => inHand === 16);
    gate.open();
    await broker.takeBodies(line.output, 40);
    expect(most).toBeLessThanOrEqual(20);
  });
});
