import { bareLine } from '../comparators/bare-line/bare-line.ts';
import { waybell } from '../comparators/waybell.ts';
import { inTurn } from '../lib/in-turn.ts';
import {
  measureRates,
  rateTimes,
  barBesideBareLine,
  byRate,
  latencyTable,
  OWN_CPU,
  P50,
  P99,
} from '../lib/measure-rates.ts';
import { budgetTable, withContender } from '../lib/measure.ts';
import type { Scenario } from '../lib/scenario.ts';
import { startStand } from '../lib/stand.ts';
import { evenly, smallActionKeys } from '../lib/workload.ts';

const EVERYBODY = { from: 0, to: 100_000, actionKeys: smallActionKeys };
const MANY = 500;
/** Few enough that every process finds a core free. */
const FEW = 100;
const RATES = [MANY, FEW];
const QUICK_MS = 10_000;

export const latency: Scenario = {
  name: 'F2',
  description: `from publish to callback at ${MANY} and ${FEW} events a second, beside a bare line`,
  async run({ isQuick, rounds, announce }) {
    const times = rateTimes({ isQuick }, QUICK_MS);
    const run = { workload: evenly(EVERYBODY), rates: RATES, times };
    await using stand = await startStand();
    await stand.seed(EVERYBODY, '/ok');
    const runs = await inTurn({ contenders: [waybell, bareLine], rounds, announce }, (contender) =>
      withContender(stand, contender, (running) => measureRates(stand, running, run)),
    );
    const rows = byRate(RATES, runs);
    return {
      workload: `${EVERYBODY.to} subscriptions; ${MANY} events a second, evenly, then ${FEW}; from the moment when an event was to be sent until its callback arrives.`,
      settings: { rounds, ...times },
      rounds: Object.fromEntries(runs),
      tables: [latencyTable(rows), budgetTable(rows)],
      checks: [
        barBesideBareLine(runs, MANY, P50, 2),
        barBesideBareLine(runs, MANY, P99, 3),
        barBesideBareLine(runs, MANY, OWN_CPU, 1.25),
        barBesideBareLine(runs, FEW, P50, 1.5),
        barBesideBareLine(runs, FEW, OWN_CPU, 1.3),
      ],
    };
  },
};
