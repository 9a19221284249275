import { setTimeout as sleep } from 'node:timers/promises';
import type { Receiver } from '../../testing/receiver.ts';
import { clockSettings, HOUR_MS, rightClocks, setClocks } from '../../testing/clocks.ts';
import type { Fault } from '../fault.ts';
import { shortestDelayMs } from '../fault-settings.ts';
import { underLoad } from '../under-load.ts';

const OFF_MS = 3_000;

/** The clocks of all services jump by an hour, forth and back. Delays are the broker's. */
export const clocks: Fault[] = [
  {
    row: 'L17',
    name: 'clocks an hour ahead, then an hour behind',
    settings: clockSettings,
    bars: { duplicates: 0, movingAgainSeconds: 5 },
    run: underLoad(
      async () => {
        for (const offsetMs of [HOUR_MS, -HOUR_MS]) {
          setClocks(offsetMs);
          await sleep(OFF_MS);
        }
        rightClocks();
        await sleep(OFF_MS);
      },
      { check: ({ receiver }) => tooEarly(receiver) },
    ),
  },
];

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
