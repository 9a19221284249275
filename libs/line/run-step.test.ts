import type { Broker } from './broker.ts';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { endedWithin } from '@waybell/runtime/testing/ended-within';
import { until } from '@waybell/runtime/testing/until';
import { TurnedClock } from '@waybell/runtime/turned-clock';
import { Unavailable } from '@waybell/runtime/unavailable';
import { shared } from '@waybell/runtime/testing/shared';
import { aShutdown } from './testing/a-shutdown.ts';
import { aLine, limitOf, numbers, to } from './testing/a-line.ts';
import { Detour } from '@waybell/runtime/testing/detour';
import { BreakableBroker } from './testing/test-broker.ts';
import { rejectedQueue, suspectsExchange, suspectsQueue } from './topology.ts';

type ALine = Awaited<ReturnType<typeof aLine>>;

const broker = shared(() => BreakableBroker.start());

beforeEach(async () => {
  await broker.take(rejectedQueue);
});

/** A detour that a failed test has stopped would stop the next test as well. */
afterEach(() => broker.detour.flow());

/** Resolves when this many different messages have come out. */
const untilDistinct = async (queue: string, count: number, meanwhile = async (): Promise<unknown> => undefined) => {
  const bodies = new Set<string>();
  await until(`${count} different messages came out`, async () => {
    await meanwhile();
    for (const body of await distinct(queue)) bodies.add(body);
    return bodies.size >= count;
  });
};

const takeBodies = async (queue: string) => (await broker.take(queue)).map(({ content }) => content.toString());

const distinct = async (queue: string) => new Set(await takeBodies(queue));

/** Takes the message and puts it back this often, as if its process had died each time. */
const deliverInVain = (queue: string, times: number) =>
  broker.on(async (channel) => {
    for (let time = 0; time < times; time += 1) {
      const message = await until('it is there', () => channel.get(queue));
      channel.reject(message);
    }
    await channel.prefetch(1);
  });

/** Puts messages where the hand-over would: into the suspects lane of a step. */
const putAside = (step: string, ...bodies: string[]) =>
  broker.on(async (channel) => {
    for (const body of bodies) channel.publish(suspectsExchange, step, Buffer.from(body));
    await channel.waitForConfirms();
  });

