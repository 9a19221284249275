import { Dice } from '@waybell/tests/actions/generate/dice';
import { dropWhileUsed, type DropWaits } from '../lib/log-drop.ts';
import { countsOf, fillLog, logHistoryOf, type LogHistory } from '../lib/log-history.ts';
import { lookupsIn, type LookupName } from '../lib/log-lookups.ts';
import { logSizes, type Size } from '../lib/log-sizes.ts';
import { startPostgresStand, type PostgresStand } from '../lib/postgres-stand.ts';
import type { BarCheck, Table } from '../lib/report.ts';
import type { Scenario } from '../lib/scenario.ts';
import { summarise, type Summary } from '../lib/statistics.ts';

const LOOKUPS = ['timeline', 'delivery'] as const;
const WAITING = [...LOOKUPS, 'writer'] as const;

export const timeline: Scenario = {
  name: 'timeline',
  description: 'what became of an order, among 50,000,000 attempts; and a day that is dropped beside it',
  async run({ isQuick, tell }) {
    const history = logHistoryOf(isQuick ? 1_000_000 : 50_000_000);
    const lookups = isQuick ? 300 : 1_000;
    const watchMs = isQuick ? 5_000 : 15_000;
    await using stand = await startPostgresStand();
    await fillLog(stand.postgres, history, tell);
    const sizes = await logSizes(stand.postgres);
    tell('measuring');
    const answers = await answersOf(stand, history, lookups);
    tell('a day is dropped');
    const waits = await dropWhileUsed(stand, history, watchMs);
    const { events, deliveries, attempts, orders } = countsOf(history);
    return {
      workload: `${attempts} attempts of ${deliveries} deliveries of ${events} events about ${orders} orders, in partitions of 30 days. An order has ten events, three days apart, each for two subscribers, one of which takes it at the fourth attempt. ${lookups} orders, and as many deliveries, are asked for by chance, one after the other: first with nothing of the tables in memory, then the same again, then others. Then readers and a writer for ${watchMs / 1_000} s, and as long while the oldest day is dropped.`,
      settings: { attempts, deliveries, events, orders, lookups, watchMs },
      rounds: { sizes, answers: Object.entries(answers), waits: [waits] },
      tables: [sizesTable(sizes), answersTable(answers), waitsTable(waits)],
      checks: [...answersChecks(answers), ...waitsChecks(waits)],
    };
  },
};

/** A second run finds its data in memory. */
const AGAIN = 'the same again';

type LookupTimes = Record<`${LookupName}, ${'cold' | typeof AGAIN | 'others'}`, Summary>;

async function answersOf(stand: PostgresStand, history: LogHistory, count: number): Promise<LookupTimes> {
  const measured: Record<string, Summary> = {};
  for (const name of LOOKUPS) {
    await stand.chill();
    await using asked = lookupsIn(stand.url, history);
    const ask = async (seed: number) => {
      const dice = new Dice(seed);
      const took: number[] = [];
      while (took.length < count) took.push(await asked[name](dice));
      return summarise(took);
    };
    measured[`${name}, cold`] = await ask(1);
    measured[`${name}, ${AGAIN}`] = await ask(1);
    measured[`${name}, others`] = await ask(2);
  }
  // Every name has just been asked.
  return measured as LookupTimes;
}

function sizesTable(sizes: readonly Size[]): Table {
  return {
    title: 'On disk',
    columns: ['table', 'rows', 'GB', 'of that indexes', 'bytes per row', 'of that indexes'],
    rows: sizes.map(({ table, rows, heapBytes, indexBytes }) => [
      table,
      rows,
      (heapBytes + indexBytes) / 1e9,
      indexBytes / 1e9,
      (heapBytes + indexBytes) / rows,
      indexBytes / rows,
    ]),
  };
}

function answersTable(answers: LookupTimes): Table {
  return {
    title: 'Answers, ms',
    columns: ['', 'asked', 'p50', 'p99', 'longest'],
    rows: Object.entries(answers).map(([what, { count, p50, p99, max }]) => [what, count, p50, p99, max]),
  };
}

function answersChecks(answers: LookupTimes): BarCheck[] {
  return Object.entries(answers).map(([what, { p99 }]) => ({
    what: `${what}: p99, ms`,
    figure: p99,
    bar: { atMost: what.endsWith(AGAIN) ? 15 : 50 },
  }));
}

function waitsTable({ alone, dropping, dropMs }: DropWaits): Table {
  const rows = WAITING.map((who) => [who, alone[who].p99, alone[who].max, dropping[who].p99, dropping[who].max]);
  return {
    title: `Waits while a day is dropped (which took ${(dropMs / 1_000).toFixed(1)} s), ms`,
    columns: ['who', 'without: p99', 'longest', 'while it is: p99', 'longest'],
    rows,
  };
}

/** A statement that is blocked waits for as long as dropping takes, or until its limit. */
function waitsChecks({ dropping }: DropWaits): BarCheck[] {
  return WAITING.map((who) => ({
    what: `${who}: longest wait while a day is dropped, ms`,
    figure: dropping[who].max,
    bar: { atMost: 1_000 },
  }));
}
