import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import type { Broker } from '@waybell/line/broker';
import { connectBroker } from '@waybell/line/broker/connect-broker';
import { KeptPublications } from '@waybell/line/kept/kept-publications';
import type { KeptStore } from '@waybell/line/kept/kept-store';
import { BreakableBroker } from '@waybell/line/testing/test-broker';
import { until } from '@waybell/runtime/testing/until';
import { TurnedClock } from '@waybell/runtime/turned-clock';
import { cuttableProxy } from '@waybell/subscription-api/testing/cuttable-proxy';
import { PATIENT_MS, silentLog as log } from '@waybell/subscription-api/testing/database';
import { aPublication } from '@waybell/line/kept/testing/some-broker';
import { KeptStand } from './kept-stand.ts';

let rabbitmq: BreakableBroker;
let stand: KeptStand;
let store: KeptStore;
let broker: Broker;
let clock: TurnedClock;
beforeAll(async () => {
  rabbitmq = await BreakableBroker.start();
  stand = await KeptStand.start();
  store = stand.as('waybell_router');
});
afterAll(async () => {
  await stand[Symbol.asyncDispose]();
  await rabbitmq[Symbol.asyncDispose]();
});
beforeEach(async () => {
  await stand.empty();
});

/** What is kept, on a broker that can be written to. */
async function aService(url = rabbitmq.url) {
  clock = new TurnedClock();
  broker = await connectBroker({
    url,
    name: 'kept',
    exchanges: [],
    confirmTimeoutMs: PATIENT_MS,
    unconfirmedLimit: 1_000,
    log,
  });
  await until('it is connected', () => broker.state() === 'writable');
  const kept = new KeptPublications({ store, broker, mostBytes: 2 ** 30, log, clock });
  const keepAll = (key: string, bodies: readonly string[]) =>
    Promise.all(bodies.map((body) => kept.keep(aPublication(key, body))));
  return {
    keepAll,
    async [Symbol.asyncDispose]() {
      await kept[Symbol.asyncDispose]();
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
const untilEmpty = () => seen('nothing is kept', async () => (await stand.count()) === 0);
/** Each at least once. */
const arrived = async (queue: string, count: number) => {
  const bodies = new Set<string>();
  return seen(`${count} are in ${queue}`, async () => {
    for (const { content } of await rabbitmq.take(queue)) bodies.add(content.toString());
    return bodies.size >= count && [...bodies].toSorted();
  });
};

test('what is kept during an alarm arrives when that is over', async () => {
  const queue = await rabbitmq.queue();
  await using service = await aService();
  await rabbitmq.alarm(true);
  const first = broker.publish(aPublication(queue, 'first')).catch(() => undefined);
  await until('publishers are blocked', () => broker.state() === 'blocked');
  await service.keepAll(queue, numbers(150));
  expect(await stand.count()).toBe(150);
  await rabbitmq.alarm(false);
  await first;
  expect(await arrived(queue, 151)).toEqual([...numbers(150), 'first']);
  await untilEmpty();
});

test('what is kept while RabbitMQ is away arrives when it is back', async () => {
  const queue = await rabbitmq.queue();
  await using proxy = await cuttableProxy(rabbitmq.url);
  await using service = await aService(proxy.url);
  await proxy.cut();
  await until('it is away', () => broker.state() === 'away');
  await service.keepAll(queue, numbers(20));
  await proxy.mend();
  expect(await arrived(queue, 20)).toEqual(numbers(20));
  await untilEmpty();
});

test('what no queue was bound for arrives once one is', async () => {
  await using service = await aService();
  await service.keepAll('waybell.test.declared-late', numbers(20));
  await seen('it is refused', async () => {
    const [row] = await stand.sql<{ isPutOff: boolean }>(
      'select bool_or(due_at > kept_at) as "isPutOff" from waybell.kept_publications',
    );
    return row?.isPutOff;
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
    await service.keepAll(stalled, numbers(50));
    await service.keepAll(fine, numbers(200));
    expect(await arrived(fine, 200)).toEqual(numbers(200));
    expect(await stand.count()).toBeGreaterThanOrEqual(50);
  } finally {
    await rabbitmq.leader(stalled, 'resume');
  }
  expect(await arrived(stalled, 50)).toEqual(numbers(50));
  await untilEmpty();
});
