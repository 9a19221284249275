import { expect, test } from '@jest/globals';
import { systemClock as clock } from '@waybell/runtime/clock';
import { until } from '@waybell/runtime/testing/until';
import { shared } from '@waybell/runtime/testing/shared';
import { silentLog } from '@waybell/runtime/testing/patience';
import { limitOf, numbers, to } from '../testing/a-line.ts';
import { taking } from '../testing/taking.ts';
import { BreakableBroker } from '../testing/test-broker.ts';
import { connectBroker } from './connect-broker.ts';

const broker = shared(() => BreakableBroker.start());

test('where the broker is killed and comes back, what is published arrives, and what is held comes again', async () => {
  const [consumed, published] = [await broker.queue(), await broker.queue()];
  await broker.put(consumed, ['before']);
  await broker.rememberQueues();
  await using service = await connectBroker({
    url: broker.url,
    name: 'test',
    exchanges: [],
    confirmTimeoutMs: 600_000,
    unconfirmedLimit: 1_000,
    log: silentLog,
    clock,
  });
  const seen: string[] = [];
  service.consume(
    [consumed],
    limitOf(10),
    taking((held) => {
      seen.push(held.message.body.toString());
      if (seen.length > 1) held.acknowledge();
    }),
  );
  await until('one is held', () => seen.length === 1 && service.state() === 'writable');
  // Publishes again until confirmed, like the hand-over.
  const insist = (body: string) =>
    until('it is confirmed', async () => {
      await service.publish(to(published, body));
      return true;
    });
  const all = numbers(2_000).map(insist);
  await all[50];
  await broker.process.kill();
  await broker.process.start();
  await broker.put(consumed, ['after']);
  await until('both came', () => seen.length === 3);
  expect(seen).toEqual(['before', 'before', 'after']);
  await Promise.all(all);
  const bodies = new Set<string>();
  await until('all are there', async () => {
    for (const { content } of await broker.take(published)) bodies.add(content.toString());
    return bodies.size === 2_000;
  });
});
