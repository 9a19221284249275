/**
 * Writes records as rows of the log, each once: by `copy`, in a transaction whose last statement numbers its chunks. Where some rows
 * exist already, it finds which, and writes the others.
 */
import type { Outcome } from '@waybell/line/outcomes';
import {
  copyAll,
  isConflict,
  isTooSlow,
  sqlStateOf,
  whenAvailable,
  type Copy,
  type Postgres,
  type Queryable,
} from '@waybell/runtime/postgres';
import { Unavailable } from '@waybell/runtime/unavailable';
import {
  columnNameOf,
  writerOf,
  typeOf,
  columnsOf,
  writtenTables,
  identityOf,
  type AnyPart,
  type LogRows,
  type WrittenTable,
  type TableName,
} from '../tables.ts';
import type { LogMetrics } from './log-metrics.ts';
import { partsOf, rowsOf, type LogParts } from './log-rows.ts';
import { dayOf, type Partitions } from './partitions.ts';
import { systemClock, type Clock } from '@waybell/runtime/clock';

/** A record that Postgres refuses, with its error. */
type RefusedRecord = { outcome: Outcome; reason: string };

/** Writes records. Resolves, after the commit, with the refused ones. Throws `Unavailable`. */
export type WriteOutcomes = (outcomes: readonly Outcome[]) => Promise<readonly RefusedRecord[]>;

type WriteOptions = {
  partitions: Pick<Partitions, 'ensure' | 'forgetKnown' | 'now' | 'oldest'>;
  figures: Pick<LogMetrics, 'written' | 'outdated'>;
  /** Limit of one statement. */
  timeoutMs: number;
};

/** Rows that exist are left out; others may come to exist meanwhile, which is rarer still. */
const MOST_CONFLICTS = 3;

const NO_PARTITION = '23514';
// Classes 22 (data), 23 (constraints) and 54 (limits). Postgres would give any other error (no disk, no right, no such table)
// for every record: then none is at fault, and all wait.
const RECORD_AT_FAULT = /^(22|23|54)...$/;

export function writeOutcomesTo(postgres: Postgres, { partitions, figures, timeoutMs }: WriteOptions): WriteOutcomes {
  const copiesOfParts = (parts: LogParts, at: number) => copiesOf(rowsOf(parts, partitions.oldest('chunks')), at);

  async function insert(outcomes: readonly Outcome[]): Promise<void> {
    const kept = outcomes.filter(({ at }) => !(dayOf(at) < partitions.oldest()));
    const parts = partsOf(kept);
    // Before Postgres is used: an error thrown here is the record's fault.
    const now = partitions.now();
    const copies = copiesOfParts(parts, now);
    await partitions.ensure([now, ...kept.map(({ at }) => at)]);
    await whenAvailable(postgres, () => writeRows(parts, copies), isNotOfRecord);
    figures.written(kept);
    figures.outdated(outcomes.length - kept.length);
  }

  /** Rows that exist stay as they are; only a conflict makes it find out which they are. */
  async function writeRows(parts: LogParts, copies: readonly Copy[]): Promise<void> {
    let [left, rows] = [parts, copies];
    for (let conflicts = 1; rows.length > 0; conflicts += 1) {
      try {
        return await copyAll(postgres, rows);
      } catch (error) {
        // Dropped at midnight or by hand, or missing from a restored backup: it is created again, if its day is still kept.
        if (sqlStateOf(error) === NO_PARTITION) partitions.forgetKnown();
        if (!isConflict(error) || conflicts > MOST_CONFLICTS) throw error;
      }
      left = await unwritten(postgres, left);
      rows = copiesOfParts(left, partitions.now());
    }
  }

  async function tryToInsert(outcomes: readonly Outcome[]): Promise<WriteResult> {
    try {
      await insert(outcomes);
      return { kind: 'written' };
    } catch (error) {
      if (error instanceof Unavailable && isTooSlow(error.cause)) return { kind: 'slow', error };
      if (error instanceof Unavailable || !(error instanceof Error)) throw error;
      return { kind: 'refused', reason: error.message };
    }
  }

  const fitting = new AdaptiveWriter(tryToInsert, { timeoutMs });
  return async (outcomes) => {
    const reasons = await fitting.reasonsOf(outcomes);
    return outcomes.flatMap((outcome, place) => {
      const reason = reasons[place];
      return reason === undefined ? [] : [{ outcome, reason }];
    });
  };
}

