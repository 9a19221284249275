import { setTimeout as sleep } from 'node:timers/promises';
import { bareLine } from '../comparators/bare-line/bare-line.ts';
import type { RunningContender } from '../comparators/contender.ts';
import { waybell } from '../comparators/waybell.ts';
import { budgetTable } from '../lib/budget.ts';
import { inTurn, ratios } from '../lib/in-turn.ts';
import { throughputOf, withContender, type Throughput } from '../lib/measure.ts';
import type { Table } from '../lib/table.ts';
import type { Scenario } from '../lib/scenario.ts';
import { startStand } from '../lib/stand.ts';
import { spread, type Summary } from '../lib/statistics.ts';
import { evenly, smallActionKeys } from '../lib/workload.ts';

const EVERYBODY = { from: 0, to: 100_000, actionKeys: smallActionKeys };
const EVENTS_PER_SECOND = 500;
/** Few enough that every process finds a core free. */
const FEW_PER_SECOND = 100;

type Timed = Throughput & { latency: Summary };
type Rates = { many: Timed; few: Timed };

export const latency: Scenario = {
  name: 'F2',
  description: 'from publish to callback at 500 events a second, beside a bare line',
  async run({ isQuick, rounds, tell }) {
    const [warmMs, measureMs] = isQuick ? [3_000, 6_000] : [5_000, 12_000];
    const workload = evenly(EVERYBODY);
    await using stand = await startStand();
    const { receiver, publisher } = stand;
    await stand.seed(EVERYBODY, '/ok');
    const measureAt = async (perSecond: number, { parts }: RunningContender): Promise<Timed> => {
      await publisher.call('start', { workload, pace: { kind: 'rate', perSecond } });
      await sleep(warmMs);
      await receiver.call('time');
      const throughput = await throughputOf(stand, { ...stand.parts, ...parts }, measureMs);
      const received = await receiver.call('received');
      await publisher.call('stop');
      return { ...throughput, latency: received.latency };
    };
    const runs = await inTurn({ contenders: [waybell, bareLine], rounds, tell }, (contender) =>
      withContender(stand, contender, async (running): Promise<Rates> => {
        const many = await measureAt(EVENTS_PER_SECOND, running);
        return { many, few: await measureAt(FEW_PER_SECOND, running) };
      }),
    );
    const [many, few] = [at('many', runs), at('few', runs)];
    const against = (figure: (summary: Summary) => number) =>
      ratios(many, waybell.name, bareLine.name, (timed) => figure(timed.latency));
    return {
      workload: `${EVENTS_PER_SECOND} events a second, evenly, then ${FEW_PER_SECOND}; from the moment when an event was to be sent until its callback arrives.`,
      settings: { rounds, warmMs, measureMs },
      rounds: Object.fromEntries(runs),
      tables: [
        latencyTable('Latency, ms', many),
        budgetTable(many),
        latencyTable(`Latency at ${FEW_PER_SECOND} a second, ms`, few),
      ],
      checks: [
        { what: 'p50, times the bare line', figure: against(({ p50 }) => p50), bar: { atMost: 1.5 } },
        { what: 'p99, times the bare line', figure: against(({ p99 }) => p99), bar: { atMost: 2 } },
      ],
    };
  },
};

function at(which: keyof Rates, runs: ReadonlyMap<string, readonly Rates[]>): Map<string, Timed[]> {
  return new Map([...runs].map(([name, all]) => [name, all.map((rates) => rates[which])]));
}

function latencyTable(title: string, runs: ReadonlyMap<string, readonly Timed[]>): Table {
  return {
    title,
    columns: ['', 'p50', 'p99', 'longest'],
    rows: [...runs].map(([name, all]) => [
      name,
      spread(all.map((timed) => timed.latency.p50)),
      spread(all.map((timed) => timed.latency.p99)),
      spread(all.map((timed) => timed.latency.max)),
    ]),
  };
}
