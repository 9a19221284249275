import { describe, expect, test } from '@jest/globals';
import { until } from '@waybell/runtime/testing/until';
import { TurnedClock } from '@waybell/runtime/turned-clock';
import { shared } from '@waybell/runtime/testing/shared';
import { silentLog as log } from '@waybell/runtime/testing/patience';
import { type Publication, Stalled, TooLarge, Unconfirmed } from '../messages.ts';
import { BreakableBroker } from '../testing/test-broker.ts';
import { deliveriesExchange } from '../topology.ts';
import { openPublisher, type BrokerPublisher } from './publisher.ts';

const broker = shared(() => BreakableBroker.start());

const CONFIRM_LIMIT_MS = 30_000;

const aPublisher = (clock: TurnedClock) =>
  openPublisher({
    url: broker.url,
    name: 'test',
    heartbeatSeconds: 600,
    confirmTimeoutMs: CONFIRM_LIMIT_MS,
    unconfirmedLimit: 5_000,
    unconfirmedBytesLimit: 2 ** 26,
    exchanges: [deliveriesExchange],
    log,
    clock,
  });

const aPublication = (routingKey: string, body = 'x'): Publication => ({
  kind: 'publish',
  exchange: deliveriesExchange,
  routingKey,
  body: Buffer.from(body),
  messageId: body.slice(0, 100),
});

const numbers = (count: number) => Array.from({ length: count }, (_, index) => String(index));
const fateOf = (work: Promise<void>) =>
  work.then(
    () => 'confirmed',
    (error: Error) => error.name,
  );

/** Turns the clock until the condition holds; the broker answers in real time. */
const turnUntil = (what: string, clock: TurnedClock, isSo: () => boolean) =>
  until(what, async () => {
    if (!isSo()) await clock.runFor(500);
    return isSo();
  });

/** Runs the work while the queue's leader process is suspended. */
async function whileStalled(queue: string, work: () => Promise<void>): Promise<void> {
  await broker.leader(queue, 'suspend');
  try {
    await work();
  } finally {
    await broker.leader(queue, 'resume');
  }
}

/** Publishes `count` messages, and turns the clock until the queue is detected as stalled. */
async function untilStalled(publisher: BrokerPublisher, clock: TurnedClock, queue: string, count: number) {
  const fates = numbers(count).map((body) => fateOf(publisher.publish(aPublication(queue, body))));
  await turnUntil('it is known to stall', clock, () => publisher.stalled().length > 0);
  return fates;
}

describe('a queue that stands still', () => {
  // The channel in the broker stalls with it from the first message on, or from the 33rd.
  test.each([
    ['was published to before', true],
    ['is published to for the first time', false],
  ])('and %s holds up nothing that goes elsewhere, however much is sent to it', async (_, isKnown) => {
    const [stalled, other] = [await broker.queue(), await broker.queue()];
    const clock = new TurnedClock();
    await using publisher = aPublisher(clock);
    await until('it is writable', () => publisher.state() === 'writable');
    if (isKnown) await publisher.publish(aPublication(stalled, 'before'));
    await whileStalled(stalled, async () => {
      const fates = await untilStalled(publisher, clock, stalled, 1_000);
      // Far more than RabbitMQ reads for a stalled channel.
      await Promise.all(numbers(2_000).map((body) => publisher.publish(aPublication(other, body))));
      expect(publisher.stalled()).toEqual([{ exchange: deliveriesExchange, routingKey: stalled }]);
      await expect(publisher.publish(aPublication(stalled))).rejects.toThrow(Stalled);
      expect((await Promise.all(fates)).every((fate) => fate === 'Stalled')).toBe(true);
      expect(publisher.publishing().unconfirmed).toBe(128);
      expect(publisher.isConfirming()).toBe(true);
      expect(publisher.state()).toBe('writable');
    });
    await turnUntil('it goes on', clock, () => publisher.stalled().length === 0);
    await publisher.publish(aPublication(stalled, 'after'));
  });

  test('for longer than confirms may take does not cost the connection, and it is tried again', async () => {
    const [stalled, other] = [await broker.queue(), await broker.queue()];
    const clock = new TurnedClock();
    await using publisher = aPublisher(clock);
    await until('it is writable', () => publisher.state() === 'writable');
    const states: string[] = [];
    publisher.onState((state) => states.push(state));
    let probe = Promise.resolve('not sent');
    await whileStalled(stalled, async () => {
      const [fate] = await untilStalled(publisher, clock, stalled, 1);
      await turnUntil('it is given up', clock, () => publisher.publishing().unconfirmed === 0);
      expect(await fate).toBe('Stalled');
      await clock.runFor(CONFIRM_LIMIT_MS);
      await publisher.publish(aPublication(other));
      probe = fateOf(publisher.publish(aPublication(stalled, 'probe')));
      await expect(publisher.publish(aPublication(stalled))).rejects.toThrow(Stalled);
    });
    expect(await probe).toBe('confirmed');
    expect(publisher.stalled()).toEqual([]);
    expect(states).toEqual([]);
  });
});

describe('a message larger than the broker takes', () => {
  test('is refused for good, and no other with it', async () => {
    const queue = await broker.queue();
    // RabbitMQ keeps the limit in one place or the other, depending on its version.
    const limit = (bytes: number) =>
      broker.evaluate(
        `application:set_env(rabbit, max_message_size, ${bytes}), persistent_term:put(max_message_size, ${bytes})`,
      );
    const clock = new TurnedClock();
    await limit(1_000);
    try {
      await using publisher = aPublisher(clock);
      await until('it is writable', () => publisher.state() === 'writable');
      await expect(publisher.publish(aPublication(queue, 'x'.repeat(1_001)))).rejects.toThrow(TooLarge);
      await publisher.publish(aPublication(queue, 'y'.repeat(1_000)));
      // Nothing more of that is sent.
      await expect(publisher.publish(aPublication(queue, 'z'.repeat(1_001)))).rejects.toThrow('takes 1000 at most');
      expect(publisher.state()).toBe('writable');
      expect((await broker.takeBodies(queue, 1)).map(({ length }) => length)).toEqual([1_000]);
    } finally {
      await limit(2 ** 27);
    }
  });
});

describe('a message to an exchange that has gone', () => {
  test('is not confirmed, and nothing is begun until the exchange is back', async () => {
    await broker.on((channel) => channel.assertExchange('waybell.gone', 'fanout'));
    const clock = new TurnedClock();
    await using publisher = openPublisher({
      url: broker.url,
      name: 'test',
      heartbeatSeconds: 600,
      confirmTimeoutMs: CONFIRM_LIMIT_MS,
      unconfirmedLimit: 10,
      unconfirmedBytesLimit: 1_000,
      exchanges: ['waybell.gone'],
      log,
      clock,
    });
    await until('it is writable', () => publisher.state() === 'writable');
    await broker.on((channel) => channel.deleteExchange('waybell.gone'));
    const publication = { ...aPublication('any'), exchange: 'waybell.gone' };
    await expect(publisher.publish(publication)).rejects.toThrow(Unconfirmed);
    expect(publisher.state()).toBe('away');
    await broker.on((channel) => channel.assertExchange('waybell.gone', 'fanout'));
    await until('it is writable again', () => publisher.state() === 'writable');
    await broker.on((channel) => channel.deleteExchange('waybell.gone'));
  });
});
