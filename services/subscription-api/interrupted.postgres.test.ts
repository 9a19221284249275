import { randomUUID } from 'node:crypto';
import { beforeAll, expect, test } from '@jest/globals';
import { listenerClient } from '@waybell/delivery-log/listener-client';
import { createAccount } from './accounts.ts';
import { interruptedSubscriptions } from './interrupted.ts';
import { createTestDatabase } from '@waybell/runtime/testing/database';
import { logDelivery } from './testing/logged-delivery.ts';
import { stopHost } from './stops.ts';
import { runWaybellOn } from '../../cli/testing/run-waybell.ts';
import { watchPlans } from '@waybell/runtime/testing/watch-plans';
import { subscribe } from '@waybell/runtime/testing/subscribe';
import { shared } from '@waybell/runtime/testing/shared';

const store = shared(() => createTestDatabase());
let account: string;

beforeAll(async () => {
  account = (await createAccount(store.postgres, { interface: 'carrier', name: 'Example Freight' })).guid;
});

const query = async (sql: string, values: unknown[] = []) => (await store.postgres.query(sql, values)).rows;

/** Subscribes a client, and has these columns otherwise. */
async function subscribed(client: string, set = 'changed_at = now()', host = client): Promise<void> {
  const callbackUrl = `https://${host}.test/hook?key=secret`;
  const guid = await subscribe(store.postgres, { account, client, callbackUrl });
  await query(`update waybell.subscriptions set created_at = now() - interval '1 day', ${set} where guid = $1`, [guid]);
}

const OFF = `is_active = false, deactivated_at = now() - interval '1 hour', deactivation_rule = 'window'`;

test('subscriptions that get nothing are told with since when, why and what they missed, in words too', async () => {
  await subscribed('healthy');
  await subscribed('off', OFF);
  await subscribed('ended', `${OFF}, ended_at = now()`);
  await subscribed(listenerClient('off', ''), OFF, 'listener');
  await subscribed('paused', `paused_until = now() + interval '1 hour'`);
  await subscribed('resumed', `paused_until = now() - interval '1 hour'`);
  await subscribed('stopped', `stopped_at = now() - interval '2 hours', stopped_reason = 'a loop'`);
  await subscribed('at-host');
  await query(
    `insert into waybell.stopped_hosts (host, stopped_at, reason) values ('at-host.test', now() - interval '3 hours', 'under attack')`,
  );
  // Lacks nothing: settled, without anybody asking.
  await subscribed('back', `missed_since = now() - interval '4 hours', missed_until = now() - interval '3.5 hours'`);
  await subscribed(
    'replayed',
    `missed_since = now() - interval '90 seconds', missed_until = now() + interval '1 second'`,
  );

  await subscribed('lacking', `missed_since = now() - interval '5 hours', missed_until = now() + interval '1 hour'`);
  await logDelivery(store.postgres, { account, client: 'lacking', interface: 'carrier', mark: 'x' });

  const found = await interruptedSubscriptions(store.postgres, { limit: 20 });
  expect(found.map(({ client, state, reason, missed }) => [client, state, reason, missed])).toEqual([
    ['paused', 'paused', null, null],
    ['off', 'off', 'window', 0],
    ['stopped', 'stopped', 'a loop', null],
    ['at-host', 'stopped', 'under attack', null],
    ['lacking', 'missed', null, 1],
  ]);
  expect(await interruptedSubscriptions(store.postgres, { account: randomUUID(), limit: 20 })).toEqual([]);

  const { stdout } = await runWaybellOn({ AMQP_URL: '', DATABASE_URL: store.url }, ['failing', '--account', account]);
  expect(stdout).toMatch(/^ {2}off since \S+Z \(window\) missed 0 {2}order\.created {2}https:\/\/off\.test\/hook /m);
  expect(stdout).toMatch(/^ {2}paused until \S+Z /m);
  expect(stdout).toMatch(/^ {2}stopped since \S+Z \(under attack\) /m);
  expect(stdout).toMatch(
    /Z {2}subscription\.switched_off window {2}order\.created {2}https:\/\/off\.test\/hook {2}Example/,
  );
  expect(stdout).not.toContain('secret');
  expect(stdout).not.toContain('listener');
});

test('they, and those of a host, are found by indexes, however many others there are', async () => {
  const others = 2_000;
  await query(
    `insert into waybell.subscriptions (guid, interface, account_guid, client_id, action, callback_url,
       verification_token_sealed, verification_token_key_id)
     select gen_random_uuid(), 'carrier', $1, 'many', 'action ' || n, 'https://many.test/', '\\x00', 'k'
     from generate_series(1, ${others}) n`,
    [account],
  );
  await subscribed('one');
  await query('vacuum analyze waybell.subscriptions');
  const watched = watchPlans(store.postgres);
  expect(await stopHost(watched, { host: 'one.test', reason: 'a loop' })).toMatchObject({ subscriptions: 1 });
  const found = await interruptedSubscriptions(watched, { limit: 20 });
  expect(found.map(({ client }) => client)).toContain('one');
  expect(watched.rowsLookedAt()).toBeLessThan(others / 20);
});
