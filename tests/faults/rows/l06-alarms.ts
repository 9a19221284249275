import { setTimeout as sleep } from 'node:timers/promises';
import { queueDepths } from '@waybell/stack/queue-depths';
import { deliveryQueue } from '@waybell/line/topology';
import { until } from '@waybell/runtime/testing/until';
import { alarmed } from '../alarmed.ts';
import type { Fault } from '../fault.ts';
import { HELD } from '../fault-settings.ts';
import type { Stage } from '../stage.ts';
import { underLoad, type Inject } from '../under-load.ts';

const ALARM_MS = { short: 2_000, release: 20_000 };
const BACKLOG = { short: 1_000, release: 20_000 };

const faults: Record<string, Inject> = {
  async 'a memory alarm'(stage) {
    await alarmed(stage, 'memory', () => sleep(ALARM_MS[stage.scale]));
  },
  async 'a disk alarm'(stage) {
    await alarmed(stage, 'disk', () => sleep(ALARM_MS[stage.scale]));
  },
  async 'an alarm over a backlog, which drains meanwhile'(stage) {
    const { stack, receiver, scale } = stage;
    await stack.stack.service('deliverer').stop();
    // Routed as well: during the alarm the router adds nothing.
    let waiting = 0;
    const count = async () => (waiting = await toDeliver(stage));
    await until(
      'there is a backlog',
      async () => (await count()) >= BACKLOG[scale],
      () => waiting,
    );
    await alarmed(stage, 'memory', async () => {
      const received = () => receiver.received.length;
      const seen = received();
      await stack.stack.service('deliverer').start();
      // What fails is held, and fills what may be held in the end.
      await until('more has left than it may hold', () => received() > seen + 2 * HELD, received);
    });
  },
};

/** How many deliveries wait; none as long as the broker does not say. */
async function toDeliver({ stack }: Stage): Promise<number> {
  const queues = stack.stack.queues.filter((name) => name.startsWith(deliveryQueue('')));
  const depths = (await queueDepths({ url: stack.brokerUrl }, queues)) ?? [];
  return depths.reduce((sum, { messages }) => sum + messages, 0);
}

/** While the broker takes nothing from publishers, what needs no publishing goes on. */
export const alarms: Fault[] = Object.entries(faults).map(([name, inject]) => ({
  row: 'L6',
  name,
  bars: { duplicates: HELD, movingAgainSeconds: 60, megabytes: 300 },
  run: underLoad(inject),
}));
