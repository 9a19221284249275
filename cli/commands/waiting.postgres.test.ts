import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { outboxIn } from '@waybell/line/outbox/postgres-outbox';
import { waitingIn } from '@waybell/line/waiting-room/postgres-waiting-store';
import { TestBroker } from '@waybell/line/testing/test-broker';
import { deliveryQueue } from '@waybell/line/topology';
import { createTestDatabase } from '@waybell/runtime/testing/database';
import { runWaybellOn } from '../testing/run-waybell.ts';
import { aDelivery, putDelivery, subscribeTo } from '@waybell/line/waiting-room/testing/waiting-deliveries';
import { shared } from '@waybell/runtime/testing/shared';

const store = shared(() => createTestDatabase());
const broker = shared(() => TestBroker.start());

const waybell = (args: string) => runWaybellOn({ AMQP_URL: broker.url, DATABASE_URL: store.url }, args.split(' '));

describe('./waybell waiting', () => {
  test('lists what waits for an endpoint, as "failing" does, and moves it when told twice', async () => {
    const account = randomUUID();
    const subscription = await subscribeTo(store.postgres, 'https://a.test/hook?key=secret', account);
    const delivery = aDelivery({ subscription });
    await putDelivery(store.postgres, delivery);
    const line = new RegExp(
      `account ${account} {2}https://a\\.test/hook {2}1 delivery, .* {2}hung {2}shut since .*${subscription}\n$`,
    );
    expect((await waybell(`waiting list --account ${account}`)).stdout).toMatch(line);
    const { stdout: failing } = await waybell(`failing --account ${account}`);
    expect(failing).toMatch(
      /\nwaiting for endpoints, longest first:\n {2}account \S+ {2}https:\/\/a\.test\/hook {2}1 /,
    );

    const { code, stderr } = await waybell(`waiting release --account ${account}`);
    expect([code, stderr]).toEqual([1, expect.stringContaining('nothing was moved: add --yes')]);
    const released = await waybell(`waiting release --account ${account} --yes`);
    expect(released).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('moved into their queues: 1 deliveries'),
    });
    const [moved] = await broker.takeDeliveries(deliveryQueue('carrier.order.created'));
    expect(moved?.messageId).toBe(delivery.guid);
    expect((await waybell('waiting list')).stderr).toContain('nothing waits');
  });

  test('moves what nobody has, and names what another process has in hand', async () => {
    const [claimed, free] = [
      await subscribeTo(store.postgres, 'https://a.test/2'),
      await subscribeTo(store.postgres, 'https://a.test/3'),
    ];
    const { room } = await putDelivery(store.postgres, aDelivery({ subscription: claimed }));
    const delivery = aDelivery({ subscription: free });
    await putDelivery(store.postgres, delivery);
    await waitingIn(store.postgres, { process: randomUUID() }).claim({
      kind: 'named',
      rooms: [room],
    });
    const { code, stderr } = await waybell('waiting release --all --yes');
    expect(code).toBe(1);
    expect(stderr).toContain('moved into their queues: 1 deliveries and 0 publications');
    expect(stderr).toContain(
      'in the hands of other processes, and left to them: https://a.test/2. Stop these processes',
    );
    expect(
      (await broker.takeDeliveries(deliveryQueue('carrier.order.created'))).map(({ messageId }) => messageId),
    ).toEqual([delivery.guid]);
  });

  test('lists destinations, and moves what waits for them with all the rest', async () => {
    const queue = deliveryQueue('carrier.order.created');
    const publication = {
      kind: 'publish',
      exchange: '',
      routingKey: queue,
      messageId: 'm',
      body: Buffer.from('{}'),
    } as const;
    const row = { id: randomUUID(), destination: ` ${queue}`, publication, afterMs: 0 };
    await outboxIn(store.postgres, 'router').put([row]);
    expect((await waybell('waiting list')).stdout).toMatch(
      new RegExp(`^event-router {2}${queue} {2}.* publications?, .* {2}open {2}next try `, 'm'),
    );
    expect((await waybell('waiting release --all --yes')).stderr).toContain('and 1 publications');
    expect(await broker.take(queue)).toMatchObject([{ properties: { messageId: 'm' } }]);
  });

  test.each([
    ['waiting release --yes', 'say which: one of --account, --subscription and --all'],
    [`waiting release --all --account ${randomUUID()} --yes`, 'say which'],
    ['waiting release --subscription mine --yes', 'not a guid'],
    ['waiting list --account me', 'no account is called "me"'],
    ['waiting list --limit 0', 'whole number'],
  ])('answers "%s" with what to do, on stderr, and exit code 1', async (args, advice) => {
    const { code, stdout, stderr } = await waybell(args);
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toContain(advice);
  });
});
