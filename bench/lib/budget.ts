import { total } from './processes.ts';
import type { Throughput } from './measure.ts';
import { median, spread } from './statistics.ts';
import type { Cell, Table } from './report.ts';

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
