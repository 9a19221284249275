import { describe, expect, test } from '@jest/globals';
import { Detour } from '@waybell/runtime/testing/detour';
import { endedWithin } from '@waybell/runtime/testing/ended-within';
import { until } from '@waybell/runtime/testing/until';
import { TurnedClock } from '@waybell/runtime/turned-clock';
import { shared } from '@waybell/runtime/testing/shared';
import { silentLog as log } from '@waybell/runtime/testing/patience';
import { type Publication, Unconfirmed, Unroutable } from '../messages.ts';
import { openSockets, BreakableBroker } from '../testing/test-broker.ts';
import { deliveriesExchange } from '../topology.ts';
import { openPublisher, type BrokerPublisher, type BrokerPublisherOptions } from './publisher.ts';

const broker = shared(() => BreakableBroker.start());

const aPublisher = (options: Partial<BrokerPublisherOptions> = {}) =>
  openPublisher({
    url: broker.detour.url,
    name: 'test',
    heartbeatSeconds: 10,
    confirmTimeoutMs: CONFIRM_LIMIT_MS,
    unconfirmedLimit: 1_000,
    unconfirmedBytesLimit: 2 ** 26,
    exchanges: [deliveriesExchange],
    log,
    clock: new TurnedClock(),
    ...options,
  });

const CONFIRM_LIMIT_MS = 30_000;
/** Keeps a silent connection for as long as the clock is not turned. */
const PATIENT = { heartbeatSeconds: 600 };

const aPublication = (routingKey: string, body = 'x', more: Partial<Publication> = {}): Publication => ({
  kind: 'publish',
  exchange: deliveriesExchange,
  routingKey,
  body: Buffer.from(body),
  messageId: body,
  ...more,
});

const untilWritable = (publisher: BrokerPublisher) =>
  new Promise<void>((resolve) => {
    if (publisher.state() === 'writable') resolve();
    publisher.onState((state) => state === 'writable' && resolve());
  });

const numbers = (count: number) => Array.from({ length: count }, (_, index) => String(index));

/** Publishes again until confirmed, like the hand-over. */
async function insist(publisher: BrokerPublisher, publication: Publication): Promise<void> {
  for (;;) {
    try {
      return await publisher.publish(publication);
    } catch (error) {
      if (!(error instanceof Unconfirmed)) throw error;
      await untilWritable(publisher);
    }
  }
}

describe('publish', () => {
  test('resolves when the queue has the message, whole and persistent', async () => {
    const queue = await broker.queue();
    await using publisher = aPublisher();
    await untilWritable(publisher);
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
    await using publisher = aPublisher();
    await untilWritable(publisher);
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
    await using publisher = aPublisher();
    await untilWritable(publisher);
    const copies = [1, 2].map(() => publisher.publish(aPublication('nobody', 'same')));
    const results = await Promise.allSettled(copies);
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  });

  test('rejects when the broker is not there', async () => {
    await using publisher = aPublisher({ url: 'amqp://127.0.0.1:1' });
    await expect(publisher.publish(aPublication('any'))).rejects.toThrow(Unconfirmed);
    expect(publisher.state()).not.toBe('writable');
  });

  test('rejects when no confirm comes in time, and takes nothing until there is a new connection', async () => {
    const queue = await broker.queue();
    const clock = new TurnedClock();
    await using publisher = aPublisher({ ...PATIENT, clock });
    await untilWritable(publisher);
    await publisher.publish(aPublication(queue, 'first'));
    await broker.take(queue);
    broker.detour.stall();
    const unsure = publisher.publish(aPublication(queue, 'unsure')).catch(String);
    await clock.runFor(CONFIRM_LIMIT_MS);
    expect(publisher.publishing().unconfirmed).toBe(1);
    expect(await endedWithin({ clock, limitMs: 1_000 }, unsure)).toContain('the connection is gone');
    expect(publisher.state()).not.toBe('writable');
    // The way back may stay closed: then the connection is not closed, but given up.
    await clock.runFor(2_000);
    broker.detour.flow();
    await untilWritable(publisher);
    await publisher.publish(aPublication(queue, 'sure'));
    const bodies = (await broker.take(queue)).map(({ content }) => content.toString());
    // The unconfirmed message may be in the queue, or unread by the frozen broker.
    expect(new Set([...bodies, 'unsure'])).toEqual(new Set(['unsure', 'sure']));
  });

  test('says so while confirms do not come, long before it gives up on one', async () => {
    const queue = await broker.queue();
    const clock = new TurnedClock();
    await using publisher = aPublisher({ ...PATIENT, clock });
    await untilWritable(publisher);
    await publisher.publish(aPublication(queue, 'first'));
    await broker.take(queue);
    broker.detour.stall();
    const published = publisher.publish(aPublication(queue));
    await clock.runFor(5_000);
    expect(publisher.isConfirming()).toBe(true);
    await clock.runFor(1);
    expect(publisher.isConfirming()).toBe(false);
    expect(publisher.state()).toBe('writable');
    broker.detour.flow();
    await published;
    expect(publisher.isConfirming()).toBe(true);
  });

  test('rejects what was on its way when the connection was cut; published again, all of it arrives', async () => {
    const queue = await broker.queue();
    await using publisher = aPublisher();
    await untilWritable(publisher);
    const all = numbers(2_000).map((body) => insist(publisher, aPublication(queue, body)));
    await all[100];
    broker.detour.cut();
    await Promise.all(all);
    await until('all are there', async () => (await broker.ready(queue)) >= 2_000);
    const bodies = (await broker.take(queue)).map(({ content }) => content.toString());
    expect(new Set(bodies).size).toBe(2_000);
  });

  test('rejects what a full queue refuses, and the others get through', async () => {
    const full = await broker.queue({ 'x-max-length': 1, 'x-overflow': 'reject-publish' });
    const queue = await broker.queue();
    await broker.put(full, ['there']);
    await using publisher = aPublisher();
    await untilWritable(publisher);
    // A quorum queue refuses a little later than at its limit.
    await expect(
      (async () => {
        for (const body of numbers(100)) await publisher.publish(aPublication(full, body));
      })(),
    ).rejects.toThrow('publish not confirmed: message nacked');
    await publisher.publish(aPublication(queue));
    expect(publisher.state()).toBe('writable');
  });

  test('waits for a missing exchange to be declared', async () => {
    await using publisher = aPublisher({ exchanges: [deliveriesExchange, 'waybell.later'] });
    await until('it was asked for', () => broker.detour.said.includes('waybell.later'));
    await expect(publisher.publish(aPublication('any'))).rejects.toThrow('the broker is away');
    expect(publisher.state()).not.toBe('writable');
    await broker.on(async (channel) => channel.assertExchange('waybell.later', 'fanout'));
    await untilWritable(publisher);
    expect(publisher.state()).toBe('writable');
    await broker.on(async (channel) => channel.deleteExchange('waybell.later'));
  });

  test('is writable again after a publish that made the broker close the channel', async () => {
    const queue = await broker.queue();
    await using publisher = aPublisher();
    await untilWritable(publisher);
    await expect(publisher.publish(aPublication('any', 'x', { exchange: 'missing' }))).rejects.toThrow(Unconfirmed);
    await untilWritable(publisher);
    await publisher.publish(aPublication(queue));
  });

  test('rejects what was on its way when the broker closed the channel; published again, all of it arrives', async () => {
    const queue = await broker.queue();
    await using publisher = aPublisher();
    await untilWritable(publisher);
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
    await using publisher = aPublisher({ ...PATIENT, unconfirmedLimit: 10 });
    await untilWritable(publisher);
    await publisher.publish(aPublication(queue, 'first'));
    await broker.take(queue);
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
    await using publisher = aPublisher({ unconfirmedLimit: 1 });
    await untilWritable(publisher);
    await publisher.publish(aPublication(queue, 'first'));
    await broker.take(queue);
    broker.detour.stall();
    const all = Promise.allSettled(numbers(20).map((body) => publisher.publish(aPublication(queue, body))));
    broker.detour.cut();
    broker.detour.flow();
    // None hangs: each was rejected, or confirmed after the reconnect.
    expect(await all).toHaveLength(20);
  });
});

