import { waybell } from '../comparators/waybell.ts';
import { inTurn, ratios } from '../lib/in-turn.ts';
import { budgetTable, throughputTable, fullTimes, measureFull, withContender } from '../lib/measure.ts';
import type { Scenario } from '../lib/scenario.ts';
import { startStand } from '../lib/stand.ts';
import { evenly, hotActionKey, smallActionKeys } from '../lib/workload.ts';

const SUBSCRIBERS = { from: 0, to: 100_000 };
const SPREAD = { name: `over ${smallActionKeys.length} actions`, actionKeys: smallActionKeys };
const HOT = { name: 'on one action', actionKeys: [hotActionKey] };

export const hotAction: Scenario = {
  name: 'F6',
  description: 'all traffic on one action, beside the same traffic over many',
  async run({ isQuick, rounds, announce }) {
    const times = fullTimes({ isQuick });
    await using stand = await startStand();
    for (const { actionKeys } of [SPREAD, HOT]) await stand.seed({ ...SUBSCRIBERS, actionKeys }, '/ok');
    const runs = await inTurn({ contenders: [SPREAD, HOT], rounds, announce }, ({ actionKeys }) =>
      withContender(stand, waybell, (running) =>
        measureFull(stand, running, { workload: evenly({ ...SUBSCRIBERS, actionKeys }), ...times }),
      ),
    );
    const figure = ratios(runs, HOT.name, SPREAD.name, ({ perSecond }) => perSecond);
    return {
      workload: '100,000 accounts, the line kept full, as in F1; on one action, and over all small ones.',
      settings: { rounds, ...times },
      rounds: Object.fromEntries(runs),
      tables: [throughputTable(runs), budgetTable(runs)],
      checks: [{ what: 'deliveries per second, of those over many', figure, bar: { atLeast: 0.95 } }],
    };
  },
};
