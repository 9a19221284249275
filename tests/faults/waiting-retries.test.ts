import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { connect } from 'amqplib';
import { queueDepths } from '@waybell/cli/stack/queue-depths';
import { retryQueue } from '@waybell/line/topology';
import { anEvent } from '../testing/event.ts';
import { faultSettings, SLOTS } from '../testing/fault-settings.ts';
import { reportFault } from '../testing/fault-table.ts';
import { Ledger } from '../testing/ledger.ts';
import { Load } from '../testing/load.ts';
import { Receiver } from '../testing/receiver.ts';
import type { Party } from '../testing/subscribers.ts';
import { TestStack } from '../testing/test-stack.ts';
import { until } from '../testing/until.ts';

const DELAY_MS = 6_000;
const WAITING = 2_000;
const RETRY_QUEUE = retryQueue('shipper.order.paid', DELAY_MS);

let stack: TestStack;
let receiver: Receiver;

beforeAll(async () => {
  stack = await TestStack.start({ ...faultSettings, SHIPPER_RETRY_DELAYS: `${DELAY_MS}ms` });
  receiver = await Receiver.start();
}, 120_000);

afterAll(async () => {
  await receiver?.[Symbol.asyncDispose]();
  await stack?.[Symbol.asyncDispose]();
}, 120_000);

const url = () => stack.stack.servers.url('rabbitmq');

/** A receiver that fails each first attempt. */
async function failingAtFirst(path: string): Promise<Party> {
  receiver.answer(path, (response, { headers }) =>
    response.writeHead(headers['x-webhook-attempt'] === '1' ? 500 : 200).end(),
  );
  const shipper = await stack.client('shipper');
  await shipper.subscribe('order.paid', receiver.url(path));
  return {
    anEvent: () => anEvent({ interface: 'shipper', action: 'order.paid', parties: { shipper: shipper.account } }),
    subscriptions: [await stack.subscriptionAt(receiver.url(path))],
  };
}

async function untilWaiting(count: number): Promise<void> {
  await until(`${count} retries wait`, async () => {
    const [depth] = (await queueDepths(url(), [RETRY_QUEUE])) ?? [];
    return depth !== undefined && depth.messages >= count;
  });
}

describe('retries that wait in the broker', () => {
  test('are all made when it was killed meanwhile', async () => {
    const ledger = await Ledger.open(stack, receiver);
    const parties = [await failingAtFirst('/waits')];
    const load = new Load({ upstream: stack.upstream, ledger, parties, eventsPerSecond: 500 });
    await untilWaiting(WAITING);
    const faultAt = performance.now();
    const moved = ledger.movedAgain(faultAt);
    const broker = stack.stack.servers.process('rabbitmq');
    await broker.kill();
    await until('RabbitMQ is back', () => broker.state === 'ready');
    const movingAgainSeconds = await moved;
    await load.stop();
    await ledger.untilQuiet();
    const balance = ledger.balance();
    reportFault({ name: 'RabbitMQ killed, retries waiting', published: ledger.published, balance, movingAgainSeconds });
    expect(balance).toMatchObject({ delivered: ledger.published, lost: [], withGap: [], forked: [], unseen: [] });
    expect(balance.duplicates).toBeLessThanOrEqual(SLOTS);
  }, 900_000);

  test('are missed where one vanishes', async () => {
    const ledger = await Ledger.open(stack, receiver);
    const party = await failingAtFirst('/vanishes');
    const events = Array.from({ length: 10 }, () => party.anEvent());
    for (const event of events) {
      await stack.upstream.publish(event);
      ledger.confirmed(event, party.subscriptions, performance.now());
    }
    await untilWaiting(events.length);
    await takeOne(RETRY_QUEUE);
    await ledger.untilQuiet({ stillMs: 3_000 });
    const balance = ledger.balance();
    reportFault({ name: 'a retry taken away by hand', published: ledger.published, balance });
    expect(balance).toMatchObject({ delivered: events.length - 1, withGap: [], duplicates: 0 });
    expect(balance.lost).toHaveLength(1);
  });
});

async function takeOne(queue: string): Promise<void> {
  const connection = await connect(url());
  const channel = await connection.createChannel();
  expect(await channel.get(queue, { noAck: true })).not.toBe(false);
  await connection.close();
}
