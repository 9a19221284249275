import { total } from './cpu.ts';
import type { Throughput } from './measure.ts';
import { median, spread } from './statistics.ts';
import type { Cell, Table } from './table.ts';

/** Returns the cost of one delivery, part by part: medians of the rounds, in µs of CPU. */
export function budgetTable(runs: ReadonlyMap<string, readonly Throughput[]>): Table {
  const parts = [...new Set([...runs.values()].flat().flatMap(({ cpuPerDelivery }) => Object.keys(cpuPerDelivery)))];
  const rows = [...runs].map(([name, rounds]): Cell[] => [
    name,
    median(rounds.map(({ cpuPerDelivery }) => total(cpuPerDelivery))),
    ...parts.map((part) => median(rounds.map(({ cpuPerDelivery }) => cpuPerDelivery[part] ?? Number.NaN))),
  ]);
  return { title: 'CPU per delivery, µs', columns: ['', 'all', ...parts], rows };
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
