import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { aPublication, SomeBroker } from '@waybell/line/waiting-room/testing/some-broker';
import { Unavailable } from '@waybell/runtime/unavailable';
import { until } from '@waybell/runtime/testing/until';
import { PublicationsStand } from './publications-stand.ts';

let stand: PublicationsStand;
beforeAll(async () => {
  stand = await PublicationsStand.start();
});
afterAll(async () => {
  await stand[Symbol.asyncDispose]();
});
beforeEach(async () => {
  await stand.empty();
});

const numbers = (prefix: string, count: number) => Array.from({ length: count }, (_, n) => `${prefix}${n}`);
/** How often a process looks. */
const LOOK_MS = 10_000;

const untilEmpty = () => until('nothing waits', async () => (await stand.count()) === 0);

test('what waits while the broker takes nothing is all sent, once each, when it takes messages again', async () => {
  const { publications, putAll, broker, clock, metrics } = stand.blocked();
  const [some, others] = [numbers('a', 300), numbers('b', 40)];
  await Promise.all([putAll('a', some), putAll('b', others)]);
  await until('it is counted', async () => {
    await clock.runFor(LOOK_MS);
    return metrics.figures.destinations.rows === 340;
  });
  expect(metrics.figures.destinations.oldestAt).toBeDefined();
  expect(broker.asked).toEqual([]);
  broker.become('writable');
  await untilEmpty();
  expect(broker.bodies.toSorted()).toEqual([...some, ...others].toSorted());
  await until('it is counted again', async () => {
    await clock.runFor(LOOK_MS);
    return metrics.figures.destinations.rows === 0;
  });
  await publications[Symbol.asyncDispose]();
  expect(await stand.sql('select from waybell.router_rooms')).toEqual([]);
});

test('a destination that takes nothing is shut meanwhile, and open when it has taken what waits', async () => {
  const { publications, putAll, broker, clock } = stand.blocked();
  await putAll('a', numbers('a', 3));
  broker.refused.set('a', new Error('stalled'));
  broker.become('writable');
  const shut = () =>
    stand.sql('select name from waybell.router_rooms where shut_since <= now() and claimed_by is null');
  await until('it is shut', async () => (await shut()).length === 1);
  expect(await shut()).toEqual([{ name: 'waybell.deliveries a' }]);
  expect(broker.asked).toEqual(['a0']);
  broker.refused.clear();
  await stand.later(60);
  await until('all are sent', async () => {
    await clock.runFor(LOOK_MS);
    return broker.taken.length === 3;
  });
  await untilEmpty();
  await publications[Symbol.asyncDispose]();
});

test('nothing is said to wait while Postgres is away', async () => {
  const { publications } = stand.process(new SomeBroker('blocked'), 300);
  const client = await stand.database.postgres.connect();
  try {
    await client.query('begin; lock table waybell.router_waiting');
    await expect(publications.put(aPublication('a', 'x'))).rejects.toThrow(Unavailable);
  } finally {
    client.release(true);
  }
  expect(await stand.count()).toBe(0);
  await until('it can wait again', () => publications.put(aPublication('a', 'y')).then(() => true));
  expect(await stand.count()).toBeGreaterThan(0);
  await publications[Symbol.asyncDispose]();
});

test('several processes share what waits and send nothing twice', async () => {
  const bodies = numbers('', 500);
  const both = [stand.blocked(), stand.blocked()];
  for (const [at, body] of bodies.entries()) void both[at % 2]?.putAll(`to ${at % 7}`, [body]);
  await until('all wait', async () => (await stand.count()) === 500);
  for (const { broker } of both) broker.become('writable');
  await untilEmpty();
  expect(both.flatMap(({ broker }) => broker.bodies).toSorted()).toEqual(bodies.toSorted());
  for (const { publications } of both) await publications[Symbol.asyncDispose]();
});

test('what a process had that was killed is sent when its claim has run out', async () => {
  const killed = stand.blocked();
  await killed.putAll('a', ['1', '2']);
  const never = Promise.withResolvers<void>();
  killed.broker.refused.set('a', never.promise);
  killed.broker.become('writable');
  await until('it has one under way', () => killed.broker.asked.length === 1);
  const other = stand.process(new SomeBroker());
  await until('it has counted', () => other.metrics.figures.destinations.oldestAt !== undefined);
  expect(other.broker.asked).toEqual([]);
  await stand.later(21);
  await until('they are sent', async () => {
    await other.clock.runFor(LOOK_MS);
    return other.broker.taken.length === 2;
  });
  await untilEmpty();
  await other.publications[Symbol.asyncDispose]();
  never.resolve();
  await killed.publications[Symbol.asyncDispose]();
});

test("what is under way at the end is settled once confirmed, and else at once another's", async () => {
  const ending = stand.blocked();
  await ending.putAll('a', ['1', '2']);
  await ending.putAll('b', ['3']);
  const [soon, never] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  ending.broker.refused.set('a', soon.promise).set('b', never.promise);
  ending.broker.become('writable');
  await until('both are under way', () => ending.broker.asked.length === 2);
  void ending.publications[Symbol.asyncDispose]();
  soon.resolve();
  await until('it waits for the other', () => ending.broker.taken.length === 1);
  await until('it has given both up', async () => {
    await ending.clock.runFor(100);
    const claimed = await stand.sql('select from waybell.router_rooms where claimed_by is not null');
    return claimed.length === 0;
  });
  expect(ending.broker.asked.toSorted()).toEqual(['1', '3']);
  const other = stand.process(new SomeBroker());
  await untilEmpty();
  expect(other.broker.bodies.toSorted()).toEqual(['2', '3']);
  await other.publications[Symbol.asyncDispose]();
  never.resolve();
});
