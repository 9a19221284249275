import { bareLine } from '../comparators/bare-line/bare-line.ts';
import { waybell } from '../comparators/waybell.ts';
import { totalOfOwn } from './cpu.ts';
import { ratios } from './in-turn.ts';
import { WINDOW_MS, type AtRate, type AtRates } from './measure-rates.ts';
import type { BarCheck } from './report.ts';
import { spread, type Spread, type WindowLatency } from './statistics.ts';
import type { Table } from './table.ts';

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