function isNotOfRecord(error: unknown): boolean {
  const state = sqlStateOf(error) ?? '';
  return state === NO_PARTITION || !RECORD_AT_FAULT.test(state);
}

/** Makes the `copy` data of these rows: it costs Postgres half as much as inserting them. `at`: when they are committed. */
export function copiesOf(rows: LogRows, at: number): Copy[] {
  const filled = writtenTables.filter((table) => rows[table].length > 0);
  const last = filled.at(-1);
  return filled.map((table) => ({
    text: table === last ? `${COPIES[table].text}${numbering(rows.chunks, at)}` : COPIES[table].text,
    data: bytesOf(table, rows),
  }));
}

type Copied = { text: string; writers: ((part: AnyPart) => string)[] };

// `fromEntries` does not type its result: `writtenTables` has every table.
const COPIES = Object.fromEntries(writtenTables.map((table) => [table, copyOf(table)])) as Record<WrittenTable, Copied>;

function copyOf(table: WrittenTable): Copied {
  const columns = Object.entries(columnsOf(table));
  return {
    text: `copy delivery_log.${table} (${columns.map(([member]) => columnNameOf(member)).join(', ')}) from stdin`,
    writers: columns.map(([, column]) => writerOf(column)),
  };
}

/** Bytes that are sent together. */
const PIECE = 2 ** 14;
/** The most bytes of one character. */
const MOST_BYTES = 3;
const [TAB, NEWLINE] = [9, 10];

/** Writes the text format of COPY: a line for each row, tabs between columns. Text that is joined first would be garbage twice. */
function bytesOf(table: WrittenTable, rows: LogRows): Buffer[] {
  const { writers } = COPIES[table];
  const pieces: Buffer[] = [];
  let [piece, at] = [Buffer.allocUnsafe(PIECE), 0];
  for (const part of rows[table]) {
    for (const write of writers) {
      const text = write(part);
      if (at + MOST_BYTES * text.length >= piece.length) {
        pieces.push(piece.subarray(0, at));
        [piece, at] = [Buffer.allocUnsafe(Math.max(PIECE, Buffer.byteLength(text) + 1)), 0];
      }
      at += piece.write(text, at);
      piece[at] = TAB;
      at += 1;
    }
    piece[at - 1] = NEWLINE;
  }
  return [...pieces, piece.subarray(0, at)];
}

/** One at a time numbers its chunks and commits, so that numbers become visible in their order. */
const ONE_COMMITS = 0x77_62_6c_63;

const NUMBERS = 'delivery_log.commit_numbers';
/** Numbers of commits of this time are compared: a sequence that was set back would number below what readers have seen. */
const LATELY_MS = 86_400_000;

/**
 * The statements that number chunks, right before the commit: a writer has the lock for no longer than they take, and waits for nothing
 * meanwhile, least of all for its client.
 */
function numbering(chunks: LogRows['chunks'], at: number): string {
  if (chunks.length === 0) return '';
  const moment = (time: number) => `'${new Date(time).toISOString()}'::timestamptz`;
  const rows = chunks.map(({ chunk, at: first, until }) => `(${chunk}::bigint, ${moment(first)}, ${moment(until)})`);
  return `;
    select pg_advisory_xact_lock(${ONE_COMMITS});
    select setval('${NUMBERS}', highest) from ${NUMBERS}, (
      select max(number) as highest from delivery_log.commits where at > ${moment(at - LATELY_MS)}) c
    where highest > last_value;
    insert into delivery_log.commits (number, at, chunk, first_at, last_at)
    select nextval('${NUMBERS}'), ${moment(at)}, * from (values ${rows.join(', ')}) c`;
}

