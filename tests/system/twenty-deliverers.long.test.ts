import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { readFigures } from '@waybell/stack/service-process';
import type { SupervisedProcess } from '@waybell/stack/supervised-process';
import { until } from '@waybell/runtime/testing/until';
import { shared } from '@waybell/runtime/testing/shared';
import { hang } from '../testing/hang.ts';
import { waitingOf } from '../testing/put-by-hand.ts';
import { PATIENT } from '../testing/patience.ts';
import { Receiver } from '../testing/receiver.ts';
import { logOf, replicaOf } from '../testing/replica.ts';
import { TestStack } from '../testing/test-stack.ts';

const MANY = 20;
/** With how many a new endpoint begins, whoever calls it. */
const START_SIZE = 4;
const EVENTS = 80;
const TOGETHER = 4;
const ACTION = 'order.created';

const deliverers: SupervisedProcess[] = [];
afterAll(() => Promise.all(deliverers.slice(1).map((each) => each.stop())));

// An endpoint that does not answer is not thought to hang.
const settings = { ...PATIENT, CARRIER_RESPONSE_LIMIT: '10m', DELIVER_SLOW: '10m', SHUTDOWN_ALLOW_SHORT: 'true' };
const stack = shared(() => TestStack.start(settings));
const receiver = shared(() => Receiver.start());
beforeAll(() => void deliverers.push(stack.stack.service('deliverer')));

test.each([1, 2, 4, MANY])(
  'a new endpoint gets no more from %i deliverers than each sends one, and its owner four',
  async (count) => {
    await haveDeliverers(count);
    const { slow, subscription } = await hear(EVENTS);
    await until(
      'what has no room waits',
      async () => slow.open() + (await waitingOf(stack.postgres, subscription)) === EVENTS,
    );
    tell(
      `${count} deliverers: ${slow.open()} requests at once to a new endpoint, ${count * START_SIZE} if each had a window of its own`,
    );
    expect(slow.open()).toBeGreaterThanOrEqual(Math.min(count, START_SIZE));
    expect(slow.open()).toBeLessThanOrEqual(count - 1 + START_SIZE);
    slow.answer(200);
    await untilEachCameOnce(slow.path, EVENTS);
  },
);

test('twenty deliverers whose connections end at once are all back, and deliver', async () => {
  await haveDeliverers(MANY);
  await tellConnections();
  const beganAt = performance.now();
  await stack.rabbitmqctl('close_all_connections', '--vhost', stack.vhost, 'as a broker that restarts');
  const { slow } = await hear(EVENTS);
  slow.answer(200);
  await untilEachCameOnce(slow.path, EVENTS);
  await stack.untilReady();
  await untilAll('ready', async ({ spec }) => (await spec.waitsFor()) === undefined);
  tell(`all ready ${Math.round(performance.now() - beganAt)} ms after their connections were closed`);
});

test('twenty deliverers that are replaced four at a time, while events come, deliver each once', async () => {
  await haveDeliverers(MANY);
  const { carrier, slow } = await hear(1);
  slow.answer(200);
  for (let from = 0; from < MANY; from += TOGETHER) {
    const some = deliverers.slice(from, from + TOGETHER);
    await Promise.all([carrier.hear(ACTION), ...some.map((each) => each.restart())]);
  }
  await untilEachCameOnce(slow.path, 1 + MANY / TOGETHER);
  for (const { spec } of deliverers) {
    const log = logOf(spec);
    expect(log.filter(({ level }) => level === 'error')).toEqual([]);
    expect(log.filter(({ msg }) => msg === 'process.stopped')).toHaveLength(1);
  }
});

/** Starts as many as are lacking; resolves when each knows of all. */
async function haveDeliverers(count: number): Promise<void> {
  while (deliverers.length < count) {
    const lacking = Math.min(TOGETHER, count - deliverers.length);
    const numbers = Array.from({ length: lacking }, (_, place) => deliverers.length + place + 1);
    const started = numbers.map((number) => replicaOf(stack.stack.service('deliverer'), { number }));
    deliverers.push(...(await Promise.all(started)));
  }
  await untilAll(`one of ${count}`, async ({ spec }) => {
    const figures = await readFigures(spec.health ?? '');
    return figures?.sumOf('waybell_deliverers') === count;
  });
}

async function untilAll(what: string, is: (deliverer: SupervisedProcess) => Promise<boolean>): Promise<void> {
  await until(`all deliverers are ${what}`, async () => (await Promise.all(deliverers.map(is))).every(Boolean));
}

/** Events for a new client whose receiver does not answer yet. */
async function hear(events: number) {
  const carrier = await stack.client('carrier');
  const slow = hang(receiver, `/${randomUUID()}`);
  await carrier.subscribe(ACTION, receiver.url(slow.path));
  for (let count = 0; count < events; count += 1) await carrier.hear(ACTION);
  return { carrier, slow, subscription: await stack.subscriptionAt(receiver.url(slow.path)) };
}

async function untilEachCameOnce(path: string, events: number): Promise<void> {
  const ids = () => receiver.at(path).map(({ headers }) => headers['webhook-id']);
  await until(`${events} have come`, () => new Set(ids()).size === events);
  expect(ids()).toHaveLength(events);
}

async function tellConnections(): Promise<void> {
  const listed = async (...args: string[]) => (await stack.rabbitmqctl(...args)).trim().split('\n');
  const open = (await listed('list_connections', 'vhost', 'channels', 'client_properties'))
    .map((line) => line.split('\t'))
    .filter(([vhost, , properties = '']) => vhost === stack.vhost && properties.includes('"deliverer '));
  const channels = open.reduce((sum, [, count]) => sum + Number(count), 0);
  const consumers = await listed('list_consumers', '-p', stack.vhost, 'queue_name');
  const { rows } = await stack.postgres.query<{ count: number }>(
    `select count(*)::int from pg_stat_activity where datname = current_database() and usename like '%deliverer%'`,
  );
  tell(
    `${deliverers.length} deliverers: ${open.length} connections and ${channels} channels to RabbitMQ, where all services have ` +
      `${consumers.length} consumers; ${rows[0]?.count} connections to Postgres`,
  );
}

function tell(line: string): void {
  process.stderr.write(`${line}\n`);
}