describe('a blocked connection', () => {
  test('that was given up before it was known to be blocked does not wait for the end of the alarm', async () => {
    const queue = await broker.queue();
    const clock = new TurnedClock();
    await using publisher = aPublisher({ ...PATIENT, clock });
    await broker.alarm(true);
    await untilWritable(publisher);
    broker.detour.stallAt('what blocks');
    try {
      const published = publisher.publish(aPublication(queue, 'what blocks')).catch(String);
      await until('it is sent', () => broker.detour.said.includes('what blocks'));
      const ended = endedWithin({ clock, limitMs: CONFIRM_LIMIT_MS + 1_000 }, published);
      expect(await ended).toContain('the connection is gone');
      broker.detour.flow();
      await clock.runFor(2_000);
      await untilWritable(publisher);
    } finally {
      broker.detour.flow();
      await broker.alarm(false);
    }
  });

  test('waits without giving up, and is confirmed when the alarm is over', async () => {
    const queue = await broker.queue();
    const clock = new TurnedClock();
    await using publisher = aPublisher({ clock });
    await untilWritable(publisher);
    await publisher.publish(aPublication(queue, 'first'));
    await broker.take(queue);
    await broker.alarm(true);
    const published = publisher.publish(aPublication(queue));
    await until('it is blocked', () => publisher.publishing().isBlocked);
    await clock.runFor(10 * CONFIRM_LIMIT_MS);
    expect(publisher.state()).not.toBe('writable');
    expect(publisher.publishing()).toEqual({ unconfirmed: 1, isBlocked: true, stalled: [] });
    await broker.alarm(false);
    await published;
    expect(publisher.state()).toBe('writable');
    expect(publisher.publishing()).toEqual({ unconfirmed: 0, isBlocked: false, stalled: [] });
    expect(await broker.take(queue)).toHaveLength(1);
  });

  test('that is cut is writable again after the alarm', async () => {
    const queue = await broker.queue();
    await using publisher = aPublisher();
    await untilWritable(publisher);
    await broker.alarm(true);
    const published = insist(publisher, aPublication(queue));
    await until('it is blocked', () => publisher.state() !== 'writable');
    broker.detour.cut();
    await broker.alarm(false);
    await published;
    await untilWritable(publisher);
    expect(publisher.state()).toBe('writable');
  });
});

describe('closing a publisher', () => {
  test('has an end while the broker does not answer, and leaves no socket', async () => {
    await until('no socket is open but those of the detour', () => openSockets() === Detour.SOCKETS);
    const clock = new TurnedClock();
    const publisher = aPublisher({ url: broker.url, clock, closeLimitMs: 100 });
    await untilWritable(publisher);
    await broker.process.freeze();
    try {
      const published = publisher.publish(aPublication('any')).catch((error: unknown) => error);
      await endedWithin({ clock, limitMs: 2_000 }, publisher[Symbol.asyncDispose]());
      expect(await published).toBeInstanceOf(Unconfirmed);
      await until('its socket is closed', () => openSockets() === Detour.SOCKETS);
    } finally {
      await broker.process.thaw();
    }
  });

  test('while the broker is away ends at once', async () => {
    const publisher = aPublisher({ url: 'amqp://127.0.0.1:1' });
    await expect(publisher[Symbol.asyncDispose]()).resolves.toBeUndefined();
  });
});
