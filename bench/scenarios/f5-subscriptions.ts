import { waybell } from '../comparators/waybell.ts';
import { budgetTable, measureAt, warmUpMs, withContender, type Throughput } from '../lib/measure.ts';
import type { Scenario } from '../lib/scenario.ts';
import { startStand } from '../lib/stand.ts';
import { spread } from '../lib/statistics.ts';
import { evenly, smallActionKeys } from '../lib/workload.ts';

const FEW = 1_000;
const EVENTS_PER_SECOND = 500;

export const subscriptions: Scenario = {
  name: 'F5',
  description: "the router's CPU per event, with a thousand subscriptions and with a million",
  async run({ isQuick, rounds, announce }) {
    const warmMs = warmUpMs({ isQuick });
    const [settleMs, measureMs] = isQuick ? [3_000, 6_000] : [4_000, 10_000];
    const many = isQuick ? 200_000 : 1_000_000;
    await using stand = await startStand();
    const runs = new Map<string, Throughput[]>();
    for (const subscribers of [FEW, many]) {
      announce(`${subscribers} subscriptions`);
      const group = { from: 0, to: subscribers, actionKeys: smallActionKeys };
      await stand.seed(group, '/ok');
      const pace = { kind: 'rate', perSecond: EVENTS_PER_SECOND } as const;
      const results = await withContender(stand, waybell, async (running) => {
        const measured: Throughput[] = [];
        for (let round = 0; round < rounds; round += 1) {
          const times = { warmMs: round === 0 ? warmMs : settleMs, measureMs };
          measured.push(await measureAt(stand, running, { workload: evenly(group), ...times, pace }));
        }
        return measured;
      });
      runs.set(`${subscribers} subscriptions`, results);
    }
    const [few = [], most = []] = [...runs.values()].map((all) => all.map(({ cpuPerDelivery }) => cpuPerDelivery));
    const growth = most.map((cpu, round) => (cpu['event-router'] ?? NaN) / (few[round]?.['event-router'] ?? NaN));
    return {
      workload: `${FEW} and ${many} subscriptions; ${EVENTS_PER_SECOND} events a second, each to a subscriber by chance.`,
      settings: { rounds, warmMs, settleMs, measureMs, subscriptions: [FEW, many] },
      rounds: Object.fromEntries(runs),
      tables: [budgetTable(runs)],
      checks: [{ what: 'CPU per event of the router, times', figure: spread(growth), bar: { atMost: 1.2 } }],
    };
  },
};
