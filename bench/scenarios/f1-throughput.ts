import { bareLine } from '../comparators/bare-line/bare-line.ts';
import { bullmq } from '../comparators/bullmq/bullmq.ts';
import { waybell } from '../comparators/waybell.ts';
import { budgetTable, bundleTable, throughputTable } from '../lib/budget.ts';
import { inTurn, ratios } from '../lib/in-turn.ts';
import { total, type CpuMicros } from '../lib/cpu.ts';
import { measureFull, withContender } from '../lib/measure.ts';
import type { Scenario } from '../lib/scenario.ts';
import { startStand } from '../lib/stand.ts';
import { evenly, smallActionKeys } from '../lib/workload.ts';

const EVERYBODY = { from: 0, to: 100_000, actionKeys: smallActionKeys };
const CONTENDERS = [waybell, bareLine, bullmq('axios as it comes'), bullmq('undici')];

export const throughput: Scenario = {
  name: 'F1',
  description: 'deliveries per second, beside a bare line and BullMQ',
  async run({ isQuick, rounds, tell }) {
    const [warmMs, measureMs] = isQuick ? [3_000, 5_000] : [5_000, 8_000];
    const workload = evenly(EVERYBODY);
    await using stand = await startStand();
    await stand.seed(EVERYBODY, '/ok');
    const runs = await inTurn({ contenders: CONTENDERS, rounds, tell }, (contender) =>
      withContender(stand, contender, (running) => measureFull(stand, running, { workload, warmMs, measureMs })),
    );
    const against = (name: string) => ratios(runs, 'waybell', name, ({ perSecond }) => perSecond);
    return {
      workload: `${EVERYBODY.to} subscriptions to ${smallActionKeys.length} actions, events of 300 bytes, receivers answering 200 at once; the line kept full.`,
      settings: { rounds, warmMs, measureMs },
      rounds: Object.fromEntries(runs),
      tables: [throughputTable(runs), budgetTable(runs), bundleTable(runs)],
      checks: [
        { what: 'deliveries per second, of the bare line', figure: against('bare line'), bar: { atLeast: 0.6 } },
        {
          what: 'deliveries per second, of BullMQ with axios',
          figure: against('BullMQ, axios'),
          bar: { atLeast: 1.4 },
        },
        {
          what: 'CPU per delivery, receiver and publisher aside, of the bare line',
          figure: ratios(runs, 'waybell', 'bare line', ({ cpuPerDelivery }) => ownCost(cpuPerDelivery)),
          bar: { atMost: 1.8 },
        },
      ],
    };
  },
};

/** Without what a contender is measured by. */
function ownCost(cpu: CpuMicros): number {
  const { receiver = 0, publisher = 0 } = cpu;
  return total(cpu) - receiver - publisher;
}
