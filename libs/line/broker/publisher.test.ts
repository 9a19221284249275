import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createLog } from '@waybell/runtime/log';
import type { Publication } from '../messages.ts';
import { RunningTime } from '../testing/running-time.ts';
import { openSockets, BreakableBroker } from '../testing/test-broker.ts';
import { until } from '@waybell/runtime/testing/until';
import { deliveriesExchange } from '../topology.ts';
import { openPublisher, type Publisher, type PublisherOptions } from './publisher.ts';
import { Unconfirmed, Unroutable } from './unconfirmed-messages.ts';

let broker: BreakableBroker;

beforeAll(async () => {
  broker = await BreakableBroker.start();
});

afterAll(async () => {
  await broker[Symbol.asyncDispose]();
});

const log = createLog({ service: 'test', level: 'silent' });

const aPublisher = (options: Partial<PublisherOptions> = {}) =>
  openPublisher({
    url: broker.detour.url,
    name: 'test',
    heartbeatSeconds: 10,
    confirmTimeoutMs: 30_000,
    unconfirmedLimit: 1_000,
    unconfirmedBytesLimit: 2 ** 26,
    exchanges: [deliveriesExchange],
    log,
    ...options,
  });

/** Keeps a connection on which nothing comes back, however long the machine stands still meanwhile. */
const PATIENT = { confirmTimeoutMs: 600_000, heartbeatSeconds: 600 };

const aPublication = (routingKey: string, body = 'x', more: Partial<Publication> = {}): Publication => ({
  kind: 'publish',
  exchange: deliveriesExchange,
  routingKey,
  body: Buffer.from(body),
  messageId: body,
  ...more,
});

const numbers = (count: number) => Array.from({ length: count }, (_, index) => String(index));

/** As the wrapper does it: what was not confirmed is published again. */
async function insist(publisher: Publisher, publication: Publication): Promise<void> {
  for (;;) {
    try {
      return await publisher.publish(publication);
    } catch (error) {
      if (!(error instanceof Unconfirmed)) throw error;
      await publisher.untilWritable();
    }
  }
}

