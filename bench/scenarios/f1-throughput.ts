import { bareLine } from '../comparators/bare-line/bare-line.ts';
import { bullmq } from '../comparators/bullmq/bullmq.ts';
import { waybell } from '../comparators/waybell.ts';
import { budgetTable, perMessageTable, throughputTable } from '../lib/budget.ts';
import { ratios } from '../lib/in-turn.ts';
import { totalOfOwn } from '../lib/processes.ts';
import { runFull } from '../lib/run-full.ts';
import type { Scenario } from '../lib/scenario.ts';

const CONTENDERS = [waybell, bareLine, bullmq('axios as it comes'), bullmq('undici')];

export const throughput: Scenario = {
  name: 'F1',
  description: 'deliveries per second, beside a bare line and BullMQ',
  async run(effort) {
    const { runs, about } = await runFull(CONTENDERS, effort);
    const against = (name: string) => ratios(runs, 'waybell', name, ({ perSecond }) => perSecond);
    return {
      ...about,
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