const NAMES = ['events', 'attempts', 'deactivations'] as const satisfies (TableName & keyof LogParts)[];

const IDENTITIES = NAMES.map((table) => {
  const members = identityOf(table).map((member) => ({ member, column: columnsOf(table)[member] }));
  return {
    table,
    names: members.map(({ member }) => columnNameOf(member)),
    types: members.flatMap(({ column }) => (column === undefined ? [] : [typeOf(column.kind)])),
    writers: members.flatMap(({ column }) => (column === undefined ? [] : [writerOf(column)])),
  };
});

const WRITTEN = writtenText();

function writtenText(): { name: string; text: string } {
  let parameter = 0;
  const reads = IDENTITIES.map(({ table, names, types }) => {
    const arrays = types.map((type) => `$${(parameter += 1)}::${type}[]`);
    const columns = names.join(', ');
    return `select '${table}' as name, wanted.place::int from unnest(${arrays.join(', ')}) with ordinality as wanted (${columns}, place)
      join delivery_log.${table} using (${columns})`;
  });
  return { name: 'written', text: reads.join('\nunion all\n') };
}

/**
 * Returns the parts without rows, each once. Parts that are left out must not be stored again: they may have been erased since.
 */
async function unwritten(postgres: Queryable, parts: LogParts): Promise<LogParts> {
  const distinct = IDENTITIES.map(({ table, writers }) => {
    const each: readonly AnyPart[] = parts[table];
    const keyed = each.map((part) => ({ part, key: writers.map((write) => write(part)) }));
    return [...new Map(keyed.map((one) => [one.key.join(' '), one])).values()];
  });
  const values = IDENTITIES.flatMap(({ writers }, at) =>
    writers.map((_, column) => distinct[at]?.map(({ key }) => key[column])),
  );
  const { rows } = await postgres.query<{ name: string; place: number }>({ ...WRITTEN, values });
  const written = new Set(rows.map(({ name, place }) => `${name} ${place}`));
  const left = IDENTITIES.map(({ table }, at) => [
    table,
    distinct[at]?.filter((_, place) => !written.has(`${table} ${place + 1}`)).map(({ part }) => part),
  ]);
  // Each table's parts, fewer than before.
  return Object.fromEntries(left) as LogParts;
}

/** The result of one statement. `slow`: it exceeded its limit; `error` is the one for Postgres being away. */
export type WriteResult = { kind: 'written' } | { kind: 'refused'; reason: string } | { kind: 'slow'; error: Error };

/** A record that alone is too slow this often, while another is not, is itself at fault. */
const SLOW_TIMES = 3;
const TOO_SLOW = `takes longer than a statement may, alone, ${SLOW_TIMES} times`;

/**
 * Writes records in batches of a size that Postgres has time for. Finds a record that is refused or too slow by halving its batch
 * until the record is alone; the others are written on the way.
 */
export class AdaptiveWriter<R> {
  readonly #write: (records: readonly R[]) => Promise<WriteResult>;
  readonly #clock: Clock;
  readonly #size: BatchSize;
  #batchesWritten = 0;

  /** `timeoutMs`: the limit of one statement. */
  constructor(
    write: (records: readonly R[]) => Promise<WriteResult>,
    { timeoutMs, clock = systemClock }: { timeoutMs: number; clock?: Clock },
  ) {
    this.#write = write;
    this.#clock = clock;
    this.#size = new BatchSize(timeoutMs);
  }

  /** Writes records. Resolves with why each was not written, undefined if it was. Throws if none can be: Postgres is away. */
  reasonsOf(records: readonly R[]): Promise<(string | undefined)[]> {
    return this.#reasonsOfSome(records, records);
  }

