import { copyAll, isConflict, sqlStateOf, whenAvailable, type Copy, type Postgres } from '@waybell/runtime/postgres';
import { Unavailable } from '@waybell/runtime/unavailable';
import type { Outcome } from '@waybell/line/outcomes';
import { copiesOf } from './copies.ts';
import { inLots } from './in-lots.ts';
import { insertRows } from './insert-rows.ts';
import type { LogMetrics } from './log-metrics.ts';
import { rowsOf, type LogRows } from './log-rows.ts';
import { dayOf, type Partitions } from './partitions.ts';

/** A record that Postgres does not take, and what it says. */
export type Refused = { outcome: Outcome; reason: string };

/** Writes records down; resolves, when they are committed, with those that could not be. Throws `Unavailable`. */
export type WriteOutcomes = (outcomes: readonly Outcome[]) => Promise<readonly Refused[]>;

export type WriteOptions = {
  partitions: Pick<Partitions, 'ensure' | 'lookAgain' | 'oldest'>;
  figures: Pick<LogMetrics, 'written' | 'outdated'>;
  /** How long after others few batches are written: what comes meanwhile goes with them. */
  gatherMs?: number;
};

/** Batches that are written together. */
const LARGEST = 50;
/** Postgres is paid by the transaction, and nobody asks for what was delivered a moment ago. */
const GATHER_MS = 250;
/** One is made ready while Postgres writes another. */
const AT_ONCE = 2;

const NO_PARTITION = '23514';
// Classes 22 (data), 23 (constraints) and 54 (limits). Whatever else Postgres says (no disk, no right, no such table) it
// would say of any record: then none is at fault, and all of them wait.
const RECORD_AT_FAULT = /^(22|23|54)...$/;

/**
 * Writes together what comes within a moment. A record that spoils that is found by halving what was refused, until it
 * stands alone; the others are written on the way.
 */
export function writeOutcomesTo(
  postgres: Postgres,
  { partitions, figures, gatherMs = GATHER_MS }: WriteOptions,
): WriteOutcomes {
  async function insert(outcomes: readonly Outcome[]): Promise<void> {
    const kept = outcomes.filter(({ at }) => !(dayOf(at) < partitions.oldest()));
    const rows = rowsOf(kept, partitions.oldest('bodies'));
    // Before Postgres is asked: what is thrown here is the record's fault.
    const copies = copiesOf(rows);
    await partitions.ensure(kept.map(({ at }) => at));
    if (kept.length > 0) await whenAvailable(postgres, () => writeRows(rows, copies), isAway);
    figures.written(kept);
    figures.outdated(outcomes.length - kept.length);
  }

  async function writeRows(rows: LogRows, copies: readonly Copy[]): Promise<void> {
    try {
      if (!(await isCopied(copies))) await postgres.query(insertRows(rows));
    } catch (error) {
      // Dropped at midnight, or by hand, or not in the backup that was restored: it is made anew, if it is still to be.
      if (sqlStateOf(error) === NO_PARTITION) partitions.lookAgain();
      throw error;
    }
  }

  /** Not where a row is there already, which is rare. */
  async function isCopied(copies: readonly Copy[]): Promise<boolean> {
    try {
      await copyAll(postgres, copies);
      return true;
    } catch (error) {
      if (isConflict(error)) return false;
      throw error;
    }
  }

  /** Why it could not be done, if so. */
  async function tryToInsert(outcomes: readonly Outcome[]): Promise<string | undefined> {
    try {
      await insert(outcomes);
      return undefined;
    } catch (error) {
      if (error instanceof Unavailable || !(error instanceof Error)) throw error;
      return error.message;
    }
  }

  async function refusedOf(outcomes: readonly Outcome[]): Promise<Refused[]> {
    const reason = await tryToInsert(outcomes);
    if (reason === undefined) return [];
    if (outcomes.length === 1) return outcomes.map((outcome) => ({ outcome, reason }));
    const middle = Math.ceil(outcomes.length / 2);
    return [...(await refusedOf(outcomes.slice(0, middle))), ...(await refusedOf(outcomes.slice(middle)))];
  }

  async function insertBatches(batches: readonly (readonly Outcome[])[]): Promise<readonly Refused[][]> {
    const refused = await refusedOf(batches.flat());
    return batches.map((batch) => refused.filter(({ outcome }) => batch.includes(outcome)));
  }

  return inLots(insertBatches, { largest: LARGEST, gatherMs, atOnce: AT_ONCE });
}

function isAway(error: unknown): boolean {
  const state = sqlStateOf(error) ?? '';
  return state === NO_PARTITION || !RECORD_AT_FAULT.test(state);
}