describe('publish', () => {
  test('resolves when the queue has the message, whole and persistent', async () => {
    const queue = await broker.queue();
    await using publisher = await aPublisher();
    await publisher.untilWritable();
    await publisher.publish(
      aPublication(queue, 'body', {
        type: 'a.b',
        note: 'n',
        contentType: 'application/json',
        headers: { traceparent: 't' },
      }),
    );
    const [message] = await broker.take(queue);
    expect(message?.content.toString()).toBe('body');
    expect(message?.properties).toMatchObject({
      messageId: 'body',
      type: 'a.b',
      correlationId: 'n',
      contentType: 'application/json',
      deliveryMode: 2,
      headers: { traceparent: 't' },
    });
  });

  test('rejects what no queue is bound for, and its neighbours get through', async () => {
    const queue = await broker.queue();
    await using publisher = await aPublisher();
    await publisher.untilWritable();
    const results = await Promise.allSettled([
      publisher.publish(aPublication(queue, 'before')),
      publisher.publish(aPublication('nobody', 'lost')),
      publisher.publish(aPublication(queue, 'after')),
    ]);
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(results[1]).toMatchObject({ reason: new Unroutable(aPublication('nobody')) });
    expect(await broker.takeBodies(queue, 2)).toEqual(['before', 'after']);
  });

  test('counts all copies as returned where they cannot be told apart', async () => {
    await using publisher = await aPublisher();
    await publisher.untilWritable();
    const copies = [1, 2].map(() => publisher.publish(aPublication('nobody', 'same')));
    const results = await Promise.allSettled(copies);
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  });

  test('rejects when the broker is not there', async () => {
    await using publisher = await aPublisher({ url: 'amqp://127.0.0.1:1' });
    await expect(publisher.publish(aPublication('any'))).rejects.toThrow(Unconfirmed);
    expect(publisher.isWritable()).toBe(false);
  });

  test('rejects when no confirm comes in time, and takes nothing until there is a new connection', async () => {
    const queue = await broker.queue();
    await using publisher = await aPublisher({ confirmTimeoutMs: 200, heartbeatSeconds: 1 });
    await publisher.untilWritable();
    broker.detour.stall();
    await expect(publisher.publish(aPublication(queue, 'unsure'))).rejects.toThrow('the connection is gone');
    expect(publisher.isWritable()).toBe(false);
    broker.detour.flow();
    const publishSure = async () => {
      await publisher.untilWritable();
      return publisher.publish(aPublication(queue, 'sure')).catch(String);
    };
    let failure = await publishSure();
    // With so little time for a confirm, a broker that stands still costs this connection, too.
    while (failure?.includes('the connection is gone')) failure = await publishSure();
    expect(failure).toBeUndefined();
    const bodies = (await broker.take(queue)).map(({ content }) => content.toString());
    // What was not confirmed may be there: a broker that stood still has not read it.
    expect(new Set([...bodies, 'unsure'])).toEqual(new Set(['unsure', 'sure']));
  });

  test('says so while confirms do not come, long before it gives up on one', async () => {
    const queue = await broker.queue();
    await using publisher = await aPublisher(PATIENT);
    await publisher.untilWritable();
    expect(publisher.isConfirming()).toBe(true);
    broker.detour.stall();
    const published = publisher.publish(aPublication(queue));
    await until('it says so', () => !publisher.isConfirming());
    expect(publisher.isWritable()).toBe(true);
    broker.detour.flow();
    await published;
    expect(publisher.isConfirming()).toBe(true);
  });

  test('rejects what was on its way when the connection was cut; published again, all of it arrives', async () => {
    const queue = await broker.queue();
    await using publisher = await aPublisher();
    await publisher.untilWritable();
    const all = numbers(2_000).map((body) => insist(publisher, aPublication(queue, body)));
    await all[100];
    broker.detour.cut();
    await Promise.all(all);
    await until('all are there', async () => (await broker.ready(queue)) >= 2_000);
    const bodies = (await broker.take(queue)).map(({ content }) => content.toString());
    expect(new Set(bodies).size).toBe(2_000);
  });

  test('loses nothing when the broker is killed and comes back', async () => {
    const queue = await broker.queue();
    await broker.rememberQueues();
    await using publisher = await aPublisher();
    await publisher.untilWritable();
    const all = numbers(2_000).map((body) => insist(publisher, aPublication(queue, body)));
    await all[50];
    await broker.process.kill();
    await until('it is noticed', () => !publisher.isWritable());
    await broker.process.start();
    await Promise.all(all);
    await until('all are there', async () => (await broker.ready(queue)) >= 2_000);
    const bodies = (await broker.take(queue)).map(({ content }) => content.toString());
    expect(new Set(bodies).size).toBe(2_000);
  });

  test('rejects what a full queue refuses, and the others get through', async () => {
    const full = await broker.queue({ 'x-max-length': 1, 'x-overflow': 'reject-publish' });
    const queue = await broker.queue();
    await broker.put(full, ['there']);
    await using publisher = await aPublisher();
    await publisher.untilWritable();
    // A quorum queue refuses a little later than at its limit.
    await expect(
      (async () => {
        for (const body of numbers(100)) await publisher.publish(aPublication(full, body));
      })(),
    ).rejects.toThrow('publish not confirmed: message nacked');
    await publisher.publish(aPublication(queue));
    expect(publisher.isWritable()).toBe(true);
  });

  test('waits for a missing exchange to be declared', async () => {
    await using publisher = await aPublisher({ exchanges: [deliveriesExchange, 'waybell.later'] });
    await until('it was asked for', () => broker.detour.said.includes('waybell.later'));
    await expect(publisher.publish(aPublication('any'))).rejects.toThrow('the broker is away');
    expect(publisher.isWritable()).toBe(false);
    await broker.on(async (channel) => channel.assertExchange('waybell.later', 'fanout'));
    await publisher.untilWritable();
    expect(publisher.isWritable()).toBe(true);
    await broker.on(async (channel) => channel.deleteExchange('waybell.later'));
  });

  test('is writable again after a publish that made the broker close the channel', async () => {
    const queue = await broker.queue();
    await using publisher = await aPublisher();
    await publisher.untilWritable();
    await expect(publisher.publish(aPublication('any', 'x', { exchange: 'missing' }))).rejects.toThrow(Unconfirmed);
    await publisher.untilWritable();
    await publisher.publish(aPublication(queue));
  });

  test('rejects what was on its way when the broker closed the channel; published again, all of it arrives', async () => {
    const queue = await broker.queue();
    await using publisher = await aPublisher();
    await publisher.untilWritable();
    const before = numbers(250).map((body) => insist(publisher, aPublication(queue, body)));
    const culprit = publisher.publish(aPublication('any', 'x', { exchange: 'missing' }));
    const after = numbers(250).map((body) => insist(publisher, aPublication(queue, `${body} after`)));
    await expect(culprit).rejects.toThrow(Unconfirmed);
    await Promise.all([...before, ...after]);
    await until('all are there', async () => (await broker.ready(queue)) >= 500);
    const bodies = (await broker.take(queue)).map(({ content }) => content.toString());
    expect(new Set(bodies).size).toBe(500);
  });

  test('sends no more than its limit before confirms come, and everything in the end', async () => {
    const queue = await broker.queue();
    await using publisher = await aPublisher({ ...PATIENT, unconfirmedLimit: 10 });
    await publisher.untilWritable();
    broker.detour.stall();
    const all = numbers(50).map((body) => publisher.publish(aPublication(queue, body)));
    await until('ten are there', async () => (await broker.ready(queue)) >= 10);
    expect(await broker.ready(queue)).toBe(10);
    broker.detour.flow();
    await Promise.all(all);
    expect(await broker.takeBodies(queue, 50)).toEqual(numbers(50));
  });

  test('lets go of what waits for room when the connection is lost', async () => {
    const queue = await broker.queue();
    await using publisher = await aPublisher({ unconfirmedLimit: 1 });
    await publisher.untilWritable();
    broker.detour.stall();
    const all = Promise.allSettled(numbers(20).map((body) => publisher.publish(aPublication(queue, body))));
    broker.detour.cut();
    broker.detour.flow();
    // None hangs: each was rejected, or confirmed after the reconnect.
    expect(await all).toHaveLength(20);
  });
});

