import { describe, test } from '@jest/globals';
import { until } from '@waybell/runtime/testing/until';
import { shared } from '@waybell/runtime/testing/shared';
import { silentLog as log } from '@waybell/runtime/testing/patience';
import type { Publication } from '../messages.ts';
import { BreakableBroker } from '../testing/test-broker.ts';
import { deliveriesExchange } from '../topology.ts';
import { connectBroker } from './connect-broker.ts';

const broker = shared(() => BreakableBroker.start());

const MOVES = ['alarm', 'connect', 'publish', 'cut', 'clear'] as const;
type Move = (typeof MOVES)[number];

/** Every order of events in which an alarm ends after it began, and nothing is published before the first connect. */
function orders(left: readonly Move[] = MOVES): Move[][] {
  if (left.length === 0) return [[]];
  const all = left.flatMap((first) => orders(left.filter((move) => move !== first)).map((rest) => [first, ...rest]));
  return all.filter((order) => isBefore(order, 'alarm', 'clear') && isBefore(order, 'connect', 'publish'));
}

const isBefore = (order: readonly Move[], one: Move, other: Move) =>
  !order.includes(one) || !order.includes(other) || order.indexOf(one) < order.indexOf(other);

describe('a broker that has an alarm, is connected to, published to, cut off, and has it no longer', () => {
  test.each(orders().map((order) => [order.join(', '), order] as const))('in this order: %s', async (_, order) => {
    const queue = await broker.queue();
    const what: Publication = {
      kind: 'publish',
      exchange: deliveriesExchange,
      routingKey: queue,
      body: Buffer.from('x'),
    };
    const url = broker.detour.url;
    const open = () =>
      connectBroker({ url, name: 'test', exchanges: [], confirmTimeoutMs: 30_000, unconfirmedLimit: 10, log });
    let service: Awaited<ReturnType<typeof open>> | undefined;
    const moves: Record<Move, () => Promise<unknown>> = {
      alarm: () => broker.alarm(true),
      clear: () => broker.alarm(false),
      connect: async () => (service = await open()),
      publish: async () => service?.publish(what).catch(() => undefined),
      cut: async () => broker.detour.cut(),
    };
    try {
      for (const move of order) {
        const made = moves[move]();
        // Its confirm may have to wait for the end of the alarm.
        if (move !== 'publish') await made;
      }
      await until('it takes everything again', async () => {
        if (service?.state() !== 'writable') return false;
        await service.publish(what);
        return service.waitingFor().length === 0;
      });
    } finally {
      await broker.alarm(false);
      await service?.[Symbol.asyncDispose]();
    }
  });
});