describe('a message', () => {
  test('goes where its handler says, and is gone from its own queue', async () => {
    const line = await aLine(broker);
    await broker.put(line.input, numbers(50));
    await using running = await line.run();
    expect(await broker.takeBodies(line.output, 50)).toHaveLength(50);
    await running[Symbol.asyncDispose]();
    expect(await broker.ready(line.input)).toBe(0);
  });

  test('is not acknowledged while a full queue refuses what it caused, and goes on when there is room', async () => {
    const full = await broker.queue({ 'x-max-length': 1, 'x-overflow': 'reject-publish' });
    await broker.put(full, ['there', 'there']).catch(() => undefined);
    const line = await aLine(broker, {
      broker: { url: broker.detour.url },
      handle: async (body) => [to(full, body)],
    });
    await broker.put(line.input, ['patient']);
    await using running = await line.run();
    await until('it was handled', () => line.seen.length === 1);
    broker.detour.cut();
    await until('it came again', () => line.seen.length === 2);
    expect(line.seen[1]?.deliveryCount).toBe(1);
    await until('it is there', async () => (await distinct(full)).has('patient'));
    await running[Symbol.asyncDispose]();
    expect(await broker.ready(line.input)).toBe(0);
  });

  /** Waits until it has published one message, to which the channel is then open, and takes suspects: nothing is being opened then. */
  async function hasPublished(by: Broker, { name, output }: ALine): Promise<void> {
    await until('it is connected', () => by.state() === 'writable');
    await until('suspects are taken too', async () => (await broker.consumersOf(suspectsQueue(name))) === 1);
    await by.publish(to(output, 'before'));
    expect(await broker.takeBodies(output, 1)).toEqual(['before']);
  }

  test('whose confirm comes late is handled once, and gone then', async () => {
    const clock = new TurnedClock();
    const line = await aLine(broker, {
      broker: { url: broker.detour.url, clock, heartbeatSeconds: 600 },
      handle: async (body) => {
        broker.detour.stall();
        return [to(line.output, body)];
      },
    });
    await using running = await line.run();
    await hasPublished(running.broker, line);
    await broker.put(line.input, ['late']);
    await until('it is published', async () => (await broker.ready(line.output)) === 1);
    expect(running.broker.waitingFor()).toEqual([]);
    await clock.runFor(5_001);
    expect(running.broker.waitingFor()).toEqual(['confirms of rabbitmq']);
    broker.detour.flow();
    await until('its confirm has come', () => running.broker.publishing().unconfirmed === 0);
    await running[Symbol.asyncDispose]();
    expect(await broker.ready(line.input)).toBe(0);
    expect(await broker.ready(line.output)).toBe(1);
    expect(line.seen).toHaveLength(1);
  });

  test('whose confirm never comes is not acknowledged: another process takes it', async () => {
    const line = await aLine(broker, {
      broker: { url: broker.detour.url },
      handle: async (body) => {
        broker.detour.stall('answers');
        return [to(line.output, body)];
      },
    });
    await using running = await line.run();
    await hasPublished(running.broker, line);
    await broker.put(line.input, ['unsure']);
    await until('it is published', async () => (await broker.ready(line.output)) === 1);
    broker.detour.cut();
    await using _other = await line.run({ broker: { url: broker.url } });
    expect(await broker.takeBodies(line.output, 2)).toEqual(['unsure', 'unsure']);
    expect(line.seen.map(({ deliveryCount }) => deliveryCount)).toEqual([0, 1]);
    broker.detour.flow();
  });

  test('that is nonsense is rejected with the reason and its bytes, unhandled', async () => {
    const line = await aLine(broker);
    await broker.put(line.input, ['nonsense', 'sense'], { messageId: 'the-id', type: 'a.b' });
    await using _running = await line.run();
    expect(await broker.takeBodies(line.output, 1)).toEqual(['sense']);
    const [rejected] = await until('it is rejected', async () => {
      const taken = await broker.take(rejectedQueue);
      return taken.length > 0 && taken;
    });
    expect(rejected?.content.toString()).toBe('nonsense');
    expect(rejected?.properties).toMatchObject({ messageId: 'the-id', type: 'a.b' });
    expect(rejected?.properties.headers).toMatchObject({
      'waybell-reason': 'nonsense',
      'waybell-detail': 'it says so',
      'waybell-queue': line.input,
    });
    expect(line.seen).toHaveLength(1);
  });

  test('is told nothing by forged headers, and none is passed on', async () => {
    const line = await aLine(broker);
    await broker.put(line.input, ['forged'], {
      headers: {
        'x-delivery-count': 99,
        'x-death': [{ reason: 'expired', count: 9, queue: 'q' }],
        'waybell-failures': 4,
        'waybell-queue': 'elsewhere',
        'waybell-exchange': 'elsewhere',
      },
    });
    await using _running = await line.run();
    const [message] = await until('it is through', async () => {
      const taken = await broker.take(line.output);
      return taken.length > 0 && taken;
    });
    expect(line.seen[0]).toMatchObject({ queue: line.input, exchange: '', deliveryCount: 0, failures: 0 });
    expect(line.seen[0]).not.toHaveProperty('death');
    // At most the broker's own count, which RabbitMQ 3 adds to a first delivery and 4 does not.
    expect({ 'x-delivery-count': 0, ...message?.properties.headers }).toEqual({ 'x-delivery-count': 0 });
  });
});

