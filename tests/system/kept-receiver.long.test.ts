import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import pg from 'pg';
import { messageGuid } from '@waybell/notifications/notification';
import { until } from '@waybell/runtime/testing/until';
import { postgresStore, receivedTable } from '../../packages/receiver/postgres.ts';
import { KeptReceiver } from '../testing/kept-receiver.ts';
import { TestStack, type Client } from '../testing/test-stack.ts';

/** One each minute, for an hour; RESTARTS has fewer. */
const RESTARTS = Number(process.env['RESTARTS'] ?? 60);
const EVERY_MS = 60_000;
/** Longer than the retries of the carrier interface, which end after 7 s. */
const DOWN_MS = 12_000;
const EVENT_EVERY_MS = 500;
const ACTIONS = ['order.created', 'order.updated', 'order.delivered'];

let stack: TestStack;
let pool: pg.Pool;
let client: Client;
let own: KeptReceiver;

beforeAll(async () => {
  stack = await TestStack.start();
  pool = new pg.Pool({ connectionString: stack.stack.servers.url('postgres'), max: 4 });
  await pool.query(receivedTable);
  client = await stack.client('carrier');
  const { token } = client;
  const api = stack.stack.addresses['API_URL'];
  own = new KeptReceiver({ interfaceName: 'carrier', api, token, actions: ACTIONS, store: postgresStore(pool) });
  await own.start();
});
afterAll(async () => {
  await own?.[Symbol.asyncDispose]();
  await pool?.end();
  await stack?.[Symbol.asyncDispose]();
});

test(
  `a receiver that is restarted every minute, ${RESTARTS} times, misses nothing and handles each once`,
  async () => {
    const { subscriptions = [] } = own.kept[0]?.state() ?? {};
    const guidOf = new Map(subscriptions.map(({ action, guid }) => [action, guid]));
    const ids = new Set<string>();
    let isOver = false;
    const publish = async () => {
      for (let place = 0; !isOver; place += 1) {
        const action = ACTIONS[place % ACTIONS.length] ?? '';
        ids.add(messageGuid((await client.hear(action)).guid, guidOf.get(action) ?? ''));
        await sleep(EVENT_EVERY_MS);
      }
    };
    const publishing = publish();
    for (let restart = 0; restart < RESTARTS; restart += 1) {
      await sleep(EVERY_MS - DOWN_MS);
      // Its last notification is not answered, and comes again.
      own.handle = () => void own.stop();
      await until('it is down', () => own.kept.length === 0);
      await sleep(DOWN_MS);
      own.handle = () => undefined;
      await own.start();
    }
    await until('it is on again', () => own.changes.filter(({ kind }) => kind === 'switched_on').length >= RESTARTS);
    isOver = true;
    await publishing;
    const missing = () => [...ids].filter((id) => !own.handled.includes(id));
    const isAllHandled = until(
      'nothing is missing',
      () => missing().length === 0,
      () => missing().length,
    );
    await isAllHandled.catch(async (error: unknown) => {
      const histories = missing().map((id) => client.call('GET', `/v1/deliveries/${id}`));
      throw new Error(JSON.stringify(await Promise.all(histories)), { cause: error });
    });
    expect(own.handled.toSorted()).toEqual([...ids].toSorted());
    const repeated = own.answers.filter(({ body }) => body === '{"status":"repeated"}').length;
    expect(repeated).toBeGreaterThan(0);
    const told = Object.entries(Object.groupBy(own.changes, ({ kind }) => kind)).map(([kind, { length }]) => [
      kind,
      length,
    ]);
    console.info(JSON.stringify({ events: ids.size, repeated, ...Object.fromEntries(told) }));
  },
  (RESTARTS + 10) * EVERY_MS,
);
