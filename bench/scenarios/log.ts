import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { tableNames } from '@waybell/delivery-log/tables';
import { prepareDatabase } from '@waybell/stack/prepare';
import { beginServers } from '@waybell/stack/servers';
import { requireProgram } from '@waybell/stack/supervised-process';
import { inTurn, ratios, differences } from '../lib/in-turn.ts';
import { BATCH } from '../lib/log-records.ts';
import { startPart } from '../lib/part.ts';
import { cpuBetween, cpuOf, total } from '../lib/processes.ts';
import type { BarCheck, Table } from '../lib/report.ts';
import type { Scenario } from '../lib/scenario.ts';
import { spread } from '../lib/statistics.ts';
import type { CopierCommands } from '../parts/copier.ts';
import type { LogWriterCommands } from '../parts/log-writer.ts';
import { waybell } from '../comparators/waybell.ts';
import { unwritten, withoutLog } from '../comparators/without-log.ts';
import {
  budgetTable,
  throughputTable,
  fullTimes,
  measureFull,
  withContender,
  type Throughput,
} from '../lib/measure.ts';
import { startStand } from '../lib/stand.ts';
import { evenly, smallActionKeys } from '../lib/workload.ts';

const ATTEMPTS = 'delivery_log.attempts';

/** `count`: rows, or whole deliveries. `run` resolves with the milliseconds that they took. */
type LogTurn = { name: string; pid: number; count: number; run: () => Promise<number> };
type LogResult = { perSecond: number; cpuMicros: number; postgresMicros: number; walBytes: number };
type LogResults = ReadonlyMap<string, readonly LogResult[]>;

export const log: Scenario = {
  name: 'log',
  description:
    'attempts a second that the delivery log writes down, beside COPY of the same rows; and what a delivery costs',
  async run({ isQuick, rounds, announce }) {
    const attempts = isQuick ? 60_000 : 300_000;
    const deliveries = attempts / 4;
    await using stand = await startPostgresStand();
    const folder = mkdtempSync(join(tmpdir(), 'waybell-bench-'));
    const writer = startPart<LogWriterCommands>('parts/log-writer.ts');
    const copier = startPart<CopierCommands>('parts/copier.ts');
    try {
      await Promise.all([writer.call('connect', stand.url), copier.call('connect', stand.url)]);
      const rows = { table: ATTEMPTS, file: join(folder, 'attempts') };
      await writer.call('make', { mix: 'attempts', hundreds: attempts / BATCH });
      await writer.call('make', { mix: 'deliveries', hundreds: deliveries / BATCH });
      const write = (mix: 'attempts' | 'deliveries') => writer.call('write', mix);
      const alone = { name: 'attempts', pid: writer.pid, count: attempts, run: () => write('attempts') };
      const copied = { name: 'COPY', pid: copier.pid, count: attempts, run: () => copier.call('copy', rows) };
      const whole = { name: 'deliveries', pid: writer.pid, count: deliveries, run: () => write('deliveries') };
      announce('each once, as a process that has run for a while');
      await measure(stand, whole);
      const sizes = await sizesOf(stand);
      await measure(stand, alone);
      await copier.call('dump', rows);
      const runs = await inTurn({ contenders: [alone, copied, whole], rounds, announce }, (turn) =>
        measure(stand, turn),
      );
      return {
        workload: `Batches of ${BATCH} records, as many in hand as the service holds, written by one process: ${attempts} attempts, one in ten failed with an answer of 200 bytes; beside them COPY of the same rows into the same empty tables with the same indexes; and ${deliveries} whole deliveries, each with its event of 300 bytes, about two things and kept for one account, and one attempt with its body, written later. Postgres as it comes, every commit on disk.`,
        settings: { rounds, attempts, deliveries },
        rounds: { ...Object.fromEntries(runs), sizes },
        tables: [speedTable(runs), costTable(sizes, deliveries)],
        checks: [
          { what: 'attempts a second', figure: rateOf(runs, 'attempts'), bar: { atLeast: 90_000 } },
          {
            what: 'attempts a second, of COPY',
            figure: ratios(runs, 'attempts', 'COPY', (each) => each.perSecond),
            bar: { atLeast: 0.85 },
          },
          ...costChecks(runs, sizes, deliveries),
        ],
      };
    } finally {
      await Promise.all([writer.stop(), copier.stop()]);
      rmSync(folder, { recursive: true, force: true });
    }
  },
};