describe('nothing is lost', () => {
  test('when connections are cut in the middle', async () => {
    const line = await aLine(broker, { broker: { url: broker.detour.url }, inHandLimit: limitOf(20) });
    await broker.put(line.input, numbers(1_000));
    await using _running = await line.run();
    await until('some are through', () => line.seen.length > 200);
    broker.detour.cut();
    await until('more are through', () => line.seen.length > 600);
    broker.detour.cut('publish');
    await untilDistinct(line.output, 1_000);
  });

  test('when the broker is killed and comes back: the line goes on by itself', async () => {
    const line = await aLine(broker, { inHandLimit: limitOf(20) });
    await broker.rememberQueues();
    await broker.put(line.input, numbers(500));
    await using _running = await line.run();
    await until('some are through', () => line.seen.length > 50);
    await broker.process.kill();
    await broker.process.start();
    await untilDistinct(line.output, 500);
  });

  test('when the broker stops answering: what was not confirmed is published again', async () => {
    const clock = new TurnedClock();
    const line = await aLine(broker, { broker: { clock, confirmTimeoutMs: 3_000 }, inHandLimit: limitOf(5) });
    await broker.put(line.input, numbers(200));
    await using running = await line.run();
    await until('some are through', () => line.seen.length > 20);
    await broker.process.freeze();
    // The broker may have confirmed everything: then the step waits for nothing, and only its heartbeats are missed.
    const unanswered = running.broker.publish(to(line.output, '0')).catch(() => undefined);
    await until('it noticed', async () => {
      await clock.runFor(1_000);
      return running.broker.state() !== 'writable';
    });
    await unanswered;
    const handled = line.seen.length;
    await clock.runFor(10_000);
    expect(line.seen.length).toBe(handled);
    await broker.process.thaw();
    // Turned no further than that takes: otherwise, by this clock, the broker would answer late and be given up again.
    const isConsumed = () => !running.broker.waitingFor().includes(`queue ${line.input}`);
    await untilDistinct(line.output, 200, async () => isConsumed() || clock.runFor(100));
  });
});

describe('a blocked broker', () => {
  test('has nothing handled that could not be published, and everything when it is over', async () => {
    const quiet = await broker.queue();
    const line = await aLine(broker, {
      moreQueues: [quiet],
      handle: async (body) => (body === 'loud' ? [to(line.output, body)] : []),
      tools: { holdMs: 600_000 },
    });
    await broker.put(line.input, ['loud']);
    await broker.put(quiet, ['quiet', 'quiet', 'quiet']);
    let letGo: () => void = () => undefined;
    const released = new Promise<void>((resolve) => (letGo = resolve));
    // Another consumer has the quiet messages, and gives them back while the broker takes no publish.
    let isTaken = false;
    const elsewhere = broker.on(async (channel) => {
      for (let count = 0; count < 3; count += 1) await channel.get(quiet);
      isTaken = true;
      await released;
    });
    await until('they are taken', () => isTaken);
    await broker.alarm(true);
    await using running = await line.run();
    await until('it is blocked', () => line.seen.length === 1 && running.broker.state() !== 'writable');
    const waitedFor = running.waitingFor();
    letGo();
    await elsewhere;
    await until('it waits for the broker', () => running.waitingFor().includes('rabbitmq'));
    expect(line.seen).toHaveLength(1);
    await broker.alarm(false);
    await until('all are handled', () => line.seen.length === 4);
    expect(await broker.takeBodies(line.output, 1)).toEqual(['loud']);
    expect(waitedFor).toEqual(['rabbitmq']);
  });
});