/** To a queue of its own. Given up is what the broker was too slow to say of that it is blocked. */
async function publishIntoAlarm(publisher: Publisher) {
  const queue = await broker.queue();
  await publisher.untilWritable();
  await broker.alarm(true);
  let [isConfirmed, isGivenUp] = [false, false];
  const published = publisher.publish(aPublication(queue)).then(() => void (isConfirmed = true));
  published.catch(() => (isGivenUp = true));
  await until('it is blocked, or given up', () => isGivenUp || publisher.publishing().isBlocked);
  return { queue, published, wasBlocked: !isGivenUp, isConfirmed: () => isConfirmed, isGivenUp: () => isGivenUp };
}

describe('a blocked connection', () => {
  test('that was given up before it was known to be blocked does not wait for the end of the alarm', async () => {
    const queue = await broker.queue();
    await using publisher = await aPublisher({ confirmTimeoutMs: 200 });
    await broker.alarm(true);
    await publisher.untilWritable();
    broker.detour.stall();
    try {
      await expect(publisher.publish(aPublication(queue))).rejects.toThrow('the connection is gone');
      broker.detour.flow();
      await publisher.untilWritable();
    } finally {
      broker.detour.flow();
      await broker.alarm(false);
    }
  });

  test('waits without giving up, and is confirmed when the alarm is over', async () => {
    await using publisher = await aPublisher({ confirmTimeoutMs: 500 });
    const { queue, ...seen } = await until('the broker answers in time', async () => {
      const attempt = await publishIntoAlarm(publisher);
      const blocked = { isWritable: publisher.isWritable(), ...publisher.publishing() };
      const overdueAt = Date.now() + 2_500;
      await until('the time limit of a confirm is long over', () => Date.now() > overdueAt);
      const atLast = { isConfirmed: attempt.isConfirmed(), isGivenUp: attempt.isGivenUp() };
      await broker.alarm(false);
      // With so little time for a confirm, one that is slow before the alarm is known, or after it, is given up.
      const isConfirmed = await attempt.published.then(
        () => true,
        () => attempt.wasBlocked && atLast.isGivenUp,
      );
      return isConfirmed && { queue: attempt.queue, blocked, atLast };
    });
    expect(seen).toEqual({
      blocked: { isWritable: false, unconfirmed: 1, isBlocked: true },
      atLast: { isConfirmed: false, isGivenUp: false },
    });
    expect(publisher.isWritable()).toBe(true);
    expect(publisher.publishing()).toEqual({ unconfirmed: 0, isBlocked: false });
    expect(await broker.take(queue)).toHaveLength(1);
  });

  test('that is cut is writable again after the alarm', async () => {
    const queue = await broker.queue();
    await using publisher = await aPublisher();
    await publisher.untilWritable();
    await broker.alarm(true);
    const published = insist(publisher, aPublication(queue));
    await until('it is blocked', () => !publisher.isWritable());
    broker.detour.cut();
    await broker.alarm(false);
    await published;
    await publisher.untilWritable();
    expect(publisher.isWritable()).toBe(true);
  });
});

describe('closing a publisher', () => {
  test('takes a few seconds at most while the broker does not answer, and leaves no socket', async () => {
    // The detour's listening one.
    await until('no socket is open but one', () => openSockets() === 1);
    const publisher = await aPublisher({ url: broker.url });
    await publisher.untilWritable();
    broker.signal('SIGSTOP');
    try {
      const published = publisher.publish(aPublication('any'));
      using taken = new RunningTime();
      await Promise.all([publisher[Symbol.asyncDispose](), expect(published).rejects.toThrow(Unconfirmed)]);
      expect(taken.ms()).toBeLessThan(6_000);
      await until('its socket is closed', () => openSockets() === 1);
      expect(taken.ms()).toBeLessThan(9_000);
    } finally {
      broker.signal('SIGCONT');
    }
  });

  test('while the broker is away ends at once', async () => {
    const publisher = await aPublisher({ url: 'amqp://127.0.0.1:1' });
    using taken = new RunningTime();
    await publisher[Symbol.asyncDispose]();
    expect(taken.ms()).toBeLessThan(1_000);
  });
});