  async #reasonsOfSome(some: readonly R[], all: readonly R[]): Promise<(string | undefined)[]> {
    const reasons: (string | undefined)[] = [];
    while (reasons.length < some.length) {
      const batch = some.slice(reasons.length, reasons.length + this.#size.most);
      reasons.push(...(await this.#reasonsOfBatch(batch, all)));
    }
    return reasons;
  }

  async #reasonsOfBatch(batch: readonly R[], all: readonly R[]): Promise<(string | undefined)[]> {
    const written = await this.#try(batch);
    if (written.kind === 'written') return batch.map(() => undefined);
    if (written.kind === 'slow') return this.#reasonsOfSlow(batch, all);
    if (batch.length === 1) return [written.reason];
    const middle = Math.ceil(batch.length / 2);
    const reasons = await this.#reasonsOfBatch(batch.slice(0, middle), all);
    return [...reasons, ...(await this.#reasonsOfBatch(batch.slice(middle), all))];
  }

  /** Writes a batch that was too slow again, in smaller ones, unless nothing can be written. */
  async #reasonsOfSlow([first, ...others]: readonly R[], all: readonly R[]): Promise<(string | undefined)[]> {
    if (first === undefined) return [];
    if (others.length === 0) return [await this.#reasonOfSlow(first, all)];
    this.#size.wasTooSlow(1 + others.length);
    // A Postgres that hangs must not be tried with each record: one alone shows it.
    const alone = await this.#try([first]);
    if (alone.kind === 'slow') await this.#assertWriting(anyOf(others), alone.error);
    const reason = alone.kind === 'slow' ? await this.#reasonOfSlow(first, all) : reasonOf(alone);
    return [reason, ...(await this.#reasonsOfSome(others, all))];
  }

  /** Finds out whether a record that was too slow alone is so again while others are not. */
  async #reasonOfSlow(record: R, all: readonly R[]): Promise<string | undefined> {
    const before = this.#batchesWritten;
    let error: Error | undefined;
    for (let times = 1; times < SLOW_TIMES; times += 1) {
      const written = await this.#try([record]);
      if (written.kind !== 'slow') return reasonOf(written);
      error = written.error;
    }
    const others = all.filter((each) => each !== record);
    if (this.#batchesWritten === before) await this.#assertWriting(anyOf(others), error);
    return TOO_SLOW;
  }

  /** Throws unless Postgres writes. Writing a record that is there already counts as writing. */
  async #assertWriting(other: R | undefined, error: Error | undefined): Promise<void> {
    if (other === undefined || (await this.#try([other])).kind === 'slow') throw error;
  }

  async #try(batch: readonly R[]): Promise<WriteResult> {
    const beganAt = this.#clock.now();
    const written = await this.#write(batch);
    if (written.kind === 'written') {
      this.#batchesWritten += 1;
      this.#size.wrote(batch.length, this.#clock.now() - beganAt);
    }
    return written;
  }
}

function reasonOf(written: Exclude<WriteResult, { kind: 'slow' }>): string | undefined {
  return written.kind === 'refused' ? written.reason : undefined;
}

/** Not always the same one, which may itself be too slow. */
function anyOf<R>(records: readonly R[]): R | undefined {
  return records[Math.floor(Math.random() * records.length)];
}

/** Share of the limit within which a batch is quick: after one that was slower, batches do not grow. */
const QUICK_SHARE = 1 / 2;
const GROWTH = 1.25;

/** Size of a batch: halves after one that was too slow, and grows again while there is time. */
class BatchSize {
  readonly #quickMs: number;
  #most = Infinity;

  /** `timeoutMs`: the limit of a batch. */
  constructor(timeoutMs: number) {
    this.#quickMs = timeoutMs * QUICK_SHARE;
  }

  get most(): number {
    return this.#most;
  }

  wrote(records: number, tookMs: number): void {
    if (records >= this.#most && tookMs <= this.#quickMs) this.#most = Math.ceil(this.#most * GROWTH);
  }

  wasTooSlow(records: number): void {
    this.#most = Math.max(1, Math.floor(Math.min(records, this.#most) / 2));
  }
}
