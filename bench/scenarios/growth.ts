import { setTimeout as sleep } from 'node:timers/promises';
import { waybell } from '../comparators/waybell.ts';
import { budgetTable, perMessageTable, throughputTable } from '../lib/budget.ts';
import {
  fullTimes,
  measureFull,
  throughputOf,
  withContender,
  type MeasuredRun,
  type Throughput,
} from '../lib/measure.ts';
import type { Effort, Scenario } from '../lib/scenario.ts';
import { loopbackAddress, evenly, hotActionKey, smallActionKeys } from '../lib/workload.ts';
import { startStand, type Stand } from '../lib/stand.ts';

type Times = Omit<MeasuredRun, 'workload'>;
type GrowthResults = Map<string, Throughput[]>;

const EVERYBODY = { from: 0, to: 100_000, actionKeys: smallActionKeys };
/** Clients of one account: each of its events goes to all of them. */
const CLIENTS = { from: 4_000_000, to: 4_001_000, actionKeys: [hotActionKey], account: 4_000_000 };
const CARRIERS = { from: 2_000_000, to: 2_001_000, actionKeys: ['carrier.order.updated'] };

/** Measures growth, one dimension at a time; each step on the same stand. */
export const growth: Scenario = {
  name: 'growth',
  description: 'subscriptions, origins, backlog, payload and receivers of an event, from few to many',
  async run({ isQuick, tell }) {
    const times = fullTimes({ isQuick });
    await using stand = await startStand();
    const results: GrowthResults = new Map();
    // The backlog last: it is not waited for.
    const steps = [growSubscriptions, growOrigins, growPayload, growFanOut, growBacklog];
    for (const grow of steps) await grow(stand, { times, isQuick, tell, results });
    return {
      workload: 'The line kept full, events of 300 bytes and 100,000 subscriptions where nothing else is said.',
      settings: times,
      rounds: Object.fromEntries(results),
      tables: [throughputTable(results), budgetTable(results), perMessageTable(results)],
      checks: [],
    };
  },
};

type Growing = Pick<Effort, 'isQuick' | 'tell'> & { times: Times; results: GrowthResults };

async function full(stand: Stand, workload: MeasuredRun['workload'], { times }: Growing): Promise<Throughput> {
  return withContender(stand, waybell, (running) => measureFull(stand, running, { workload, ...times }));
}

async function growSubscriptions(stand: Stand, growing: Growing): Promise<void> {
  let from = 0;
  for (const to of growing.isQuick ? [1, 1_000, 100_000] : [1, 1_000, 100_000, 1_000_000]) {
    growing.tell(`${to} subscriptions`);
    await stand.seed({ ...EVERYBODY, from, to }, '/ok');
    const workload = evenly({ ...EVERYBODY, to });
    growing.results.set(`${to} subscriptions`, [await full(stand, workload, growing)]);
    from = to;
  }
}

async function growOrigins(stand: Stand, growing: Growing): Promise<void> {
  for (const [step, origins] of [100, 10_000].entries()) {
    growing.tell(`${origins} origins`);
    const from = 3_000_000 + step * 100_000;
    const group = { ...EVERYBODY, from, to: from + 10_000 };
    await stand.seed(group, '/ok', (n) => loopbackAddress(n % origins));
    growing.results.set(`${origins} origins`, [await full(stand, evenly(group), growing)]);
  }
}

async function growPayload(stand: Stand, growing: Growing): Promise<void> {
  await stand.seed(CARRIERS, '/ok');
  for (const kib of [4, 10, 64, 300]) {
    growing.tell(`payload of ${kib} KiB`);
    const workload = { ...evenly(CARRIERS), textBytes: kib * 1_024 };
    growing.results.set(`payload of ${kib} KiB`, [await full(stand, workload, growing)]);
  }
}

/** Events pile up while nothing runs; what is measured is how fast the pile goes. */
async function growBacklog(stand: Stand, growing: Growing): Promise<void> {
  const events = growing.isQuick ? 50_000 : 500_000;
  growing.tell(`a backlog of ${events} events`);
  const { stack, publisher, parts } = stand;
  await Promise.all(stack.services.map((service) => service.stop()));
  await publisher.call('connect', { url: stack.servers.url('rabbitmq'), exchange: 'waybell.events' });
  await publisher.call('start', { workload: evenly(EVERYBODY), pace: { kind: 'all', events } });
  await publisher.call('finish');
  await publisher.call('disconnect');
  const running = await waybell.start(stand);
  await sleep(growing.times.warmMs);
  const drained = await throughputOf(stand, { ...parts, ...running.parts }, () => sleep(growing.times.measureMs));
  await running.stop();
  growing.results.set(`backlog of ${events} events`, [drained]);
}

async function growFanOut(stand: Stand, growing: Growing): Promise<void> {
  const fanOut = CLIENTS.to - CLIENTS.from;
  growing.tell(`an event to ${fanOut} subscriptions`);
  await stand.seed(CLIENTS, '/ok');
  growing.results.set(`an event to ${fanOut} subscriptions`, [
    await full(stand, { ...evenly(CLIENTS), fanOut }, growing),
  ]);
}
