import { setTimeout as sleep } from 'node:timers/promises';
import { waybell } from '../comparators/waybell.ts';
import { withContender } from '../lib/measure.ts';
import { percentOfCore, total } from '../lib/processes.ts';
import type { Scenario } from '../lib/scenario.ts';
import { startStand } from '../lib/stand.ts';

export const idle: Scenario = {
  name: 'F8',
  description: 'what the services use while there is nothing to do',
  async run({ isQuick }) {
    const [settleMs, measureMs] = isQuick ? [4_000, 10_000] : [10_000, 40_000];
    await using stand = await startStand();
    const shares = await withContender(stand, waybell, async ({ parts }) => {
      await sleep(settleMs);
      return percentOfCore(parts, measureMs);
    });
    return {
      workload: 'Nothing.',
      settings: { settleMs, measureMs },
      rounds: Object.fromEntries(Object.entries(shares).map(([part, percent]) => [part, [percent]])),
      tables: [{ title: 'CPU, % of a core', columns: ['service', 'CPU'], rows: Object.entries(shares) }],
      checks: [{ what: 'all services, % of a core', figure: total(shares), bar: { atMost: 2 } }],
    };
  },
};
