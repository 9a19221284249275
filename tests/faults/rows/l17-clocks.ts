import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '@waybell/runtime/testing/until';
import type { Receiver } from '../../testing/receiver.ts';
import { HOUR_MS, rightClocks, setClocks, wrongClocks } from '../../testing/clocks.ts';
import type { Fault } from '../fault.ts';
import { shortestDelayMs } from '../fault-settings.ts';
import type { Stage } from '../stage.ts';
import { underLoad } from '../under-load.ts';

const OFF_MS = 3_000;
/** Tolerated offset of a clock, with room for a round trip. */
const WITHIN_MS = 20_000;
/** Time in which requests under way at the change of the clocks arrive. */
const ARRIVED_MS = 1_000;

/**
 * The clocks of all services jump, forth and back, by what they may be off and by an hour. Delays are the broker's. Within
 * the limit deliveries go on; beyond it they wait, and no attempt is made.
 */
export const clocks: Fault[] = [
  {
    row: 'L17',
    name: 'clocks 20 s and an hour ahead, then as much behind',
    settings: wrongClocks,
    bars: { duplicates: 0, movingAgainSeconds: 10 },
    run: underLoad(
      async (stage) => {
        const problems: string[] = [];
        for (const forth of [1, -1]) {
          setClocks(forth * WITHIN_MS);
          await goesOn(stage);
          setClocks(forth * HOUR_MS);
          problems.push(...(await standsStill(stage)));
          rightClocks();
          await goesOn(stage);
        }
        return problems;
      },
      { check: ({ receiver }) => tooEarly(receiver) },
    ),
  },
];

async function goesOn({ receiver }: Stage): Promise<void> {
  const seen = receiver.received.length;
  await until('deliveries go on', () => receiver.received.length > seen);
  await sleep(OFF_MS);
}

async function standsStill({ receiver, stack }: Stage): Promise<string[]> {
  const deliverer = stack.stack.service('deliverer');
  let said: string | undefined;
  await until('the deliverer says both clocks', async () =>
    /clock: here \S+Z, Postgres \S+Z/.test((said = await deliverer.spec.waitsFor()) ?? ''),
  );
  await sleep(ARRIVED_MS);
  const seen = receiver.received.length;
  await sleep(OFF_MS);
  const made = receiver.received.length - seen;
  return made === 0 ? [] : [`${made} attempts were made by a wrong clock; it said: ${said}`];
}

/** Attempts that came before their delay was over, by the receiver's clock. */
function tooEarly({ received }: Receiver): string[] {
  const lastAt = new Map<string, { attempt: number; at: number }>();
  const early: string[] = [];
  for (const { headers, at } of received) {
    const delivery = String(headers['webhook-id']);
    const attempt = Number(headers['x-webhook-attempt']);
    const last = lastAt.get(delivery);
    const isNext = last !== undefined && attempt === last.attempt + 1;
    if (isNext && at - last.at < shortestDelayMs) early.push(`attempt ${attempt} after ${at - last.at} ms`);
    lastAt.set(delivery, { attempt, at });
  }
  return early.slice(0, 3);
}
