import { describe, expect, test } from '@jest/globals';
import { systemClock, type Clock } from '@waybell/runtime/clock';
import { endedWithin } from '@waybell/runtime/testing/ended-within';
import { until } from '@waybell/runtime/testing/until';
import { TurnedClock } from '@waybell/runtime/turned-clock';
import { shared } from '@waybell/runtime/testing/shared';
import { silentLog as log } from '@waybell/runtime/testing/patience';
import { limitOf } from '../testing/a-line.ts';
import { taking, type HeldMessage } from '../testing/taking.ts';
import { BreakableBroker } from '../testing/test-broker.ts';
import { connectBroker } from './connect-broker.ts';
import { openConsumers } from './consumers.ts';

const broker = shared(() => BreakableBroker.start());

const openTheirs = (clock: Clock = systemClock, more: { closeLimitMs?: number } = {}) =>
  openConsumers({ url: broker.detour.url, name: 'test', heartbeatSeconds: 10, log, clock, ...more });
const numbers = (count: number) => Array.from({ length: count }, (_, index) => String(index));
const bodyOf = ({ message }: HeldMessage) => message.body.toString();

describe('consume', () => {
  test('what is acknowledged is gone, and what is given back comes again', async () => {
    const queue = await broker.queue();
    await using consumers = await openTheirs();
    const seen: string[] = [];
    consumers.consume(
      [queue],
      limitOf(10),
      taking((held) => {
        seen.push(`${bodyOf(held)} ${held.message.deliveryCount}`);
        if (bodyOf(held) === 'again' && held.message.deliveryCount < 2) held.giveBack();
        else held.acknowledge();
      }),
    );
    await broker.put(queue, ['once', 'again']);
    await until('all came', () => seen.length === 4);
    expect(seen.toSorted()).toEqual(['again 0', 'again 1', 'again 2', 'once 0']);
    await until('the queue is empty', async () => (await broker.ready(queue)) === 0);
  });

  test('holds no more than it was told to', async () => {
    const queue = await broker.queue();
    await broker.put(queue, numbers(20));
    await using consumers = await openTheirs();
    const held: HeldMessage[] = [];
    consumers.consume(
      [queue],
      limitOf(3),
      taking((each) => held.push(each)),
    );
    await until('three came', () => held.length === 3);
    expect(await broker.ready(queue)).toBe(17);
    held[0]?.acknowledge();
    await until('a fourth came', () => held.length === 4);
    expect(await broker.ready(queue)).toBe(16);
  });

  test('waits for a queue that is missing, names it, and takes from it once it is declared', async () => {
    await using consumers = await openTheirs();
    const seen: string[] = [];
    consumers.consume(
      ['waybell.test.missing'],
      limitOf(10),
      taking((held) => {
        seen.push(bodyOf(held));
        held.acknowledge();
      }),
    );
    await until('it was asked for', () => broker.detour.said.includes('waybell.test.missing'));
    expect(consumers.waitingFor()).toEqual(['waybell.test.missing']);
    await broker.declare('waybell.test.missing');
    await broker.put('waybell.test.missing', ['hello']);
    await until('it came', () => seen.length === 1);
    expect(consumers.waitingFor()).toEqual([]);
  });

  test('takes from a queue again that was deleted and declared again', async () => {
    const queue = await broker.queue();
    await using consumers = await openTheirs();
    const seen: string[] = [];
    consumers.consume(
      [queue],
      limitOf(10),
      taking((held) => {
        seen.push(bodyOf(held));
        held.acknowledge();
      }),
    );
    await until('it is consumed', () => consumers.waitingFor().length === 0);
    await broker.delete(queue);
    await until('that was noticed', () => consumers.waitingFor().includes(queue));
    await broker.declare(queue);
    await broker.put(queue, ['hello']);
    await until('it came', () => seen.length === 1);
  });

  test('does not mind an acknowledgement on a connection that is gone', async () => {
    const queue = await broker.queue();
    await broker.put(queue, ['late']);
    await using consumers = await openTheirs();
    const held: HeldMessage[] = [];
    consumers.consume(
      [queue],
      limitOf(10),
      taking((each) => held.push(each)),
    );
    await until('it came', () => held.length === 1);
    broker.detour.cut();
    await until('it came again', () => held.length === 2);
    expect(held[0]?.isHeld()).toBe(false);
    held[0]?.acknowledge();
    held[0]?.giveBack();
    expect(held[1]?.isHeld()).toBe(true);
    expect(held[1]?.message.deliveryCount).toBe(1);
    held[1]?.acknowledge();
    await broker.put(queue, ['next']);
    await until('the channel still works', () => held.length === 3);
  });

  test('takes again what it held for longer than the broker lets it, and settling the first copy does no harm', async () => {
    const connections = () => broker.detour.said.split('AMQP').length;
    const takeForTooLong = async () => {
      const queue = await broker.queue();
      await broker.consumerTimeout(1);
      await using consumers = await openTheirs();
      const held: HeldMessage[] = [];
      consumers.consume(
        [queue],
        limitOf(10),
        taking((each) => {
          if (held.push(each) > 1) each.acknowledge();
        }),
      );
      await until('it is consumed', async () => (await broker.consumersOf(queue)) === 1);
      const before = connections();
      // Only the channel that is open: on the next one, the second copy may be acknowledged however late.
      await broker.consumerTimeout(1_800_000);
      await broker.put(queue, ['long']);
      await until('it came again', async () => {
        if (held[0]?.isHeld() === true) await broker.lookAtHeld();
        return held.length === 2;
      });
      const isStillHeld = held[0]?.isHeld();
      held[0]?.acknowledge();
      held[0]?.giveBack();
      await broker.put(queue, ['next']);
      await until('the new channel still works', () => held.length === 3);
      const deliveryCounts = held.map(({ message }) => message.deliveryCount);
      return { isStillHeld, deliveryCounts, newConnections: connections() - before };
    };
    try {
      // A second check before the broker knows of the closed channel would close it twice, and the connection with it.
      const seen = await until('the channel alone is closed', async () => {
        const { newConnections, ...others } = await takeForTooLong();
        return newConnections === 0 && others;
      });
      expect(seen).toEqual({ isStillHeld: false, deliveryCounts: [0, 1, 0] });
    } finally {
      await broker.consumerTimeout(1_800_000);
    }
  });

  test('settles each message once', async () => {
    const queue = await broker.queue();
    await broker.put(queue, ['one']);
    await using consumers = await openTheirs();
    const held: HeldMessage[] = [];
    consumers.consume(
      [queue],
      limitOf(10),
      taking((each) => held.push(each)),
    );
    await until('it came', () => held.length === 1);
    held[0]?.acknowledge();
    held[0]?.acknowledge();
    held[0]?.giveBack();
    await broker.put(queue, ['two']);
    await until('the next came', () => held.length === 2);
    expect(held.map(bodyOf)).toEqual(['one', 'two']);
    // The broker closes a channel on which one message is settled twice; a new one would have asked for the queue.
    expect(broker.detour.said.split(queue).length - 1).toBe(2);
  });

  test('asks twice a second, and no faster, for a queue that refuses it', async () => {
    const queue = 'waybell.test.refused';
    const clock = new TurnedClock();
    await using consumers = await openTheirs(clock);
    await broker.on(async (channel) => {
      await channel.assertQueue(queue, { durable: true });
      await channel.consume(queue, () => undefined, { exclusive: true });
      consumers.consume(
        [queue],
        limitOf(10),
        taking(() => undefined),
      );
      const asked = () => broker.detour.said.split(queue).length - 1;
      for (const time of [1, 2, 3]) {
        await until('it was refused, and is to be asked for again', () => clock.nextAt() === time * 500);
        // Each time it is checked, then consumed.
        expect(asked()).toBe(2 * time);
        clock.step();
      }
      expect(consumers.waitingFor()).toEqual([queue]);
    });
    await until('it is consumed now that it may be', async () => {
      await clock.runFor(500);
      return consumers.waitingFor().length === 0;
    });
  });
});

