import { expect, test } from '@jest/globals';
import { readRejected } from '@waybell/line/operating/rejected-queue';
import { aLine } from '@waybell/line/testing/a-line';
import { causedBy } from '@waybell/line/testing/handled';
import { BreakableBroker } from '@waybell/line/testing/test-broker';
import { rejectedQueue, straysQueue } from '@waybell/line/topology';
import { until } from '@waybell/runtime/testing/until';
import { rejectStray } from './router-steps.ts';

const TTL_MS = 50;
const erlang = (text: string) => `<<"${text}">>`;

test('what a policy moves out of the rejected queue goes back, as it was, as often as that happens', async () => {
  await using broker = await BreakableBroker.start();
  const vhost = decodeURIComponent(new URL(broker.url).pathname.slice(1));
  const rejected = {
    'waybell-reason': 'payload_invalid',
    'waybell-detail': '/payload: is missing',
    'waybell-at': '2026-11-20T09:30:00.123Z',
    'waybell-queue': 'waybell.events.router',
    'waybell-exchange': 'waybell.events',
    'waybell-routing-key': 'carrier.order.created',
  };
  const seen: unknown[] = [];
  const handle = rejectStray({ maxBytes: 1_000, clock: { sleep: async () => undefined } });
  const line = await aLine(broker, {
    moreQueues: [straysQueue],
    handle: (_body, message) => {
      seen.push(message.death);
      return causedBy(handle, message);
    },
  });
  await using _running = await line.run();
  const policy = [vhost, 'all'].map(erlang).join();
  await broker.evaluate(
    `rabbit_policy:set(${policy}, <<"^waybell.rejected$">>, [{<<"message-ttl">>, ${TTL_MS}}], 0, <<"all">>, <<"test">>)`,
  );
  await broker.put(rejectedQueue, ['{}'], { headers: rejected, messageId: 'm' });
  await until('it has gone round', () => seen.length >= 2);
  await broker.evaluate(`rabbit_policy:delete(${policy}, <<"test">>)`);
  expect(seen[1]).toMatchObject({ reason: 'expired', queue: rejectedQueue, rejected: { reason: 'payload_invalid' } });
  const [message] = await until('it is back', async () => {
    const taken = await broker.take(rejectedQueue);
    return taken.length > 0 && taken;
  });
  if (message === undefined) throw new Error('it is lost');
  expect(message.properties.headers).not.toHaveProperty('x-death');
  expect(readRejected(message)).toMatchObject({
    reason: 'payload_invalid',
    detail: '/payload: is missing',
    rejectedAt: '2026-11-20T09:30:00.123Z',
    queue: 'waybell.events.router',
    routingKey: 'carrier.order.created',
    messageId: 'm',
  });
});
