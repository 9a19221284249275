import { waybell } from '../comparators/waybell.ts';
import { unwritten, withoutLog } from '../comparators/without-log.ts';
import { differences, inTurn, ratios } from '../lib/in-turn.ts';
import {
  budgetTable,
  throughputTable,
  fullTimes,
  measureFull,
  withContender,
  type Throughput,
} from '../lib/measure.ts';
import { total } from '../lib/processes.ts';
import type { Scenario } from '../lib/scenario.ts';
import { startStand } from '../lib/stand.ts';
import { spread } from '../lib/statistics.ts';
import { evenly, smallActionKeys } from '../lib/workload.ts';

const EVERYBODY = { from: 0, to: 100_000, actionKeys: smallActionKeys };

type LogCostResult = Throughput & { unwritten: number };

export const logCost: Scenario = {
  name: 'log-cost',
  description: 'deliveries per second and CPU of each with the delivery log, and without it',
  async run({ isQuick, rounds, announce }) {
    const times = fullTimes({ isQuick });
    const workload = evenly(EVERYBODY);
    await using stand = await startStand();
    await stand.seed(EVERYBODY, '/ok');
    const runs = await inTurn({ contenders: [waybell, withoutLog], rounds, announce }, (contender) =>
      withContender(stand, contender, async (running): Promise<LogCostResult> => {
        const throughput = await measureFull(stand, running, { workload, ...times });
        return { ...throughput, unwritten: await unwritten(stand) };
      }),
    );
    const left = (runs.get(waybell.name) ?? []).map((each) => each.unwritten);
    return {
      workload: `As in F1: ${EVERYBODY.to} subscriptions to ${smallActionKeys.length} actions, events of 300 bytes, receivers answering 200 at once; the line kept full. Without the log: its service does not run, and nothing is put into its queue.`,
      settings: { rounds, ...times },
      rounds: Object.fromEntries(runs),
      tables: [throughputTable(runs), budgetTable(runs)],
      checks: [
        {
          what: 'deliveries per second, of those without the log',
          figure: ratios(runs, waybell.name, withoutLog.name, ({ perSecond }) => perSecond),
          bar: { atLeast: 0.9 },
        },
        {
          what: 'CPU of a delivery for its log, µs',
          figure: differences(runs, waybell.name, withoutLog.name, ({ cpuPerDelivery }) => total(cpuPerDelivery)),
          bar: { atMost: 57 },
        },
        // Unwritten records would cost later.
        { what: 'batches of records not yet written at the end', figure: spread(left), bar: { atMost: 100 } },
      ],
    };
  },
};
