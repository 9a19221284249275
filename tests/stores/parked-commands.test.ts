import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { TestBroker } from '@waybell/line/testing/test-broker';
import { deliveryQueue } from '@waybell/line/topology';
import { createTestDatabase, type TestDatabase } from '@waybell/subscription-api/testing/database';
import { runWaybellOn } from '../testing/run-waybell.ts';
import { aDelivery, parkRow, subscribeTo } from './park-rows.ts';

let store: TestDatabase;
let broker: TestBroker;
beforeAll(async () => {
  store = await createTestDatabase();
  broker = await TestBroker.start();
});
afterAll(async () => {
  await broker?.[Symbol.asyncDispose]();
  await store?.[Symbol.asyncDispose]();
});

const waybell = (args: string) => runWaybellOn({ AMQP_URL: broker.url, DATABASE_URL: store.url }, args.split(' '));

describe('./waybell parked', () => {
  test('lists what waits for an endpoint, as "failing" does, and moves it when told twice', async () => {
    const account = randomUUID();
    const subscription = await subscribeTo(store.postgres, 'https://a.test/hook?key=secret', account);
    const delivery = aDelivery({ subscription });
    await parkRow(store.postgres, delivery);
    const line = new RegExp(`account ${account} {2}https://a\\.test/hook {2}1 delivery, .* hung .*${subscription}\n$`);
    expect((await waybell(`parked list --account ${account}`)).stdout).toMatch(line);
    const { stdout: failing } = await waybell(`failing --account ${account}`);
    expect(failing).toMatch(
      /\nparked, those that wait longest first:\n {2}account \S+ {2}https:\/\/a\.test\/hook {2}1 /,
    );

    const { code, stderr } = await waybell(`parked release --account ${account}`);
    expect([code, stderr]).toEqual([1, expect.stringContaining('nothing was moved: add --yes')]);
    const released = await waybell(`parked release --account ${account} --yes`);
    expect(released).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('moved into their queues: 1 deliveries'),
    });
    const [moved] = await broker.takeDeliveries(deliveryQueue('carrier.order.created'));
    expect(moved?.messageId).toBe(delivery.guid);
    expect((await waybell('parked list')).stderr).toContain('nothing is parked');
  });

  test('says which service has to be stopped first', async () => {
    const subscription = await subscribeTo(store.postgres, 'https://a.test/2');
    await parkRow(store.postgres, aDelivery({ subscription }));
    await store.postgres.query(`update waybell.parked_shards set leased_until = now() + interval '1 hour'`);
    const { code, stderr } = await waybell('parked release --all --yes');
    expect([code, stderr]).toEqual([1, expect.stringContaining('Stop all deliverers')]);
  });

  test.each([
    ['parked release --yes', 'say which: one of --account, --subscription and --all'],
    [`parked release --all --account ${randomUUID()} --yes`, 'say which'],
    ['parked release --subscription mine --yes', 'not a guid'],
    ['parked list --account me', 'not a guid'],
    ['parked list --limit 0', 'whole number'],
  ])('answers "%s" with what to do, on stderr, and exit code 1', async (args, advice) => {
    const { code, stdout, stderr } = await waybell(args);
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toContain(advice);
  });
});
