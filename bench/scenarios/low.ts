import { setTimeout as sleep } from 'node:timers/promises';
import { bareLine } from '../comparators/bare-line/bare-line.ts';
import { waybell } from '../comparators/waybell.ts';
import { inTurn } from '../lib/in-turn.ts';
import {
  measureRates,
  rateTimes,
  at,
  barBesideBareLine,
  byRate,
  latencyTable,
  ofWaybell,
  OWN_CPU,
  P50,
  timesBareLine,
  type AtRate,
  type AtRates,
  type RatesInTurn,
} from '../lib/measure-rates.ts';
import { budgetTable, partsTable, withContender } from '../lib/measure.ts';
import { percentOfCore } from '../lib/processes.ts';
import type { BarCheck, Table } from '../lib/report.ts';
import type { Scenario } from '../lib/scenario.ts';
import { startStand } from '../lib/stand.ts';
import { median, spread } from '../lib/statistics.ts';
import { evenly, smallActionKeys } from '../lib/workload.ts';

const EVERYBODY = { from: 0, to: 2_000, actionKeys: smallActionKeys };
const [HIGH, MIDDLE, LEAST] = [500, 100, 10] as const;
const RATES = [HIGH, MIDDLE, LEAST];
const QUICK_MS = 6_000;
const POSTGRES = {
  what: 'CPU of Postgres per delivery, µs',
  of: ({ cpuPerDelivery }: AtRate) => cpuPerDelivery['postgres'] ?? Number.NaN,
};
/** Counts of the servers that are shown. */
const COUNTS = ['messages published', 'Redis commands', 'commits', 'rows written', 'WAL bytes', 'WAL syncs'];

/** `idle`: % of a core that each part takes while nothing comes. */
type LowResult = { rates: AtRates; idle: Record<string, number> };

export const low: Scenario = {
  name: 'low',
  description: `what a delivery costs at ${LEAST}, ${MIDDLE} and ${HIGH} events a second, part by part, beside a bare line`,
  async run({ isQuick, rounds, announce }) {
    const times = rateTimes({ isQuick }, QUICK_MS);
    const run = { workload: evenly(EVERYBODY), rates: RATES, times };
    await using stand = await startStand();
    await stand.seed(EVERYBODY, '/ok');
    const results = await inTurn({ contenders: [waybell, bareLine], rounds, announce }, (contender) =>
      withContender(stand, contender, async (running): Promise<LowResult> => {
        const rates = await measureRates(stand, running, run);
        await sleep(times.settleMs);
        return { rates, idle: await percentOfCore({ ...stand.parts, ...running.parts }, times.measureMs) };
      }),
    );
    const runs = new Map([...results].map(([name, all]) => [name, all.map(({ rates }) => rates)]));
    const idle = new Map([...results].map(([name, all]) => [name, all.map((each) => each.idle)]));
    return {
      workload: `${EVERYBODY.to} subscriptions to ${smallActionKeys.length} actions, receivers answering 200 at once; ${RATES.join(', ')} events a second, evenly, then none.`,
      settings: { rounds, ...times },
      rounds: Object.fromEntries(results),
      tables: [...tablesOf(runs), partsTable('Idle: CPU, % of a core', idle)],
      checks: checksOf(runs),
    };
  },
};

function tablesOf(runs: RatesInTurn): Table[] {
  const rows = byRate(RATES, runs);
  const wakeUps = new Map([...rows].map(([name, rounds]) => [name, rounds.map((each) => each.wakeUps)]));
  return [
    budgetTable(rows),
    ownCpuTable(runs),
    latencyTable(rows),
    countsTable(rows),
    partsTable('Wake-ups per delivery', wakeUps),
  ];
}

function ownCpuTable(runs: RatesInTurn): Table {
  const ofBareLine = (rate: number) => spread((at(rate, runs).get(bareLine.name) ?? []).map(OWN_CPU.of));
  return {
    title: `${OWN_CPU.what}, µs`,
    columns: ['', 'waybell', 'bare line', 'times'],
    rows: RATES.map((rate) => [
      `${rate}/s`,
      ofWaybell(runs, rate, OWN_CPU),
      ofBareLine(rate),
      timesBareLine(runs, rate, OWN_CPU),
    ]),
  };
}

function countsTable(rows: ReadonlyMap<string, readonly AtRate[]>): Table {
  return {
    title: 'Done per delivery',
    columns: ['', ...COUNTS],
    rows: [...rows].map(([name, rounds]) => [
      name,
      ...COUNTS.map((what) => median(rounds.map(({ counts }) => counts[what] ?? Number.NaN))),
    ]),
  };
}

function checksOf(runs: RatesInTurn): BarCheck[] {
  const atMost = (rate: number, figure: typeof POSTGRES, most: number): BarCheck => ({
    what: `at ${rate} a second: ${figure.what}`,
    figure: ofWaybell(runs, rate, figure),
    bar: { atMost: most },
  });
  const ownCpu = { ...OWN_CPU, what: `${OWN_CPU.what}, µs` };
  return [
    atMost(MIDDLE, ownCpu, 5_000),
    barBesideBareLine(runs, MIDDLE, OWN_CPU, 1.3),
    atMost(MIDDLE, POSTGRES, 600),
    barBesideBareLine(runs, MIDDLE, P50, 1.5),
    atMost(HIGH, ownCpu, 2_400),
    barBesideBareLine(runs, HIGH, OWN_CPU, 1.25),
  ];
}
