import { describe, expect, test } from '@jest/globals';
import { until } from '@waybell/runtime/testing/until';
import { TurnedClock } from '@waybell/runtime/turned-clock';
import { shared } from '@waybell/runtime/testing/shared';
import { declareTopology } from './operating/declare.ts';
import type { Publication } from './messages.ts';
import { aLine, numbers } from './testing/a-line.ts';
import { BreakableBroker, smallTopology } from './testing/test-broker.ts';
import { deliveriesExchange, waitingExchange } from './topology.ts';

const broker = shared(() => BreakableBroker.start());

describe('a step that drains while the broker blocks', () => {
  /** The step takes messages before it can publish, waits for that, and is blocked before it has seen that it could. */
  test('drains also when it was started during the alarm, and the alarm reached it while it waited for its broker', async () => {
    const clock = new TurnedClock();
    const line = await aLine(broker, { drainsWhileBlocked: true, tools: { clock }, handle: async () => [] });
    await broker.put(line.input, numbers(20));
    await broker.on((channel) => channel.deleteExchange(waitingExchange));
    await broker.alarm(true);
    try {
      await using running = await line.run();
      await until('it holds them', async () => (await broker.ready(line.input)) === 0);
      expect(running.broker.state()).toBe('away');
      await declareTopology(broker, smallTopology);
      await until('it could publish', () => running.broker.state() === 'writable');
      const body = Buffer.from('x');
      const what: Publication = { kind: 'publish', exchange: deliveriesExchange, routingKey: line.output, body };
      running.broker.send(what, () => undefined);
      await until('it is blocked', () => running.broker.state() === 'blocked');
      await until('all are handled', async () => {
        await clock.runFor(20_000);
        return line.seen.length >= 20 && running.waitingFor().length === 0;
      });
    } finally {
      await broker.alarm(false);
    }
    await until('nothing is left', async () => (await broker.ready(line.input)) === 0);
  });
});
