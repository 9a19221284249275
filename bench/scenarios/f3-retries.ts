import { setTimeout as sleep } from 'node:timers/promises';
import { waybell } from '../comparators/waybell.ts';
import { withContender } from '../lib/measure.ts';
import type { Cell, Table } from '../lib/report.ts';
import type { Scenario } from '../lib/scenario.ts';
import { startStand, type Stand } from '../lib/stand.ts';
import type { Group, Workload } from '../lib/workload.ts';
import type { Retries } from '../parts/receiver.ts';

/** Subscribers whose first attempts fail, so many that each of these delays is waited out. */
type FailingGroup = Group & { actionKey: string; retryDelaysMs: readonly number[] };

const CARRIERS = failing({ from: 0, to: 5_000 }, 'carrier.order.created', [1_000, 2_000, 4_000]);
const SHIPPERS = failing({ from: 5_000, to: 10_000 }, 'shipper.order.paid', [60_000]);
const STEADY = [
  { ...CARRIERS, retriesPerSecond: 500 },
  { ...SHIPPERS, retriesPerSecond: 100 },
];
const BURST = [{ ...CARRIERS, retriesPerSecond: 3_000 }];
const BURST_MS = 10_000;
/** How long after its delay a retry is waited for. */
const PATIENCE_MS = 30_000;
const POLL_MS = 200;

export const retries: Scenario = {
  name: 'F3',
  description: 'how late retries are, and that many of them stall nothing',
  async run({ isQuick, announce }) {
    const [warmMs, steadyMs] = isQuick ? [3_000, 8_000] : [6_000, 30_000];
    const steadyLoads = isQuick ? STEADY.slice(0, 1) : STEADY;
    await using stand = await startStand();
    await stand.seed(CARRIERS, `/fail/${CARRIERS.retryDelaysMs.length}/carrier`);
    await stand.seed(SHIPPERS, `/fail/${SHIPPERS.retryDelaysMs.length}/shipper`);
    return await withContender(stand, waybell, async () => {
      announce('retries at a steady rate');
      await stand.publisher.call('start', paceOf(steadyLoads));
      await sleep(warmMs);
      await stand.publisher.call('stop');
      const steady = await retriesOf(stand, steadyLoads, steadyMs);
      announce('a burst of retries');
      const burst = await retriesOf(stand, BURST, BURST_MS);
      const all = [...steady.retries, ...burst.retries];
      return {
        workload: `${describe(steadyLoads)}, for ${steadyMs / 1_000} s; then ${describe(BURST)}, for ${BURST_MS / 1_000} s. A retry is late by what the receiver counts beyond its delay, from its answer to the attempt before; it is infinitely late when it has not come ${PATIENCE_MS / 1_000} s after the delays of the last event.`,
        settings: { warmMs, steadyMs, burstMs: BURST_MS, patienceMs: PATIENCE_MS },
        rounds: { steady: [steady], burst: [burst] },
        tables: [latenessTable('Steady: lateness, ms', steady), latenessTable('Burst: lateness, ms', burst)],
        checks: [
          {
            what: 'steady: lateness p99, ms',
            figure: worstOf(steady, ({ lateness }) => lateness.p99),
            bar: { atMost: 50 },
          },
          {
            what: 'the earliest retry, ms before its time',
            figure: Math.max(0, ...all.map(({ lateness }) => -lateness.min)),
            bar: { atMost: 0 },
          },
          { what: 'burst: retries that came, of those expected', figure: shareThatCame(burst), bar: { atLeast: 1 } },
          { what: 'burst: longest silence, ms', figure: burst.longestSilenceMs, bar: { atMost: 1_000 } },
        ],
      };
    });
  },
};

type Load = FailingGroup & { retriesPerSecond: number };
type RetryOutcome = { retries: Retries[]; longestSilenceMs: number };

/** Publishes as many events as make these retries, and waits until all came, or long enough. */
async function retriesOf({ receiver, publisher }: Stand, loads: readonly Load[], forMs: number): Promise<RetryOutcome> {
  const publishedOf = () => Promise.all(loads.map(({ actionKey }) => publisher.call('publishedOf', actionKey)));
  const before = await publishedOf();
  await receiver.call('time');
  await publisher.call('start', paceOf(loads));
  await sleep(forMs);
  await publisher.call('stop');
  const after = await publishedOf();
  const expected = new Map(
    loads.flatMap(({ retryDelaysMs }, at) => retryDelaysMs.map((delayMs) => [delayMs, after[at]! - before[at]!])),
  );
  // A few of the warm-up's may come, too, for each delay.
  const areAllThere = (came: ReadonlyMap<number, number>) =>
    [...expected].every(([delayMs, count]) => (came.get(delayMs) ?? 0) >= count);
  const deadline = performance.now() + longestWaitMs(loads) + PATIENCE_MS;
  while (!areAllThere(await receiver.call('retriesCame')) && performance.now() < deadline) await sleep(POLL_MS);
  const { longestSilenceMs } = await receiver.call('received');
  return { retries: await receiver.call('retries', expected), longestSilenceMs };
}

function paceOf(loads: readonly Load[]): { workload: Workload; pace: { kind: 'rate'; perSecond: number } } {
  const events = loads.map(({ retriesPerSecond, retryDelaysMs }) => retriesPerSecond / retryDelaysMs.length);
  const perSecond = events.reduce((sum, count) => sum + count, 0);
  const groups = loads.map((load, at) => ({ ...load, weight: events[at]! / perSecond }));
  return { workload: { groups }, pace: { kind: 'rate', perSecond } };
}

function longestWaitMs(loads: readonly Load[]): number {
  return Math.max(...loads.map(({ retryDelaysMs }) => retryDelaysMs.reduce((sum, delayMs) => sum + delayMs, 0)));
}

function worstOf({ retries: of }: RetryOutcome, figure: (of: Retries) => number): number {
  return Math.max(...of.map(figure));
}

function shareThatCame({ retries: of }: RetryOutcome): number {
  return Math.min(...of.map(({ came, expected }) => came / expected));
}

function describe(loads: readonly Load[]): string {
  return loads
    .map(({ retriesPerSecond, retryDelaysMs }) => {
      const delays = retryDelaysMs.map((delayMs) => delayMs / 1_000).join(', ');
      return `${retriesPerSecond} retries a second after ${delays} s`;
    })
    .join(' and ');
}

function latenessTable(title: string, { retries: of }: RetryOutcome): Table {
  const rows = of.map(({ delayMs, expected, came, lateness }): Cell[] => {
    const { min, p50, p99, max } = lateness;
    return [`${delayMs / 1_000} s`, expected, came, min, p50, p99, max];
  });
  return { title, columns: ['after', 'expected', 'came', 'least', 'p50', 'p99', 'most'], rows };
}

function failing(
  numbers: Pick<Group, 'from' | 'to'>,
  actionKey: string,
  retryDelaysMs: readonly number[],
): FailingGroup {
  return { ...numbers, actionKeys: [actionKey], actionKey, retryDelaysMs };
}
