import { bareLine } from '../comparators/bare-line/bare-line.ts';
import { bullmq } from '../comparators/bullmq/bullmq.ts';
import { waybell } from '../comparators/waybell.ts';
import { inTurn, ratios } from '../lib/in-turn.ts';
import {
  budgetTable,
  perMessageTable,
  throughputTable,
  fullTimes,
  measureFull,
  withContender,
} from '../lib/measure.ts';
import { totalOfOwn } from '../lib/processes.ts';
import type { Scenario } from '../lib/scenario.ts';
import { startStand } from '../lib/stand.ts';
import { evenly, smallActionKeys } from '../lib/workload.ts';

const CONTENDERS = [waybell, bareLine, bullmq('axios as it comes'), bullmq('undici')];
const EVERYBODY = { from: 0, to: 100_000, actionKeys: smallActionKeys };

export const throughput: Scenario = {
  name: 'F1',
  description: 'deliveries per second, beside a bare line and BullMQ',
  async run({ isQuick, rounds, announce }) {
    const times = fullTimes({ isQuick });
    const workload = evenly(EVERYBODY);
    await using stand = await startStand();
    await stand.seed(EVERYBODY, '/ok');
    const runs = await inTurn({ contenders: CONTENDERS, rounds, announce }, (contender) =>
      withContender(stand, contender, (running) => measureFull(stand, running, { workload, ...times })),
    );
    const against = (name: string) => ratios(runs, 'waybell', name, ({ perSecond }) => perSecond);
    return {
      workload: `${EVERYBODY.to} subscriptions to ${smallActionKeys.length} actions, events of 300 bytes, receivers answering 200 at once; the line kept full.`,
      settings: { rounds, ...times },
      rounds: Object.fromEntries(runs),
      tables: [throughputTable(runs), budgetTable(runs), perMessageTable(runs)],
      checks: [
        { what: 'deliveries per second, of the bare line', figure: against('bare line'), bar: { atLeast: 0.55 } },
        {
          what: 'deliveries per second, of BullMQ with axios',
          figure: against('BullMQ, axios'),
          bar: { atLeast: 1.25 },
        },
        {
          what: 'deliveries per second, of BullMQ with undici',
          figure: against('BullMQ, undici'),
          bar: { atLeast: 0.85 },
        },
        {
          what: 'CPU per delivery, receiver and publisher aside, of the bare line',
          figure: ratios(runs, 'waybell', 'bare line', ({ cpuPerDelivery }) => totalOfOwn(cpuPerDelivery)),
          bar: { atMost: 2 },
        },
      ],
    };
  },
};