/** A Postgres of its own with the product's tables, and nothing else. */
type PostgresStand = AsyncDisposable & {
  url: string;
  /** A connection of the tables' owner. */
  postgres: pg.Pool;
  /** To ask what it has used. */
  pid(): number;
};

async function startPostgresStand(): Promise<PostgresStand> {
  const home = mkdtempSync(join(tmpdir(), 'waybell-bench-'));
  process.once('exit', () => rmSync(home, { recursive: true, force: true }));
  const { PATH = '', HOME = '' } = process.env;
  const servers = await beginServers({ home, env: { PATH, HOME }, only: ['postgres'] });
  await servers.ready('postgres');
  const url = servers.url('postgres');
  await prepareDatabase({ url });
  const server = servers.process('postgres');
  // Compiling takes longer than what it saves.
  const postgres = new pg.Pool({ connectionString: url, max: 4, options: '-c jit=off' });
  postgres.on('error', () => undefined);
  return {
    url,
    postgres,
    pid() {
      requireProgram(server.spec);
      if (server.identity === undefined) throw new Error('Postgres does not run');
      return server.identity.pid;
    },
    async [Symbol.asyncDispose]() {
      await postgres.end();
      await servers.stop();
      rmSync(home, { recursive: true, force: true });
    },
  };
}

/** Measures writes into empty tables, with nothing left to be written of what was there before: no checkpoint comes within. */
async function measure(stand: PostgresStand, { pid, count, run }: LogTurn): Promise<LogResult> {
  await stand.postgres.query(`truncate ${tableNames.map((table) => `delivery_log.${table}`).join(', ')}`);
  await stand.postgres.query('checkpoint');
  const cpu = () => cpuOf({ process: [pid], postgres: [stand.pid()] });
  const [before, walBefore] = [cpu(), await walOf(stand)];
  const ms = await run();
  const { process = 0, postgres = 0 } = cpuBetween(before, cpu());
  return {
    perSecond: (count / ms) * 1_000,
    cpuMicros: process / count,
    postgresMicros: postgres / count,
    walBytes: ((await walOf(stand)) - walBefore) / count,
  };
}

/** Bytes of the write-ahead log so far. Postgres' statistics show them seconds later. */
async function walOf({ postgres }: PostgresStand): Promise<number> {
  const { rows } = await postgres.query<{ bytes: number }>(
    `select (pg_current_wal_insert_lsn() - '0/0')::float8 as bytes`,
  );
  return rows[0]?.bytes ?? Number.NaN;
}

/** The size of a table of the log on disk, all its partitions together. */
type Size = { table: string; rows: number; heapBytes: number; indexBytes: number };

/** Counts rows by analysing the tables. */
async function sizesOf({ postgres }: PostgresStand): Promise<Size[]> {
  await postgres.query('vacuum analyze');
  const { rows } = await postgres.query<Size>(
    `select parent.relname as table, sum(part.reltuples)::float8 as rows,
       sum(pg_table_size(part.oid))::float8 as "heapBytes", sum(pg_indexes_size(part.oid))::float8 as "indexBytes"
     from pg_inherits join pg_class parent on parent.oid = inhparent join pg_class part on part.oid = inhrelid
     where parent.relnamespace = 'delivery_log'::regnamespace and parent.relkind = 'p' and part.reltuples > 0
     group by 1 order by 1`,
  );
  return rows;
}

function rateOf(runs: LogResults, name: string) {
  return spread((runs.get(name) ?? []).map((each) => each.perSecond));
}