describe('pause', () => {
  test('resolves when nothing more will come, and resume goes on', async () => {
    const queue = await broker.queue();
    await using consumers = await openTheirs();
    const seen: string[] = [];
    const consumer = consumers.consume(
      [queue],
      limitOf(10),
      taking((held) => {
        seen.push(bodyOf(held));
        held.acknowledge();
      }),
    );
    await broker.put(queue, ['first']);
    await until('it came', () => seen.length === 1);
    await consumer.pause('test');
    expect(await broker.consumersOf(queue)).toBe(0);
    await broker.put(queue, ['second']);
    expect(await broker.ready(queue)).toBe(1);
    expect(consumers.waitingFor()).toEqual([]);
    consumer.resume('test');
    await until('it came', () => seen.length === 2);
  });

  test('holds over a reconnect', async () => {
    const queue = await broker.queue();
    await broker.put(queue, ['x']);
    await using consumers = await openTheirs();
    const consumer = consumers.consume(
      [queue],
      limitOf(10),
      taking(() => undefined),
    );
    await until('it is consumed', async () => (await broker.consumersOf(queue)) === 1);
    await consumer.pause('test');
    broker.detour.cut();
    await until('it is back in the queue', async () => (await broker.ready(queue)) === 1);
    expect(await broker.consumersOf(queue)).toBe(0);
    consumer.resume('test');
    await until('it is consumed again', async () => (await broker.consumersOf(queue)) === 1);
  });
});

