import { isDeepStrictEqual } from 'node:util';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { applicationName, connectPostgres } from '@waybell/runtime/postgres';
import { until } from '@waybell/runtime/testing/until';
import { wallClockMs } from '@waybell/runtime/testing/wall-clock';
import { PATIENT_MS, silentLog } from '@waybell/runtime/testing/patience';
import { shared } from '@waybell/runtime/testing/shared';
import { runningServices } from '../overview.ts';
import { signUp, startApi } from '../testing/api.ts';
import { startBroker } from '../testing/broker.ts';
import { logDelivery } from '../testing/logged-delivery.ts';

const subscribe = '/v1/public/webhooks/order.created/subscribe';

const broker = shared(() => startBroker());
const api = shared(() => startApi({ brokerUrl: broker.url }));
let token: string;

beforeAll(async () => {
  ({ token } = await signUp(api, { interface: 'carrier', scopes: ['admin'] }));
});

async function overview() {
  const { status, body } = await api.admin.ask('GET', '/v1/admin/overview', { token });
  expect(status).toBe(200);
  return body;
}

const connecting = () => ({ url: api.store.url, role: '', poolSize: 2, timeoutMs: PATIENT_MS, log: silentLog });

describe('the overview', () => {
  test('tells which services run, by their connections to Postgres, how many of each and since when', async () => {
    const told = (await overview()).services.objects;
    const none = {
      processes: 0,
      started_at: null,
      last_started_at: null,
      seen_at: null,
      silent: 0,
      silent_since: null,
      unattended: expect.any(Number),
    };
    expect(told.filter(({ service }: { service: string }) => service !== 'subscription-api')).toEqual(
      ['event-router', 'deliverer', 'deactivator', 'delivery-log', 'location-tracker'].map((service) => ({
        service,
        ...none,
      })),
    );
    const others = ['aaaaaaaa', 'bbbbbbbb'].map((instance, day) =>
      connectPostgres({ ...connecting(), name: `waybell-deliverer ${instance} 2026-11-2${day}T09:30:00Z` }),
    );
    try {
      // Two connections of one process at once.
      await Promise.all([...others, ...others].map((each) => each.query('select pg_sleep(0.1)')));
      const { objects } = (await overview()).services;
      expect(objects.find(({ service }: { service: string }) => service === 'deliverer')).toEqual({
        service: 'deliverer',
        processes: 2,
        started_at: '2026-11-20T09:30:00.000Z',
        last_started_at: '2026-11-21T09:30:00.000Z',
        seen_at: expect.any(String),
        silent: 0,
        silent_since: null,
        unattended: expect.any(Number),
      });
      expect(objects.at(-1)).toMatchObject({ service: 'subscription-api', processes: 1 });
    } finally {
      await Promise.all(others.map((each) => each[Symbol.asyncDispose]()));
    }
  });

  test('has no start of a process that names a time which there is not', async () => {
    const name = 'waybell-deactivator cccccccc 2026-02-31T99:99:99Z';
    await using forged = connectPostgres({ ...connecting(), name });
    await forged.query('select 1');
    const { objects } = (await overview()).services;
    expect(objects.find(({ service }: { service: string }) => service === 'deactivator')).toEqual({
      service: 'deactivator',
      processes: 1,
      started_at: null,
      last_started_at: null,
      seen_at: expect.any(String),
      silent: 0,
      silent_since: null,
      unattended: expect.any(Number),
    });
  });

  test('tells how many processes of a service ask nothing any more, and since when the first does not', async () => {
    const names = ['dddddddd', 'eeeeeeee'].map((instance) => `waybell-event-router ${instance} 2026-11-20T09:30:00Z`);
    const others = names.map((name) => connectPostgres({ ...connecting(), name }));
    try {
      const [silent, asking] = others;
      const { rows } =
        (await silent?.query<{ at: number }>(`select extract(epoch from clock_timestamp()) * 1000 as at`)) ?? {};
      const lastMs = Number(rows?.[0]?.at);
      const routerIn = async (silentAfterMs?: number) => {
        await asking?.query('select 1');
        const all = await runningServices(api.store.postgres, silentAfterMs);
        return all.find(({ service }) => service === 'event-router');
      };
      expect(await routerIn()).toMatchObject({ processes: 2, silent: 0, silentSince: null });
      const found = await until('the other has asked later', async () => {
        const { processes, silent: count, seenAt, silentSince } = (await routerIn(wallClockMs() - lastMs - 100)) ?? {};
        return count === 1 && { processes, isFirst: Number(silentSince) < Number(seenAt) };
      });
      expect(found).toEqual({ processes: 2, isFirst: true });
    } finally {
      await Promise.all(others.map((each) => each[Symbol.asyncDispose]()));
    }
  });

  test('tells of the last hour how many attempts failed, and which delivery is the oldest without an end', async () => {
    const before = (await overview()).last_hour;
    const { guid, token: own } = await signUp(api, { interface: 'shipper' });
    await api.ask('POST', subscribe, { token: own, body: { callback_url: 'https://hooks.test/a' } });
    const delivery = await logDelivery(api.store.postgres, { account: guid, interface: 'shipper', mark: 'a' });
    const { failed, attempts } = before;
    // Concurrent readers share an answer for a while.
    const untilTold = (expected: object) =>
      until('the last hour is told so', async () => {
        const { last_hour: told } = await overview();
        return isDeepStrictEqual({ ...told, ...expected }, told) && told;
      });
    await untilTold({ failed: failed + 1, attempts: attempts + 1, oldest_unfinished: null });
    const become = (kind: string) =>
      api.store.postgres.query('update delivery_log.attempts set kind = $2 where delivery = $1', [
        delivery.delivery,
        kind,
      ]);
    await become('failed');
    const { oldest_unfinished: oldest } = await until('it is told', async () => {
      const { last_hour: told } = await overview();
      return told.oldest_unfinished !== null && told;
    });
    expect(oldest).toMatchObject({ guid: delivery.delivery, account: { guid }, attempts: 1 });
    await become('delivered');
    await untilTold({ failed, attempts: attempts + 1 });
  });

  test('counts what is switched off, was lately, and what operators have stopped', async () => {
    const before = await overview();
    const { guid, token: own } = await signUp(api, { interface: 'shipper' });
    for (const action of ['order.created', 'order.paid', 'order.cancel'])
      await api.ask('POST', `/v1/public/webhooks/${action}/subscribe`, {
        token: own,
        body: { callback_url: 'https://hooks.test/b' },
      });
    await api.store.postgres.query(
      `update waybell.subscriptions set is_active = false, deactivation_rule = 'window',
         deactivated_at = now() - case action when 'order.paid' then interval '2 days' else interval '1 minute' end
       where account_guid = $1`,
      [guid],
    );
    await api.admin.ask('POST', '/v1/admin/hosts/hooks.test/stop', { token, body: { reason: 'moved' } });
    const after = await overview();
    expect(after.switched_off).toMatchObject({
      now: before.switched_off.now + 3,
      lately: before.switched_off.lately + 2,
      held: 0,
    });
    expect(after.stopped).toEqual({ subscriptions: 0, hosts: 1 });
  });

  test('tells how many messages are rejected and wait, where RabbitMQ says so, and else all the rest', async () => {
    await broker.reject({ body: Buffer.from('a') });
    await until('one is rejected', async () => (await overview()).rejected === 1);
    const told = await overview();
    expect(told.queues).toEqual({ messages: 0, unattended: expect.any(Number) });
    // Each queue without a consumer is of the service that takes from it.
    const own = told.services.objects.map(({ unattended }: { unattended: number }) => unattended);
    expect(own.every((count: number) => count >= 0)).toBe(true);
    expect(own.reduce((sum: number, count: number) => sum + count, 0)).toBe(told.queues.unattended);
    expect(told.queues.unattended).toBeGreaterThan(0);
    await using without = await startApi({ beside: api });
    const { body } = await without.admin.ask('GET', '/v1/admin/overview', { token });
    expect(body).toMatchObject({ rejected: null, queues: null, stopped: { hosts: 1 } });
  });
});

describe('the name of a process at Postgres', () => {
  test('fits into what Postgres keeps of it, for the longest name of a service', () => {
    expect(applicationName('location-tracker').length).toBeLessThan(64);
  });
});