function speedTable(runs: LogResults): Table {
  const of = (name: string, figure: (result: LogResult) => number) => spread((runs.get(name) ?? []).map(figure));
  return {
    title: 'One process writing',
    columns: ['', 'a second', 'CPU of the process, µs', 'CPU of Postgres, µs', 'WAL, bytes'],
    rows: [...runs.keys()].map((name) => [
      name,
      rateOf(runs, name),
      of(name, (each) => each.cpuMicros),
      of(name, (each) => each.postgresMicros),
      of(name, (each) => each.walBytes),
    ]),
  };
}

function costTable(sizes: readonly Size[], deliveries: number): Table {
  const all = { table: 'all', ...totalOf(sizes) };
  return {
    title: 'One delivery',
    columns: ['table', 'rows', 'bytes on disk', 'of that indexes'],
    rows: [...sizes, all].map(({ table, rows, heapBytes, indexBytes }) => [
      table,
      rows / deliveries,
      Math.round((heapBytes + indexBytes) / deliveries),
      Math.round(indexBytes / deliveries),
    ]),
  };
}

function costChecks(runs: LogResults, sizes: readonly Size[], deliveries: number): BarCheck[] {
  // Thousands have one chunk.
  const { rows } = totalOf(sizes.filter(({ table }) => table !== 'chunks' && table !== 'commits'));
  const { heapBytes, indexBytes } = totalOf(sizes);
  const wal = spread((runs.get('deliveries') ?? []).map((each) => each.walBytes));
  return [
    { what: 'rows of a delivery, without chunks', figure: rows / deliveries, bar: { atMost: 4 } },
    { what: 'WAL of a delivery, bytes', figure: wal, bar: { atMost: 1_300 } },
    { what: 'disk of a delivery, bytes', figure: (heapBytes + indexBytes) / deliveries, bar: { atMost: 1_100 } },
  ];
}

function totalOf(sizes: readonly Size[]): Omit<Size, 'table'> {
  const sumOf = (of: 'rows' | 'heapBytes' | 'indexBytes') => sizes.reduce((sum, each) => sum + each[of], 0);
  return { rows: sumOf('rows'), heapBytes: sumOf('heapBytes'), indexBytes: sumOf('indexBytes') };
}

const EVERYBODY = { from: 0, to: 100_000, actionKeys: smallActionKeys };

type LogCostResult = Throughput & { unwritten: number };

export const logCost: Scenario = {
  name: 'log-cost',
  description: 'deliveries per second and CPU of each with the delivery log, and without it',
  async run({ isQuick, rounds, announce }) {
    const times = fullTimes({ isQuick });
    const workload = evenly(EVERYBODY);
    await using stand = await startStand();
    await stand.seed(EVERYBODY, '/ok');
    const runs = await inTurn({ contenders: [waybell, withoutLog], rounds, announce }, (contender) =>
      withContender(stand, contender, async (running): Promise<LogCostResult> => {
        const throughput = await measureFull(stand, running, { workload, ...times });
        return { ...throughput, unwritten: await unwritten(stand) };
      }),
    );
    const left = (runs.get(waybell.name) ?? []).map((each) => each.unwritten);
    return {
      workload: `As in F1: ${EVERYBODY.to} subscriptions to ${smallActionKeys.length} actions, events of 300 bytes, receivers answering 200 at once; the line kept full. Without the log: its service does not run, and nothing is put into its queue.`,
      settings: { rounds, ...times },
      rounds: Object.fromEntries(runs),
      tables: [throughputTable(runs), budgetTable(runs)],
      checks: [
        {
          what: 'deliveries per second, of those without the log',
          figure: ratios(runs, waybell.name, withoutLog.name, ({ perSecond }) => perSecond),
          bar: { atLeast: 0.9 },
        },
        {
          what: 'CPU of a delivery for its log, µs',
          figure: differences(runs, waybell.name, withoutLog.name, ({ cpuPerDelivery }) => total(cpuPerDelivery)),
          bar: { atMost: 57 },
        },
        // Unwritten records would cost later.
        { what: 'batches of records not yet written at the end', figure: spread(left), bar: { atMost: 100 } },
      ],
    };
  },
};
