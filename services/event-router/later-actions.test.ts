import { expect, test } from '@jest/globals';
import { isRejection, type Message } from '@waybell/line/messages';
import { openCommandPublisher } from '@waybell/line/operating/operator-line';
import { RejectedQueue } from '@waybell/line/operating/rejected-queue';
import { aLine } from '@waybell/line/testing/a-line';
import { TestBroker } from '@waybell/line/testing/test-broker';
import { eventsExchange, rejectionsQueue, routerQueue } from '@waybell/line/topology';
import { reportRejectedEvent } from '@waybell/rejected/reject-event';
import { retryRejected } from '@waybell/rejected/rejected-messages';
import { until } from '@waybell/runtime/testing/until';
import { shared } from '@waybell/runtime/testing/shared';
import { readArrival } from './route-event.ts';

const LATER = 'carrier.order.archived';
const limits = { maxBytes: 2 ** 20, maxDepth: 32 };
const read = readArrival(limits);

const broker = shared(() => TestBroker.start());

/** Starts a router that reads with `parse`; returns what it takes. */
async function aRouter(parse: (message: Message) => ReturnType<typeof read> | Message) {
  return aLine(broker, {
    moreQueues: [routerQueue],
    parse: (message) => {
      const parsed = parse(message);
      return isRejection(parsed) ? parsed : message;
    },
    reportRejection: reportRejectedEvent(limits, () => 0),
    handle: async () => [],
  });
}

const publish = (routingKey: string) =>
  broker.on(async (channel) => {
    const body = JSON.stringify({ interface: 'carrier', action: 'order.archived' });
    channel.publish(eventsExchange, routingKey, Buffer.from(body), { persistent: true, messageId: routingKey });
    await channel.waitForConfirms();
  });

async function rejectedReasons(): Promise<Record<string, string>> {
  await using queue = await RejectedQueue.open(broker);
  const reasons: Record<string, string> = {};
  for await (const { messageId = '', reason } of queue.messages()) reasons[messageId] = reason;
  return reasons;
}

test('an event of an action that only a later version knows is rejected as that, without a word to upstream, and sent again the later version takes it', async () => {
  const [older, later] = [await aRouter(read), await aRouter((message) => message)];
  await broker.on((channel) => channel.bindQueue(routerQueue, eventsExchange, LATER));
  await using running = await older.run();
  await publish(LATER);
  await publish('carrier.order.created');
  const reasons = { [LATER]: 'newer_format', 'carrier.order.created': 'unknown_action' };
  await until('both are rejected', async () => Object.keys(await rejectedReasons()).length === 2);
  expect(await rejectedReasons()).toEqual(reasons);
  await running[Symbol.asyncDispose]();
  const notices = await broker.take(rejectionsQueue);
  expect(notices.map(({ content }) => JSON.parse(content.toString()).reason)).toEqual(['unknown_action']);

  await using _running = await later.run();
  await using queue = await RejectedQueue.open(broker);
  await using line = await openCommandPublisher(broker, 10_000);
  const tooNew = { kind: 'reason', reason: 'newer_format' } as const;
  for await (const retried of retryRejected(queue, line, tooNew)) expect(retried.kind).toBe('retried');
  await until('the later one has it', () => later.seen.length === 1);
  expect(later.seen).toMatchObject([{ exchange: eventsExchange, routingKey: LATER, messageId: LATER }]);
});
