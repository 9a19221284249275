import { setTimeout as sleep } from 'node:timers/promises';
import type { Contender, RunningContender } from '../comparators/contender.ts';
import type { Pace } from '../parts/publisher.ts';
import { cpuBetween, cpuOf, total, type CpuMicros, type Parts } from './processes.ts';
import type { Cell, Table } from './report.ts';
import type { Effort } from './scenario.ts';
import type { Stand } from './stand.ts';
import { median, spread } from './statistics.ts';
import type { Workload } from './workload.ts';

/** The throughput of a contender in a period. `perMessage`: mean number of deliveries in a message, if known. */
export type Throughput = { deliveries: number; perSecond: number; cpuPerDelivery: CpuMicros; perMessage?: number };

type MeasuredRun = { workload: Workload; warmMs: number; measureMs: number };

/** Events on their way while a line is kept full: enough that nothing waits for upstream, too few to be a backlog. */
const ON_THE_WAY = 4_000;
const NOTIFY_MS = 20;
const DRAIN_LIMIT_MS = 60_000;
/** Each poll costs the process that is measured. */
const POLL_MS = 500;

/** For how long a contender runs before it is measured: services run for days, and V8 compiles in their first seconds. */
export const warmUpMs = ({ isQuick }: Pick<Effort, 'isQuick'>): number => (isQuick ? 3_000 : 30_000);

/** How long lines that are kept full warm up and are measured. */
export const fullTimes = (effort: Pick<Effort, 'isQuick'>): Omit<MeasuredRun, 'workload'> => ({
  warmMs: warmUpMs(effort),
  measureMs: effort.isQuick ? 5_000 : 8_000,
});

/** Starts the contender, does `work`, waits until its line is empty, and stops it. */
export async function withContender<T>(
  stand: Stand,
  contender: Contender,
  work: (running: RunningContender) => Promise<T>,
): Promise<T> {
  const running = await contender.start(stand);
  try {
    await stand.publisher.call('connect', running.target);
    const result = await work(running);
    await untilDrained(stand);
    await stand.publisher.call('disconnect');
    return result;
  } finally {
    await running.stop();
  }
}

/** Deliveries a second, and CPU for each, of a line that is kept full. */
export async function measureFull(stand: Stand, running: RunningContender, run: MeasuredRun): Promise<Throughput> {
  const measured = await measureAt(stand, running, { ...run, pace: { kind: 'full', onTheWay: ON_THE_WAY } });
  const perMessage = await running.perMessage?.();
  return { ...measured, ...(perMessage !== undefined && { perMessage }) };
}

/** The same at any pace: what counts is what arrives between warm-up and end. */
export async function measureAt(
  stand: Stand,
  running: RunningContender,
  { workload, warmMs, measureMs, pace }: MeasuredRun & { pace: Pace },
): Promise<Throughput> {
  const { receiver, publisher, parts } = stand;
  const before = await receiver.call('requests');
  const publishedBefore = await publisher.call('published');
  const notify = async () => {
    const arrived = (await receiver.call('requests')) - before;
    await publisher.call('delivered', publishedBefore + arrived);
  };
  const notifying = setInterval(() => void notify(), NOTIFY_MS);
  try {
    await notify();
    await publisher.call('start', { workload, pace });
    await sleep(warmMs);
    return await throughputOf(stand, { ...parts, ...running.parts }, () => sleep(measureMs));
  } finally {
    clearInterval(notifying);
    await publisher.call('stop');
  }
}

/** Watches what arrives during `period`, and what CPU it takes. */
export async function throughputOf(
  { receiver }: Stand,
  parts: Parts,
  period: () => Promise<unknown>,
): Promise<Throughput> {
  const snapshot = async () => ({
    requests: await receiver.call('requests'),
    cpu: cpuOf(parts),
    at: performance.now(),
  });
  const began = await snapshot();
  await period();
  const ended = await snapshot();
  const deliveries = ended.requests - began.requests;
  const cpu = cpuBetween(began.cpu, ended.cpu);
  return {
    deliveries,
    perSecond: deliveries / ((ended.at - began.at) / 1_000),
    cpuPerDelivery: Object.fromEntries(Object.entries(cpu).map(([part, micros]) => [part, micros / deliveries])),
  };
}

/** Resolves when nothing has arrived for a second: what is on its way then waits for a delay or an answer. */
export async function untilDrained({ receiver }: Stand): Promise<void> {
  const deadline = performance.now() + DRAIN_LIMIT_MS;
  for (let before = -1, now = await receiver.call('requests'); now !== before && performance.now() < deadline;) {
    await sleep(1_000);
    before = now;
    now = await receiver.call('requests');
  }
}

/** Polls until `figure` has come to `least`; resolves with the milliseconds that took, from where it was at `from`. */
export async function timeBetween(
  figure: () => Promise<number>,
  { from, least, limitMs }: { from: number; least: number; limitMs: number },
): Promise<number> {
  const deadline = performance.now() + limitMs;
  let beganAt = Number.NaN;
  let first = 0;
  for (; performance.now() < deadline; await sleep(POLL_MS)) {
    const now = await figure();
    if (Number.isNaN(beganAt) && now >= from) [beganAt, first] = [performance.now(), now];
    // Counts the time until `from` only: the check comes late.
    if (now >= least) return ((performance.now() - beganAt) * (least - from)) / (now - first);
  }
  throw new Error(`${least} were not reached within ${limitMs} ms`);
}

/** Returns the cost of one delivery, part by part: medians of the rounds, in µs of CPU. */
export function budgetTable(runs: ReadonlyMap<string, readonly Throughput[]>): Table {
  const costs = [...runs].map(([name, rounds]) => [name, rounds.map(({ cpuPerDelivery }) => cpuPerDelivery)] as const);
  return partsTable('CPU per delivery, µs', new Map(costs));
}

/** A figure of each part, and their sum: medians of the rounds. */
export function partsTable(
  title: string,
  runs: ReadonlyMap<string, readonly Readonly<Record<string, number>>[]>,
): Table {
  const parts = [...new Set([...runs.values()].flat().flatMap((figures) => Object.keys(figures)))];
  const rows = [...runs].map(([name, rounds]): Cell[] => [
    name,
    median(rounds.map(total)),
    ...parts.map((part) => median(rounds.map((figures) => figures[part] ?? Number.NaN))),
  ]);
  return { title, columns: ['', 'all', ...parts], rows };
}

export function throughputTable(runs: ReadonlyMap<string, readonly Throughput[]>): Table {
  return {
    title: 'Deliveries per second, median (least–most)',
    columns: ['', 'deliveries/s'],
    rows: [...runs].map(([name, rounds]) => [name, spread(rounds.map(({ perSecond }) => perSecond))]),
  };
}

/** For contenders that put several deliveries into one message. */
export function perMessageTable(runs: ReadonlyMap<string, readonly Throughput[]>): Table {
  const means = [...runs].map(([name, rounds]) => [name, rounds.flatMap(({ perMessage = [] }) => perMessage)] as const);
  return {
    title: 'Deliveries in a message, mean',
    columns: ['', 'deliveries'],
    rows: means.filter(([, each]) => each.length > 0).map(([name, each]) => [name, spread(each)]),
  };
}
