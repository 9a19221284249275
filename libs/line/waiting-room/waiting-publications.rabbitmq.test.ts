import { beforeEach, expect, test } from '@jest/globals';
import type { Broker } from '../broker.ts';
import { connectBroker } from '../broker/connect-broker.ts';
import { BreakableBroker } from '../testing/test-broker.ts';
import { until } from '@waybell/runtime/testing/until';
import type { TurnedClock } from '@waybell/runtime/turned-clock';
import { Detour } from '@waybell/runtime/testing/detour';
import { shared } from '@waybell/runtime/testing/shared';
import { PATIENT_MS, silentLog as log } from '@waybell/runtime/testing/patience';
import { aPublication } from './testing/some-broker.ts';
import { PublicationsStand } from './testing/publications-stand.ts';

let broker: Broker;
let clock: TurnedClock;
const rabbitmq = shared(() => BreakableBroker.start());
const stand = shared(() => PublicationsStand.start());

beforeEach(async () => {
  await stand.empty();
});

/** A process that has publications wait, on a broker that can be written to. */
async function aService(url = rabbitmq.url) {
  broker = await connectBroker({
    url,
    name: 'waiting',
    exchanges: [],
    confirmTimeoutMs: PATIENT_MS,
    unconfirmedLimit: 1_000,
    log,
  });
  await until('it is connected', () => broker.state() === 'writable');
  const { publications, putAll, clock: turned } = stand.process(broker);
  clock = turned;
  return {
    putAll,
    async [Symbol.asyncDispose]() {
      await publications[Symbol.asyncDispose]();
      await broker[Symbol.asyncDispose]();
    },
  };
}

const numbers = (count: number) => Array.from({ length: count }, (_, n) => `${n}`.padStart(3, '0'));
const SECOND_MS = 1_000;
/** Looks, with a second between two of them by the clock of the service. */
const seen = <T>(what: string, look: () => Promise<T | false | undefined>) =>
  until(what, async () => {
    await clock.runFor(SECOND_MS);
    return look();
  });
const untilEmpty = () => seen('nothing waits', async () => (await stand.count()) === 0);
/** Each at least once. */
const arrived = async (queue: string, count: number) => {
  const bodies = new Set<string>();
  return seen(`${count} are in ${queue}`, async () => {
    for (const { content } of await rabbitmq.take(queue)) bodies.add(content.toString());
    return bodies.size >= count && [...bodies].toSorted();
  });
};

test('what waits during an alarm arrives when that is over', async () => {
  const queue = await rabbitmq.queue();
  await using service = await aService();
  await rabbitmq.alarm(true);
  const first = broker.publish(aPublication(queue, 'first')).catch(() => undefined);
  await until('publishers are blocked', () => broker.state() === 'blocked');
  await service.putAll(queue, numbers(150));
  expect(await stand.count()).toBe(150);
  await rabbitmq.alarm(false);
  await first;
  expect(await arrived(queue, 151)).toEqual([...numbers(150), 'first']);
  await untilEmpty();
});

test('what waits while RabbitMQ is away arrives when it is back', async () => {
  const queue = await rabbitmq.queue();
  await using proxy = await Detour.to(rabbitmq.url);
  await using service = await aService(proxy.url);
  await proxy.shut();
  await until('it is away', () => broker.state() === 'away');
  await service.putAll(queue, numbers(20));
  await proxy.reopen();
  expect(await arrived(queue, 20)).toEqual(numbers(20));
  await untilEmpty();
});

test('what no queue was bound for arrives once one is', async () => {
  await using service = await aService();
  await service.putAll('waybell.test.declared-late', numbers(20));
  await seen('it is refused', async () => {
    const [room] = await stand.sql('select from waybell.router_rooms where shut_since is not null');
    return room !== undefined;
  });
  await rabbitmq.declare('waybell.test.declared-late');
  await stand.later(60);
  expect(await arrived('waybell.test.declared-late', 20)).toEqual(numbers(20));
  await untilEmpty();
});

test('a queue that confirms nothing holds up no other, and gets its own when it goes on', async () => {
  const [stalled, fine] = [await rabbitmq.queue(), await rabbitmq.queue()];
  await using service = await aService();
  await rabbitmq.leader(stalled, 'suspend');
  try {
    await service.putAll(stalled, numbers(50));
    await service.putAll(fine, numbers(200));
    expect(await arrived(fine, 200)).toEqual(numbers(200));
    expect(await stand.count()).toBeGreaterThanOrEqual(50);
  } finally {
    await rabbitmq.leader(stalled, 'resume');
  }
  expect(await arrived(stalled, 50)).toEqual(numbers(50));
  await untilEmpty();
});
