import type { SupervisedProcess } from '@waybell/stack/supervised-process';
import { replicaOf } from '@waybell/tests/testing/replica';
import type { Contender } from '../comparators/contender.ts';
import { startServices } from '../comparators/waybell.ts';
import { budgetTable, throughputTable } from '../lib/budget.ts';
import { ratios } from '../lib/in-turn.ts';
import { runFull } from '../lib/run-full.ts';
import type { Scenario } from '../lib/scenario.ts';

const ONE = lineWith(1);
const CONTENDERS = [ONE, lineWith(2), lineWith(4)];

export const deliverers: Scenario = {
  name: 'deliverers',
  description: 'deliveries per second and CPU of each with one, two and four deliverers',
  async run(effort) {
    const { runs, about } = await runFull(CONTENDERS, effort);
    return {
      ...about,
      tables: [throughputTable(runs), budgetTable(runs)],
      checks: CONTENDERS.slice(1).map(({ name }) => ({
        what: `CPU of deliverers for a delivery, ${name}, of that with one`,
        figure: ratios(runs, name, ONE.name, ({ cpuPerDelivery }) => cpuPerDelivery['deliverer'] ?? Number.NaN),
        bar: { atMost: 1.5 },
      })),
    };
  },
};

/** The product with so many deliverers, whose CPU counts as that of one part. */
function lineWith(count: number): Contender {
  return {
    name: `${count} ${count === 1 ? 'deliverer' : 'deliverers'}`,
    async start({ stack }) {
      const running = await startServices(stack, stack.services);
      const replicas: SupervisedProcess[] = [];
      for (let number = 2; number <= count; number += 1)
        replicas.push(await replicaOf(stack.service('deliverer'), { number }));
      const pids = replicas.flatMap(({ identity }) => identity?.pid ?? []);
      return {
        ...running,
        parts: { ...running.parts, deliverer: [...(running.parts['deliverer'] ?? []), ...pids] },
        async stop() {
          await Promise.all(replicas.map((replica) => replica.stop()));
          await running.stop();
        },
      };
    },
  };
}
