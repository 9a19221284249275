import { describe, expect, test } from '@jest/globals';
import { createMetrics } from '@waybell/runtime/metrics';
import { settled, TurnedClock } from '@waybell/runtime/turned-clock';
import { silentLog as log } from '@waybell/runtime/testing/patience';
import type { BrokerState } from './broker.ts';
import { allAtOnce } from './messages.ts';
import { runStep, type Step } from './run-step.ts';
import { MemoryBroker } from './testing/memory-broker.ts';
import { goOn, MemoryLink } from './testing/memory-link.ts';
import { smallTopology } from './testing/test-broker.ts';
import { deactivatorQueue, endsExchange, LANES } from './topology.ts';

const STATES: readonly BrokerState[] = ['away', 'writable', 'blocked'];
/** A message comes; less time passes than until a probe; more time passes than messages are held. */
const MOVES = [...STATES, 'message', 60, 11_000] as const;
type Move = (typeof MOVES)[number];

/** Returns every order of this many moves. */
function orders(length: number): Move[][] {
  if (length === 0) return [[]];
  return orders(length - 1).flatMap((order) => MOVES.map((move) => [...order, move]));
}

const metrics = createMetrics('test');
const [name] = LANES.deactivator;
const step = (drainsWhileBlocked: boolean): Step<string> => ({
  name,
  queues: [deactivatorQueue],
  inHandLimit: { messages: 10, bytes: 1_000 },
  drainsWhileBlocked,
  parse: ({ body }) => body.toString(),
  handle: allAtOnce(async () => []),
  describe: (body) => ({ body }),
});

/** Returns what the step waits for, and how many of its messages are left, a good while after these moves. */
async function after(moves: readonly Move[], drainsWhileBlocked: boolean) {
  const clock = new TurnedClock();
  const broker = new MemoryBroker(smallTopology, clock);
  const link = new MemoryLink(broker);
  link.becomes('away');
  const running = runStep(step(drainsWhileBlocked), {
    broker: link.asBroker,
    log,
    metrics,
    clock,
  });
  const pass = async (ms: number) => {
    const end = clock.now() + ms;
    await settled();
    while (await goOn({ clock, links: [link], end }));
    clock.skipTo(end);
  };
  const put = () =>
    broker.publish({ kind: 'publish', exchange: endsExchange, routingKey: '', body: Buffer.from('{}') });
  put();
  await pass(1);
  for (const move of moves) {
    if (typeof move === 'number') await pass(move);
    else if (move === 'message') put();
    else link.becomes(move);
  }
  await pass(60_000);
  return {
    state: link.asBroker.state(),
    waitsFor: running.waitingFor(),
    left: broker.kept(deactivatorQueue).length + link.held,
  };
}

describe('a step that was started while the broker was away', () => {
  test.each([
    ['drains while it blocks', true],
    ['waits while it blocks', false],
  ])('and %s works in the end, in whatever order the broker came, blocked and went', async (_, drains) => {
    const stuck = [];
    for (const order of orders(3)) {
      const { state, waitsFor, left } = await after(order, drains);
      const mayWork = state === 'writable' || (state === 'blocked' && drains);
      if (mayWork ? waitsFor.length > 0 || left > 0 : waitsFor.join() !== 'rabbitmq')
        stuck.push({ order, waitsFor, left });
    }
    expect(stuck.slice(0, 10)).toEqual([]);
  });
});
