import type { SupervisedProcess } from '@waybell/stack/supervised-process';
import { replicaOf } from '@waybell/tests/testing/replica';
import type { Contender } from '../comparators/contender.ts';
import { startServices } from '../comparators/waybell.ts';
import { budgetTable, throughputTable } from '../lib/budget.ts';
import { inTurn, ratios } from '../lib/in-turn.ts';
import { measureFull, withContender } from '../lib/measure.ts';
import type { Scenario } from '../lib/scenario.ts';
import { startStand } from '../lib/stand.ts';
import { evenly, smallActionKeys } from '../lib/workload.ts';

const EVERYBODY = { from: 0, to: 100_000, actionKeys: smallActionKeys };
const ONE = lineWith(1);
const CONTENDERS = [ONE, lineWith(2), lineWith(4)];

export const deliverers: Scenario = {
  name: 'deliverers',
  description: 'deliveries per second and CPU of each with one, two and four deliverers',
  async run({ isQuick, rounds, tell }) {
    const [warmMs, measureMs] = isQuick ? [3_000, 5_000] : [5_000, 8_000];
    const workload = evenly(EVERYBODY);
    await using stand = await startStand();
    await stand.seed(EVERYBODY, '/ok');
    const runs = await inTurn({ contenders: CONTENDERS, rounds, tell }, (contender) =>
      withContender(stand, contender, (running) => measureFull(stand, running, { workload, warmMs, measureMs })),
    );
    return {
      workload: `As in F1: ${EVERYBODY.to} subscriptions to ${smallActionKeys.length} actions, events of 300 bytes, receivers answering 200 at once; the line kept full.`,
      settings: { rounds, warmMs, measureMs },
      rounds: Object.fromEntries(runs),
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