describe('a handler that throws', () => {
  test('once has its message handled on the suspects lane, and its neighbours pass', async () => {
    let throws = 1;
    const line = await aLine(broker, {
      handle: async (body) => {
        if (body === '7' && (throws -= 1) >= 0) throw new Error('a bug');
        return [to(line.output, body)];
      },
    });
    await broker.put(line.input, numbers(20));
    await using _running = await line.run();
    expect((await broker.takeBodies(line.output, 20)).toSorted()).toEqual(numbers(20).toSorted());
    const aside = line.seen.filter(({ queue }) => queue !== line.input);
    expect(aside).toMatchObject([{ queue: suspectsQueue(line.name), routingKey: line.input, failures: 0 }]);
    expect(await broker.ready(rejectedQueue)).toBe(0);
  });

  test('always has its message rejected after five times there, and its neighbours pass', async () => {
    const line = await aLine(broker, {
      handle: async (body) => {
        if (body === '7') throw new TypeError('a bug');
        return [to(line.output, body)];
      },
    });
    await broker.put(line.input, numbers(20));
    await using running = await line.run();
    expect(await broker.takeBodies(line.output, 19)).toHaveLength(19);
    const [rejected] = await until('it is rejected', async () => {
      const taken = await broker.take(rejectedQueue);
      return taken.length > 0 && taken;
    });
    expect(rejected?.content.toString()).toBe('7');
    expect(rejected?.properties.headers).toMatchObject({
      'waybell-reason': 'handler_failed',
      'waybell-detail': 'TypeError: a bug',
      'waybell-routing-key': line.input,
    });
    const sevens = line.seen.filter(({ body }) => body.toString() === '7');
    expect(sevens.map(({ failures }) => failures)).toEqual([0, 0, 1, 2, 3, 4]);
    await running[Symbol.asyncDispose]();
    expect(await broker.ready(suspectsQueue(line.name))).toBe(0);
  });

  test('has its suspects handled one at a time', async () => {
    let [together, atMost] = [0, 0];
    const released = Promise.withResolvers<void>();
    const line = await aLine(broker, {
      handle: async (body, { queue }) => {
        if (queue === line.input) throw new Error('a bug');
        together += 1;
        atMost = Math.max(atMost, together);
        await released.promise;
        together -= 1;
        return [to(line.output, body)];
      },
    });
    await broker.put(line.input, numbers(5));
    await using _running = await line.run();
    await until('all but one wait', async () => {
      return together > 0 && (await broker.ready(suspectsQueue(line.name))) === 4;
    });
    released.resolve();
    expect(await broker.takeBodies(line.output, 5)).toHaveLength(5);
    expect(atMost).toBe(1);
  });

  test('because no queue is bound where it publishes has the message rejected as unbound; the others pass', async () => {
    const line = await aLine(broker, {
      handle: async (body) => [to(body === '7' ? 'nobody' : line.output, body)],
    });
    await broker.put(line.input, numbers(20));
    await using _running = await line.run();
    expect(await broker.takeBodies(line.output, 19)).toHaveLength(19);
    const [rejected] = await until('it is rejected', async () => {
      const taken = await broker.take(rejectedQueue);
      return taken.length > 0 && taken;
    });
    expect(rejected?.content.toString()).toBe('7');
    expect(rejected?.properties.headers).toMatchObject({
      'waybell-reason': 'unbound',
      'waybell-detail': 'no queue is bound to exchange "waybell.deliveries" with key "nobody"',
    });
  });
});

describe('a message that came back five times', () => {
  test('is handled on the suspects lane', async () => {
    const line = await aLine(broker);
    await broker.put(line.input, ['suspicious']);
    await deliverInVain(line.input, 5);
    await using _running = await line.run();
    expect(await broker.takeBodies(line.output, 1)).toEqual(['suspicious']);
    expect(line.seen).toMatchObject([{ queue: suspectsQueue(line.name), deliveryCount: 0 }]);
  });

  test('to the suspects lane is rejected, unhandled, as one that kills its process', async () => {
    const line = await aLine(broker);
    await putAside(line.name, 'killer');
    await deliverInVain(suspectsQueue(line.name), 5);
    await using _running = await line.run();
    const [rejected] = await until('it is rejected', async () => {
      const taken = await broker.take(rejectedQueue);
      return taken.length > 0 && taken;
    });
    expect(rejected?.properties.headers).toMatchObject({ 'waybell-reason': 'process_killed' });
    expect(line.seen).toEqual([]);
  });

  /** A line on which each message waits for an answer. */
  const aPatientLine = async () => {
    const answer = Promise.withResolvers<void>();
    const line = await aLine(broker, {
      broker: { url: broker.detour.url },
      handle: async (body) => {
        await answer.promise;
        return [to(line.output, body)];
      },
    });
    return { line, answer: () => answer.resolve() };
  };

  /** Breaks the connection this often with the message in hand, which then comes once more. */
  async function cut({ seen }: ALine, times: number): Promise<void> {
    for (let each = 1; each <= times; each += 1) {
      await until('it is in hand', () => seen.length === each);
      broker.detour.cut('consume');
    }
    await until('it came once more', () => seen.length === times + 1);
  }

  test('because its connection broke each time is not suspected', async () => {
    const { line, answer } = await aPatientLine();
    await broker.put(line.input, ['innocent']);
    await using _running = await line.run();
    await cut(line, 6);
    answer();
    await untilDistinct(line.output, 1);
    expect(line.seen.map(({ queue }) => queue)).toEqual(Array(7).fill(line.input));
  });

  test('to the suspects lane because its connection broke is not counted there, by this process or another', async () => {
    const { line, answer } = await aPatientLine();
    await putAside(line.name, 'innocent');
    await using _running = await line.run();
    await cut(line, 6);
    answer();
    await untilDistinct(line.output, 1);
    expect(line.seen.map(({ queue, deliveryCount }) => `${queue} ${deliveryCount}`)).toEqual(
      Array(7).fill(`${suspectsQueue(line.name)} 0`),
    );
    expect(await broker.ready(rejectedQueue)).toBe(0);
  });
});

