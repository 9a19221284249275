import { setTimeout as sleep } from 'node:timers/promises';
import type { Fault } from '../fault.ts';
import { shippedDatabaseTimeout } from '../fault-settings.ts';
import { mishaps } from '../mishaps.ts';
import { say, soakOf, soakSeed } from '../soak.ts';

const AWAY_MS = 3_000;
const PAUSE_MS = { least: 5_000, most: 20_000 };
const MISHAPS_A_ROUND = 8;

/** One mishap after the other, at random, for as long as it takes to trust it. */
export const soak: Fault[] = [
  {
    row: 'L16',
    name: `anything, every ${PAUSE_MS.least / 1_000} to ${PAUSE_MS.most / 1_000} s (seed ${soakSeed})`,
    settings: shippedDatabaseTimeout,
    bars: { duplicates: Infinity },
    run: soakOf({
      minutes: { short: 1, release: 60 },
      async round(stage, { dice, endsAt }) {
        for (let count = 0; count < MISHAPS_A_ROUND && performance.now() < endsAt; count += 1) {
          const { name, begin } = dice.pick(mishaps);
          say(name);
          const end = await begin(stage);
          await sleep(AWAY_MS);
          await end();
          await sleep(PAUSE_MS.least + dice.below(PAUSE_MS.most - PAUSE_MS.least));
        }
      },
    }),
  },
];
