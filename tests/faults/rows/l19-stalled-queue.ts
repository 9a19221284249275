import { setTimeout as sleep } from 'node:timers/promises';
import { deliveryQueue } from '@waybell/line/topology';
import type { Receiver } from '../../testing/receiver.ts';
import type { Fault } from '../fault.ts';
import type { Stage } from '../stage.ts';
import { stallQueue } from '../stall-queue.ts';
import { underLoad } from '../under-load.ts';

const STALLED = 'order.paid';
const STEADY_MS = 15_000;
/** Longer than anything that waits for a confirm does before it gives up, twice. */
const STALLED_MS = 75_000;
/** Share of the first attempts that receivers of other actions saw a second before, in the same run. */
const LEAST_OF_STEADY = 0.9;

/** A queue whose leader hangs holds up its own action, and no other. */
export const stalledQueue: Fault[] = [
  {
    row: 'L19',
    name: 'one delivery queue stalled',
    bars: { duplicates: 0, movingAgainSeconds: 5 },
    run: async (stage, ledger) => {
      const notes: string[] = [];
      const course = await underLoad(
        async () => {
          const before = await othersPerSecond(stage, STEADY_MS);
          const resume = await stallQueue(stage, deliveryQueue(`shipper.${STALLED}`));
          let during = 0;
          try {
            during = await othersPerSecond(stage, STALLED_MS);
          } finally {
            await resume();
          }
          const share = during / before;
          notes.push(`other actions: ${before.toFixed(1)}/s before, ${during.toFixed(1)}/s while one was stalled`);
          return share >= LEAST_OF_STEADY
            ? []
            : [`other actions went on at ${share.toFixed(2)} of their rate, at least ${LEAST_OF_STEADY}`];
        },
        { eventsPerSecond: { release: 200 } },
      )(stage, ledger);
      return { ...course, notes };
    },
  },
];

/** First attempts for receivers of other actions that answer at once, in so long. */
async function othersPerSecond({ receiver }: Stage, forMs: number): Promise<number> {
  const [from, since] = [receiver.received.length, performance.now()];
  await sleep(forMs);
  const others = receiver.received.slice(from).filter(isOfOthers).length;
  return (others * 1_000) / (performance.now() - since);
}

/** Carriers that are dead are switched off sooner or later. */
function isOfOthers({ path, headers }: Receiver['received'][number]): boolean {
  return headers['x-webhook-attempt'] === '1' && !path.includes('/dead/') && !path.endsWith(`/${STALLED}`);
}