describe('suspects are not taken', () => {
  const consumers = ({ name }: ALine) => broker.consumersOf(suspectsQueue(name));

  test('until the process has run for five seconds: what killed the one before kills it sooner', async () => {
    const clock = new TurnedClock();
    const line = await aLine(broker, { tools: { clock, suspectsAfterMs: 5_000 } });
    await putAside(line.name, 'suspect');
    await using running = await line.run();
    // A message taken earlier waits for the connection by the clock.
    await until('it is connected', () => running.broker.state() === 'writable');
    await broker.put(line.input, ['other']);
    expect(await broker.takeBodies(line.output, 1)).toEqual(['other']);
    await clock.runFor(4_999);
    expect(await consumers(line)).toBe(0);
    await clock.runFor(1);
    expect(await broker.takeBodies(line.output, 1)).toEqual(['suspect']);
  });

  test('while something that came again is in hand: it may be what kills', async () => {
    const answer = Promise.withResolvers<void>();
    const line = await aLine(broker, {
      handle: async (body) => {
        if (body === 'slow') await answer.promise;
        return [to(line.output, body)];
      },
    });
    await broker.put(line.input, ['slow']);
    await deliverInVain(line.input, 1);
    await using _running = await line.run();
    using _answered = { [Symbol.dispose]: () => answer.resolve() };
    await until('it is in hand', () => line.seen.length === 1);
    await until('they are not taken', async () => (await consumers(line)) === 0);
    await putAside(line.name, 'suspect');
    await broker.put(line.input, ['other']);
    expect(await broker.takeBodies(line.output, 1)).toEqual(['other']);
    answer.resolve();
    await until('both are done with', async () => (await broker.ready(line.output)) === 2);
  });
});

describe('a dependency that is away', () => {
  /** Builds a handler that needs a dependency, and the switch of that dependency. */
  const aDependency = () => {
    const dependency = {
      isAway: true,
      probe: async () => {
        if (dependency.isAway) throw new Error('still away');
      },
      need: () => {
        if (dependency.isAway) throw new Unavailable('postgres', dependency.probe);
      },
    };
    return dependency;
  };

  test('is waited for with the message in hand, and the handler runs again', async () => {
    const postgres = aDependency();
    const line = await aLine(broker, {
      handle: async (body) => {
        postgres.need();
        return [to(line.output, body)];
      },
      tools: { holdMs: 600_000 },
    });
    await broker.put(line.input, ['patient']);
    await using running = await line.run();
    await until('it is waited for', () => running.waitingFor().includes('postgres'));
    expect(await broker.ready(line.input)).toBe(0);
    postgres.isAway = false;
    expect(await broker.takeBodies(line.output, 1)).toEqual(['patient']);
    expect(line.seen.map(({ deliveryCount }) => deliveryCount)).toEqual([0, 0]);
    expect(running.waitingFor()).toEqual([]);
  });

  test('for long has everything given back, once, and taken again when it is there', async () => {
    const postgres = aDependency();
    const line = await aLine(broker, {
      inHandLimit: limitOf(10),
      handle: async (body) => {
        postgres.need();
        return [to(line.output, body)];
      },
      tools: { holdMs: 200 },
    });
    await broker.put(line.input, numbers(30));
    await using running = await line.run();
    await until('nobody takes any', () => running.waitingFor().includes('postgres'));
    await until('all are back', async () => (await broker.ready(line.input)) === 30);
    expect(await broker.consumersOf(line.input)).toBe(0);
    expect(running.waitingFor()).toEqual(['postgres']);
    postgres.isAway = false;
    expect((await broker.takeBodies(line.output, 30)).toSorted()).toEqual(numbers(30).toSorted());
    expect(Math.max(...line.seen.map(({ deliveryCount }) => deliveryCount))).toBe(1);
  });

  test('again and again does not make a killer of a suspect', async () => {
    let outages = 0;
    let isAway = false;
    const clock = new TurnedClock();
    const line = await aLine(broker, {
      handle: async (body, { queue }) => {
        if (queue === line.input) throw new Error('a bug');
        outages += 1;
        if (outages > 4) return [to(line.output, body)];
        isAway = true;
        throw new Unavailable('postgres', async () => {
          if (isAway) throw new Error('still away');
        });
      },
      tools: { clock, holdMs: 100 },
    });
    await broker.put(line.input, ['innocent']);
    await using _running = await line.run();
    const untilTurned = (what: string, isSo: () => boolean | Promise<boolean>) =>
      until(what, async () => {
        await clock.runFor(100);
        return isSo();
      });
    for (let outage = 1; outage <= 4; outage += 1) {
      const isBack = async () => outages === outage && (await broker.ready(suspectsQueue(line.name))) === 1;
      await untilTurned('it is given back', isBack);
      isAway = false;
    }
    await untilTurned('it is handled', async () => (await broker.ready(line.output)) === 1);
    expect(await broker.ready(rejectedQueue)).toBe(0);
  });
});

