import type { Fault } from '../fault.ts';
import { shippedDatabaseTimeout } from '../fault-settings.ts';
import { mishaps } from '../mishaps.ts';
import { goThrough, planOverlaps } from '../overlaps.ts';
import { soakOf, soakSeed } from '../soak.ts';

const ROUND_MS = 60_000;

/** Mishaps that go on at once: an alarm and a kill, a queue that stalls and a SIGTERM, Redis away and a connection cut. */
export const overlaps: Fault[] = [
  {
    row: 'L24',
    name: `anything, up to three at once (seed ${soakSeed})`,
    settings: shippedDatabaseTimeout,
    bars: { duplicates: Infinity },
    run: soakOf({
      minutes: { short: 5, release: 60 },
      round: (stage, { dice, endsAt }) => {
        const lengthMs = Math.min(ROUND_MS, endsAt - performance.now());
        return goThrough(stage, planOverlaps(mishaps, dice, lengthMs));
      },
    }),
  },
];
