import { setTimeout as sleep } from 'node:timers/promises';
import { Detour } from '@waybell/runtime/testing/detour';
import type { Ledger } from '../../testing/ledger.ts';
import { besideTheDead } from '../beside-the-dead.ts';
import type { Course, Fault } from '../fault.ts';
import { HELD } from '../fault-settings.ts';
import { buildLinkStage } from '../link-stage.ts';
import { partOf, type Stage } from '../stage.ts';

const CUTS = 5;
const EVERY_MS = 2_500;

/** A cut connection is no crash: no message is suspected, and no delivery waits for the lost connection. */
export const linkCut: Fault[] = [
  {
    row: 'L19',
    name: 'the way to the broker cut five times in thirteen seconds, beside four dead endpoints',
    // Shipped settings: hanging requests last a minute.
    settings: { DELIVER_SLOTS: '', DELIVER_HELD: '' },
    buildStage: buildLinkStage,
    bars: { duplicates: HELD, movingAgainSeconds: 15 },
    run: cutFiveTimes,
  },
];

async function cutFiveTimes(stage: Stage, ledger: Ledger): Promise<Course> {
  const { course, suspects } = await besideTheDead(stage, ledger, async () => {
    let movingAgainSeconds = 0;
    for (let cut = 0; cut < CUTS; cut += 1) {
      const cutAt = performance.now();
      partOf(stage, Detour).cut();
      movingAgainSeconds = Math.max(movingAgainSeconds, await ledger.movedAgain(cutAt));
      await sleep(Math.max(0, cutAt + EVERY_MS - performance.now()));
    }
    return { movingAgainSeconds };
  });
  const problems = suspects === 0 ? [] : [`${suspects} suspects though no process died`];
  return { ...course, times: CUTS, problems };
}
