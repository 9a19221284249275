import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { tableNames } from '@waybell/delivery-log/tables';
import { cpuBetween, cpuOf } from '../lib/cpu.ts';
import { inTurn, ratios } from '../lib/in-turn.ts';
import { BATCH } from '../lib/log-records.ts';
import { logSizes, type Size } from '../lib/log-sizes.ts';
import { startPart } from '../lib/part.ts';
import { startPostgresStand, type PostgresStand } from '../lib/postgres-stand.ts';
import type { Table } from '../lib/table.ts';
import type { Scenario } from '../lib/scenario.ts';
import { spread } from '../lib/statistics.ts';
import type { CopierCommands } from '../parts/copier.ts';
import type { LogWriterCommands } from '../parts/log-writer.ts';

const ATTEMPTS = 'delivery_log.attempts';

/** `count`: rows, or whole deliveries. `run` resolves with the milliseconds that they took. */
type LogTurn = { name: string; pid: number; count: number; run: () => Promise<number> };
type LogResult = { perSecond: number; cpuMicros: number; postgresMicros: number };
type LogResults = ReadonlyMap<string, readonly LogResult[]>;

export const log: Scenario = {
  name: 'log',
  description: 'attempts a second that the delivery log writes down, beside COPY of the same rows',
  async run({ isQuick, rounds, tell }) {
    const attempts = isQuick ? 60_000 : 300_000;
    const deliveries = attempts / 4;
    await using stand = await startPostgresStand();
    const folder = mkdtempSync(join(tmpdir(), 'waybell-bench-'));
    const writer = startPart<LogWriterCommands>('parts/log-writer.ts');
    const copier = startPart<CopierCommands>('parts/copier.ts');
    try {
      await Promise.all([writer.call('connect', stand.url), copier.call('connect', stand.url)]);
      const rows = { table: ATTEMPTS, file: join(folder, 'attempts') };
      await writer.call('make', { mix: 'attempts', batches: attempts / BATCH });
      await writer.call('make', { mix: 'deliveries', batches: (deliveries * 2) / BATCH });
      const write = (mix: 'attempts' | 'deliveries') => writer.call('write', mix);
      const alone = { name: 'attempts', pid: writer.pid, count: attempts, run: () => write('attempts') };
      const copied = { name: 'COPY', pid: copier.pid, count: attempts, run: () => copier.call('copy', rows) };
      const whole = { name: 'deliveries', pid: writer.pid, count: deliveries, run: () => write('deliveries') };
      tell('each once, as a process that has run for a while');
      await take(stand, whole);
      const sizes = await sizesOf(stand);
      await take(stand, alone);
      await copier.call('dump', rows);
      const runs = await inTurn({ contenders: [alone, copied, whole], rounds, tell }, (turn) => take(stand, turn));
      return {
        workload: `Batches of ${BATCH} records, as many in hand as the service holds, written by one process: ${attempts} attempts, one in ten failed with an answer of 200 bytes; beside them COPY of the same rows into the same empty tables with the same indexes; and ${deliveries} whole deliveries, each with its event's verdict, about two things, its attempt and its body of 300 bytes. Postgres as it comes, every commit on disk.`,
        settings: { rounds, attempts, deliveries },
        rounds: { ...Object.fromEntries(runs), sizes },
        tables: [speedTable(runs), sizesTable(sizes, deliveries)],
        checks: [
          { what: 'attempts a second', figure: perSecond(runs, 'attempts'), bar: { atLeast: 20_000 } },
          {
            what: 'attempts a second, of COPY',
            figure: ratios(runs, 'attempts', 'COPY', (each) => each.perSecond),
            bar: { atLeast: 0.85 },
          },
        ],
      };
    } finally {
      await Promise.all([writer.stop(), copier.stop()]);
      rmSync(folder, { recursive: true, force: true });
    }
  },
};

/** Into empty tables, and with nothing left to be written of what was there before. */
async function take(stand: PostgresStand, { pid, count, run }: LogTurn): Promise<LogResult> {
  await stand.postgres.query(`truncate ${tableNames.map((table) => `delivery_log.${table}`).join(', ')}`);
  await stand.postgres.query('checkpoint');
  const cpu = () => cpuOf({ process: [pid], postgres: [stand.pid()] });
  const before = cpu();
  const ms = await run();
  const { process = 0, postgres = 0 } = cpuBetween(before, cpu());
  return { perSecond: (count / ms) * 1_000, cpuMicros: process / count, postgresMicros: postgres / count };
}

async function sizesOf({ postgres }: PostgresStand): Promise<Size[]> {
  await postgres.query('vacuum analyze');
  return logSizes(postgres);
}

function perSecond(runs: LogResults, name: string) {
  return spread((runs.get(name) ?? []).map((each) => each.perSecond));
}

function speedTable(runs: LogResults): Table {
  const of = (name: string, figure: (result: LogResult) => number) => spread((runs.get(name) ?? []).map(figure));
  return {
    title: 'One process writing',
    columns: ['', 'a second', 'CPU of the process, µs', 'CPU of Postgres, µs'],
    rows: [...runs.keys()].map((name) => [
      name,
      perSecond(runs, name),
      of(name, (each) => each.cpuMicros),
      of(name, (each) => each.postgresMicros),
    ]),
  };
}

function sizesTable(sizes: readonly Size[], deliveries: number): Table {
  const per = (bytes: number) => Math.round(bytes / deliveries);
  return {
    title: 'On disk, bytes per delivery',
    columns: ['table', 'all', 'of that indexes'],
    rows: sizes.map(({ table, heapBytes, indexBytes }) => [table, per(heapBytes + indexBytes), per(indexBytes)]),
  };
}
