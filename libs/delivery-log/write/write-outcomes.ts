import {
  copyAll,
  isConflict,
  isTooSlow,
  sqlStateOf,
  whenAvailable,
  type Copy,
  type Postgres,
} from '@waybell/runtime/postgres';
import { Unavailable } from '@waybell/runtime/unavailable';
import type { Outcome } from '@waybell/line/outcomes';
import { copiesOf } from './copies.ts';
import { inLots } from './in-lots.ts';
import { insertRows } from './insert-rows.ts';
import type { LogMetrics } from './log-metrics.ts';
import type { LogRows } from '../tables.ts';
import { rowsOf } from './log-rows.ts';
import { incomplete, type LogRecord } from './merging.ts';
import { dayOf, type Partitions } from './partitions.ts';
import { AdaptiveWriter, type WriteResult } from './adaptive-writer.ts';

/** A record that Postgres refuses, with its error. */
export type RefusedRecord = { outcome: Outcome; reason: string };

/**
 * Writes records. Resolves, after the commit, with the refused ones. Throws `Unavailable`. `isRepeat`: the records may be written
 * already.
 */
export type WriteOutcomes = (
  outcomes: readonly Outcome[],
  how?: { isRepeat: boolean },
) => Promise<readonly RefusedRecord[]>;

export type WriteOptions = {
  partitions: Pick<Partitions, 'ensure' | 'lookAgain' | 'oldest'>;
  figures: Pick<LogMetrics, 'written' | 'outdated'>;
  /** Limit of one statement. */
  timeoutMs: number;
  /** Pause after other batches before a small one is written, to gather more. */
  gatherMs?: number;
};

/** Size of a batch that is written at once. */
const LARGEST = 100;
/**
 * Postgres' cost is per transaction, and nobody reads what was delivered a moment ago. The router's record may stay for a second
 * batch.
 */
const GATHER_MS = 250;
/** One batch is prepared while Postgres writes another. */
const AT_ONCE = 2;

const NO_PARTITION = '23514';
// Classes 22 (data), 23 (constraints) and 54 (limits). Postgres would give any other error (no disk, no right, no such table)
// for every record: then none is at fault, and all wait.
const RECORD_AT_FAULT = /^(22|23|54)...$/;

/** Batches records that come within a moment. */
export function writeOutcomesTo(
  postgres: Postgres,
  { partitions, figures, timeoutMs, gatherMs = GATHER_MS }: WriteOptions,
): WriteOutcomes {
  async function insert(records: readonly LogRecord[]): Promise<void> {
    const kept = records.filter(({ outcome }) => !(dayOf(outcome.at) < partitions.oldest()));
    const rowsMerging = (merges: boolean) => rowsOf(kept, { oldestBodies: partitions.oldest('bodies'), merges });
    // Before Postgres is used: an error thrown here is the record's fault.
    const copies = copiesOf(rowsMerging(true));
    const outcomes = kept.map(({ outcome }) => outcome);
    await partitions.ensure(outcomes.map(({ at }) => at));
    if (kept.length > 0) await whenAvailable(postgres, () => writeRows(copies, () => rowsMerging(false)), isAway);
    figures.written(outcomes);
    figures.outdated(records.length - kept.length);
  }

  /** Rows that exist stay as they are: an attempt merged into the row of such a delivery would be lost. */
  async function writeRows(copies: readonly Copy[], rowsApart: () => LogRows): Promise<void> {
    try {
      if (!(await isCopied(copies))) await postgres.query(insertRows(rowsApart()));
    } catch (error) {
      // Dropped at midnight or by hand, or missing from a restored backup: it is created again, if its day is still kept.
      if (sqlStateOf(error) === NO_PARTITION) partitions.lookAgain();
      throw error;
    }
  }

  /** False if a row exists already, which is rare. */
  async function isCopied(copies: readonly Copy[]): Promise<boolean> {
    try {
      await copyAll(postgres, copies);
      return true;
    } catch (error) {
      if (isConflict(error)) return false;
      throw error;
    }
  }

  async function tryToInsert(records: readonly LogRecord[]): Promise<WriteResult> {
    try {
      await insert(records);
      return { kind: 'written' };
    } catch (error) {
      if (error instanceof Unavailable && isTooSlow(error.cause)) return { kind: 'slow', error };
      if (error instanceof Unavailable || !(error instanceof Error)) throw error;
      return { kind: 'refused', reason: error.message };
    }
  }

  const fitting = new AdaptiveWriter(tryToInsert, { timeoutMs });
  const reasonsOf = (records: readonly LogRecord[]) => fitting.reasonsOf(records);
  const writeRecords = inLots(reasonsOf, { largest: LARGEST, gatherMs, atOnce: AT_ONCE, stay: incomplete });

  return async (outcomes, { isRepeat } = { isRepeat: false }) => {
    const reasons = await writeRecords(outcomes.map((outcome) => ({ outcome, isRepeat })));
    return outcomes.flatMap((outcome, place) => {
      const reason = reasons[place];
      return reason === undefined ? [] : [{ outcome, reason }];
    });
  };
}

function isAway(error: unknown): boolean {
  const state = sqlStateOf(error) ?? '';
  return state === NO_PARTITION || !RECORD_AT_FAULT.test(state);
}