describe('depth', () => {
  test('is what waits in all of the queues, and not exact while one of them does not tell', async () => {
    const queues = await Promise.all([broker.queue(), broker.queue()]);
    for (const queue of queues) await broker.put(queue, numbers(3));
    await using consumers = await openTheirs();
    const depth = () => consumers.depth(queues).catch(() => undefined);
    const known = (messages: number) => async () => {
      const found = await depth();
      return found?.messages === messages && found;
    };
    expect((await until('both have told', known(6))).isExact).toBe(true);
    await broker.leader(queues[0] ?? '', 'suspend');
    expect((await until('the other has told', known(3))).isExact).toBe(false);
    await broker.leader(queues[0] ?? '', 'resume');
    expect((await until('both have told again', known(6))).isExact).toBe(true);
  });

  test('counts nothing of a queue that is missing, and the others', async () => {
    const queue = await broker.queue();
    await broker.put(queue, numbers(3));
    await using consumers = await openTheirs();
    await until('it is connected', () => consumers.isConnected());
    await until('the other is counted', async () => {
      const { messages, isExact } = await consumers.depth(['waybell.test.nowhere', queue]);
      return messages === 3 && isExact;
    });
  });
});

describe('closing the consumers', () => {
  /** Consumers that hold all 500 messages of a queue, and tolerate a broker that is frozen for a while. */
  async function holdAll() {
    const clock = new TurnedClock();
    const queue = await broker.queue();
    await broker.put(queue, numbers(500));
    const held: HeldMessage[] = [];
    const consumers = await openTheirs(clock);
    const consumer = consumers.consume(
      [queue],
      limitOf(512),
      taking((each) => held.push(each)),
    );
    await until('all came', async () => {
      await clock.runFor(10);
      return held.length === 500;
    });
    return { queue, held, consumers, consumer };
  }

  test('lets every acknowledgement arrive first', async () => {
    const { queue, held, consumers } = await holdAll();
    for (const each of held) each.acknowledge();
    await consumers[Symbol.asyncDispose]();
    expect(await broker.take(queue)).toEqual([]);
  });

  test('lets every acknowledgement arrive first, also among many messages given back', async () => {
    // The queue takes 32 at once and the channel keeps the others: three rounds, as it takes luck to catch one there.
    for (const _round of numbers(3)) {
      const { queue, held, consumers, consumer } = await holdAll();
      await consumer.pause('test');
      for (const each of held.slice(10)) each.giveBack();
      for (const each of held.slice(0, 10)) each.acknowledge();
      await consumers[Symbol.asyncDispose]();
      expect(await broker.take(queue)).toHaveLength(490);
    }
  });

  test('has an end while the broker does not answer', async () => {
    const clock = new TurnedClock();
    const queue = await broker.queue();
    const consumers = await openTheirs(clock, { closeLimitMs: 100 });
    consumers.consume(
      [queue],
      limitOf(10),
      taking(() => undefined),
    );
    await until('it is consumed', () => consumers.waitingFor().length === 0);
    broker.detour.stall();
    await endedWithin({ clock, limitMs: 4_000 }, consumers[Symbol.asyncDispose]());
    broker.detour.flow();
  });
});

describe('a queue that loses its leader while a process', () => {
  test.each<[string, 'kill' | 'suspend', 'restart' | 'resume']>([
    ['publishes to it', 'suspend', 'resume'],
    ['consumes it', 'suspend', 'resume'],
    ['consumes it', 'kill', 'restart'],
  ])('%s is named until it has one again, after %s', async (does, lose, regain) => {
    const isConsumed = does === 'consumes it';
    const queue = await broker.queue();
    const clock = new TurnedClock();
    await using connection = await connectBroker({
      url: broker.detour.url,
      name: 'test',
      exchanges: [],
      publishesTo: isConsumed ? [] : [queue],
      confirmTimeoutMs: 30_000,
      unconfirmedLimit: 1_000,
      log,
      clock,
    });
    if (isConsumed)
      connection.consume([queue], { messages: 10, bytes: 1_000 }, { onTaken: () => undefined, onCut: () => undefined });
    await until('it lacks nothing', () => connection.waitingFor().length === 0);
    await broker.leader(queue, lose);
    const named = `queue ${queue} (has no leader, see the runbook WaybellQueueUnavailable)`;
    await until('it is named', async () => {
      await clock.runFor(20_000);
      return connection.waitingFor().includes(named);
    });
    await broker.leader(queue, regain);
    await until('it lacks nothing again', async () => {
      await clock.runFor(5_000);
      return connection.waitingFor().length === 0;
    });
  });
});
