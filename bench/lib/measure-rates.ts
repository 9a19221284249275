import { setTimeout as sleep } from 'node:timers/promises';
import { bareLine } from '../comparators/bare-line/bare-line.ts';
import type { RunningContender } from '../comparators/contender.ts';
import { waybell } from '../comparators/waybell.ts';
import { ratios } from './in-turn.ts';
import { throughputOf, warmUpMs, type Throughput } from './measure.ts';
import { wakeUpsBetween, wakeUpsOf, totalOfOwn } from './processes.ts';
import type { BarCheck, Table } from './report.ts';
import type { Effort } from './scenario.ts';
import { countsPer, readServerCounts, REPORTED_AFTER_MS, type ServerCounts } from './server-counts.ts';
import type { Stand } from './stand.ts';
import { overWindows, spread, type Summary, type WindowLatency, type Spread } from './statistics.ts';
import type { Workload } from './workload.ts';

/** A contender at an even rate. Latency in ms. */
export type AtRate = Throughput & {
  latency: WindowLatency;
  /** Counts of the servers for a delivery. */
  counts: ServerCounts;
  /** Wake-ups of each part for a delivery. */
  wakeUps: Record<string, number>;
};

/** Results by the rate, in events a second. */
export type AtRates = Record<number, AtRate>;

type RateTimes = {
  /** After the start of a contender. */
  warmMs: number;
  /** After a change of rate: until idle sessions have reported to Postgres what they did before, where the run is not quick. */
  settleMs: number;
  measureMs: number;
};

type Rates = { workload: Workload; rates: readonly number[]; times: RateTimes };

/** Long enough for 20 deliveries at 10 a second, short enough that a stall of the machine disturbs one window of many. */
const WINDOW_MS = 2_000;

/** `quickMs`: how long each rate is measured where the run is quick. */
export function rateTimes({ isQuick }: Pick<Effort, 'isQuick'>, quickMs: number): RateTimes {
  return {
    warmMs: warmUpMs({ isQuick }),
    settleMs: isQuick ? 3_000 : REPORTED_AFTER_MS,
    measureMs: isQuick ? quickMs : 60_000,
  };
}

/** Measures a contender, which has just been started, at one rate after the other: begin with the highest, as it warms up best. */
export async function measureRates(
  stand: Stand,
  running: RunningContender,
  { workload, rates, times }: Rates,
): Promise<AtRates> {
  const measured: AtRates = {};
  for (const [place, perSecond] of rates.entries()) {
    await stand.publisher.call('start', { workload, pace: { kind: 'rate', perSecond } });
    await sleep(place === 0 ? times.warmMs : times.settleMs);
    measured[perSecond] = await measureNow(stand, running, times.measureMs);
    await stand.publisher.call('stop');
  }
  return measured;
}

async function measureNow(stand: Stand, running: RunningContender, measureMs: number): Promise<AtRate> {
  const parts = { ...stand.parts, ...running.parts };
  const count = async () => ({
    servers: await readServerCounts(stand.stack, stand.postgres),
    requests: await stand.receiver.call('requests'),
  });
  const began = await count();
  const asleep = wakeUpsOf(parts);
  const windows: Summary[] = [];
  const throughput = await throughputOf(stand, parts, async () => {
    for (let ms = 0; ms < measureMs; ms += WINDOW_MS) windows.push(await timeWindow(stand));
  });
  const woken = Object.entries(wakeUpsBetween(asleep, wakeUpsOf(parts)));
  const ended = await count();
  return {
    ...throughput,
    latency: overWindows(windows),
    counts: countsPer(ended.requests - began.requests, began.servers, ended.servers),
    wakeUps: Object.fromEntries(woken.map(([part, wakeUps]) => [part, wakeUps / throughput.deliveries])),
  };
}

async function timeWindow({ receiver }: Stand): Promise<Summary> {
  await receiver.call('time');
  await sleep(WINDOW_MS);
  return (await receiver.call('received')).latency;
}

/** Results of Waybell and of the bare line, by their names, of each round. */
export type RatesInTurn = ReadonlyMap<string, readonly AtRates[]>;

type FigureAtRate = { what: string; of: (result: AtRate) => number };

export const P50: FigureAtRate = { what: 'p50', of: ({ latency }) => latency.p50 };
export const P99: FigureAtRate = { what: 'p99', of: ({ latency }) => latency.p99 };
/** In µs. */
export const OWN_CPU: FigureAtRate = {
  what: 'CPU per delivery, receiver and publisher aside',
  of: ({ cpuPerDelivery }) => totalOfOwn(cpuPerDelivery),
};

/** The results at one of the rates, by contender. */
export function at(perSecond: number, runs: RatesInTurn): Map<string, AtRate[]> {
  return new Map([...runs].map(([name, rounds]) => [name, rounds.flatMap((rates) => rates[perSecond] ?? [])]));
}

/** The results at all rates, each contender beside the other: rows of a table. */
export function byRate(rates: readonly number[], runs: RatesInTurn): Map<string, AtRate[]> {
  return new Map(
    rates.flatMap((rate) => [...at(rate, runs)].map(([name, results]) => [`${rate}/s: ${name}`, results] as const)),
  );
}

/** A figure of Waybell at one of the rates. */
export function ofWaybell(runs: RatesInTurn, perSecond: number, { of }: FigureAtRate): Spread {
  return spread((at(perSecond, runs).get(waybell.name) ?? []).map(of));
}

/** The same as a multiple of the bare line's in the same round. */
export function timesBareLine(runs: RatesInTurn, perSecond: number, { of }: FigureAtRate): Spread {
  return ratios(at(perSecond, runs), waybell.name, bareLine.name, of);
}

/** A figure of Waybell at one of the rates that may be so many times the bare line's. */
export function barBesideBareLine(
  runs: RatesInTurn,
  perSecond: number,
  figure: FigureAtRate,
  atMost: number,
): BarCheck {
  return {
    what: `at ${perSecond} a second: ${figure.what}, times the bare line`,
    figure: timesBareLine(runs, perSecond, figure),
    bar: { atMost },
  };
}

export function latencyTable(rows: ReadonlyMap<string, readonly AtRate[]>): Table {
  const figures = (rounds: readonly AtRate[], of: (latency: WindowLatency) => number) =>
    spread(rounds.map(({ latency }) => of(latency)));
  return {
    title: `Latency, ms (medians over windows of ${WINDOW_MS / 1_000} s, and the longest of all)`,
    columns: ['', 'p50', 'p99', 'longest'],
    rows: [...rows].map(([name, rounds]) => [
      name,
      figures(rounds, ({ p50 }) => p50),
      figures(rounds, ({ p99 }) => p99),
      figures(rounds, ({ longest }) => longest),
    ]),
  };
}