describe('disposing of a running step', () => {
  /** Not turned: otherwise a broker that stands still for a while would be given up, with everything it was told. */
  const patient = () => {
    const clock = new TurnedClock();
    const shutdown = aShutdown();
    return { clock, shutdown, tools: { clock, shutdown }, broker: { clock } };
  };

  /** Messages taken before the step could publish would wait by a clock that is not turned. */
  async function connected(line: ALine) {
    const running = await line.run();
    await until('it is connected', () => running.broker.state() === 'writable');
    return running;
  }

  test('ends what was begun, takes no more, and nothing is done twice', async () => {
    const released = Promise.withResolvers<void>();
    const empty = await broker.queue();
    const line = await aLine(broker, {
      ...patient(),
      moreQueues: [empty],
      inHandLimit: limitOf(10),
      handle: async (body) => {
        await released.promise;
        return [to(line.output, body)];
      },
    });
    const running = await connected(line);
    await broker.put(line.input, numbers(500));
    await until('some were begun', () => line.seen.length > 0);
    const closed = running[Symbol.asyncDispose]();
    await until('it takes no more', async () => (await broker.consumersOf(empty)) === 0);
    released.resolve();
    await closed;
    const done = await takeBodies(line.output);
    const left = await broker.take(line.input);
    expect([...done, ...left.map(({ content }) => content.toString())].toSorted()).toEqual(numbers(500).toSorted());
    expect(done.length).toBeLessThan(20);
    // The consumer that flushes acknowledgements may have received one again.
    const often = left.filter(({ properties }) => (properties.headers?.['x-delivery-count'] ?? 0) > 1);
    expect(often.length).toBeLessThanOrEqual(1);
  });

  test('in full flow leaves each message either done or in its queue', async () => {
    const line = await aLine(broker, { ...patient(), inHandLimit: limitOf(50) });
    const running = await connected(line);
    await broker.put(line.input, numbers(500));
    await until('it is in full flow', () => line.seen.length > 100);
    await running[Symbol.asyncDispose]();
    const doneAndLeft = [...(await takeBodies(line.output)), ...(await takeBodies(line.input))];
    expect(doneAndLeft.toSorted()).toEqual(numbers(500).toSorted());
  });

  test('while a dependency is away gives back at once, and leaves no timer behind', async () => {
    const clock = new TurnedClock();
    const line = await aLine(broker, {
      handle: async () => {
        throw new Unavailable('postgres', () => new Promise(() => undefined));
      },
      tools: { clock },
    });
    const running = await connected(line);
    await broker.put(line.input, ['held']);
    await until('it waits', () => running.waitingFor().includes('postgres'));
    await running[Symbol.asyncDispose]();
    await until('it is back', async () => (await broker.ready(line.input)) === 1);
    expect(clock.nextAt()).toBeUndefined();
  });

  test('does not hang while the broker is away', async () => {
    const { clock, ...tools } = patient();
    const way = await Detour.to(broker.url);
    const line = await aLine(broker, { ...tools, broker: { url: way.url, clock }, inHandLimit: limitOf(10) });
    const running = await connected(line);
    await broker.put(line.input, numbers(1_000));
    await until('it is in full flow', () => line.seen.length > 20);
    // Like a killed broker: connections end, and new ones are refused.
    await way[Symbol.asyncDispose]();
    await endedWithin({ clock, limitMs: 5_000 }, running[Symbol.asyncDispose]());
    await until('the rest is back', async () => (await broker.ready(line.input)) > 0);
  });

  test.each([
    ['its queue', async (line: ALine) => broker.put(line.input, ['hung']), ({ input }: ALine) => input],
    ['the suspects lane', (line: ALine) => putAside(line.name, 'hung'), ({ name }: ALine) => suspectsQueue(name)],
  ])('gives what does not end in time back to %s, and ignores its results', async (_, put, queueOf) => {
    const { shutdown, clock, ...tools } = patient();
    const released = Promise.withResolvers<void>();
    const cut = jest.fn(() => released.resolve());
    const empty = await broker.queue();
    const line = await aLine(broker, {
      ...tools,
      moreQueues: [empty],
      tools: { clock, shutdown, cut },
      handle: async (body) => {
        if (body === 'hung') await released.promise;
        return [to(line.output, body)];
      },
    });
    const running = await connected(line);
    await put(line);
    await until('it is at work', async () => {
      await clock.runFor(20);
      return line.seen.length === 1;
    });
    await broker.put(line.input, ['quick']);
    expect(await broker.takeBodies(line.output, 1)).toEqual(['quick']);
    shutdown.begin();
    const closed = running[Symbol.asyncDispose]();
    await until('it takes no more', async () => (await broker.consumersOf(empty)) === 0);
    expect(shutdown.held()).toBe(1);
    expect(cut).not.toHaveBeenCalled();
    shutdown.end();
    await closed;
    expect(cut).toHaveBeenCalledTimes(1);
    expect(shutdown.held()).toBe(0);
    expect(await broker.takeBodies(queueOf(line), 1)).toEqual(['hung']);
    expect(await takeBodies(line.output)).toEqual([]);
  });

  test('gives back in time what is done and cannot be told', async () => {
    const { clock, shutdown, tools } = patient();
    const line = await aLine(broker, {
      tools,
      handle: async (body) => {
        await broker.alarm(true);
        return [to(line.output, body)];
      },
    });
    const running = await connected(line);
    await broker.put(line.input, ['untold']);
    await until('the broker takes nothing', () => running.broker.state() === 'blocked');
    shutdown.begin();
    const closed = running[Symbol.asyncDispose]();
    shutdown.end();
    await endedWithin({ clock, limitMs: 10_000 }, closed);
    expect(shutdown.held()).toBe(0);
    await broker.alarm(false);
    expect(await broker.takeBodies(line.input, 1)).toEqual(['untold']);
  });

  test('of which the broker is not heard to know gives back what still comes', async () => {
    const { shutdown, clock, tools } = patient();
    const released = Promise.withResolvers<void>();
    const line = await aLine(broker, {
      broker: { url: broker.detour.url, clock, heartbeatSeconds: 600 },
      tools,
      handle: async (body) => {
        await released.promise;
        return [to(line.output, body)];
      },
    });
    const running = await line.run();
    await broker.put(line.input, ['begun']);
    // The broker does not do everything at once; trying again takes time by the clock.
    const untilTurned = (what: string, isSo: () => boolean) =>
      until(what, async () => {
        await clock.runFor(20);
        return isSo();
      });
    await untilTurned('it is begun', () => line.seen.length === 1);
    // The broker's answers are held back: it cannot report that it stopped sending.
    broker.detour.stall('answers');
    await broker.put(line.input, numbers(20));
    shutdown.begin();
    const closed = running[Symbol.asyncDispose]();
    // Turns the clock for as long as it waits for that.
    await clock.runFor(1_000);
    broker.detour.flow();
    released.resolve();
    let isClosed = false;
    void closed.then(() => (isClosed = true));
    await untilTurned('it is closed', () => isClosed);
    await until('the others are back', async () => (await broker.ready(line.input)) === 20);
    expect(line.seen).toHaveLength(1);
  });

  test('is begun by the shutdown of the process, whose other parts may take their time', async () => {
    const { shutdown, ...tools } = patient();
    const line = await aLine(broker, tools);
    await using _running = await connected(line);
    await broker.put(line.input, ['before']);
    expect(await broker.takeBodies(line.output, 1)).toEqual(['before']);
    shutdown.begin();
    await until('it takes no more', async () => (await broker.consumersOf(line.input)) === 0);
  });
});
