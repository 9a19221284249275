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

/** A record that Postgres does not take, and what it says. */
export type RefusedRecord = { outcome: Outcome; reason: string };

/**
 * Writes records down; resolves, when they are committed, with those that could not be. Throws `Unavailable`. `isRepeat`: they may
 * be there already.
 */
export type WriteOutcomes = (
  outcomes: readonly Outcome[],
  how?: { isRepeat: boolean },
) => Promise<readonly RefusedRecord[]>;

export type WriteOptions = {
  partitions: Pick<Partitions, 'ensure' | 'lookAgain' | 'oldest'>;
  figures: Pick<LogMetrics, 'written' | 'outdated'>;
  /** How long a statement may take. */
  timeoutMs: number;
  /** How long after others few batches are written: what comes meanwhile goes with them. */
  gatherMs?: number;
};

/** Batches that do not wait for more. */
const LARGEST = 100;
/** Postgres is paid by the transaction, and no reader asks for what was delivered a moment ago. The router's record may stay for a second lot. */
const GATHER_MS = 250;
/** One is made ready while Postgres writes another. */
const AT_ONCE = 2;

const NO_PARTITION = '23514';
// Classes 22 (data), 23 (constraints) and 54 (limits). Whatever else Postgres says (no disk, no right, no such table) it
// would say of any record: then none is at fault, and all of them wait.
const RECORD_AT_FAULT = /^(22|23|54)...$/;

/** Writes together what comes within a moment. */
export function writeOutcomesTo(
  postgres: Postgres,
  { partitions, figures, timeoutMs, gatherMs = GATHER_MS }: WriteOptions,
): WriteOutcomes {
  async function insert(records: readonly LogRecord[]): Promise<void> {
    const kept = records.filter(({ outcome }) => !(dayOf(outcome.at) < partitions.oldest()));
    const rowsMerging = (merges: boolean) => rowsOf(kept, { oldestBodies: partitions.oldest('bodies'), merges });
    // Before Postgres is asked: what is thrown here is the record's fault.
    const copies = copiesOf(rowsMerging(true));
    const outcomes = kept.map(({ outcome }) => outcome);
    await partitions.ensure(outcomes.map(({ at }) => at));
    if (kept.length > 0) await whenAvailable(postgres, () => writeRows(copies, () => rowsMerging(false)), isAway);
    figures.written(outcomes);
    figures.outdated(records.length - kept.length);
  }

  /** What is there already stays as it is: an attempt in the row of a delivery would be lost there. */
  async function writeRows(copies: readonly Copy[], rowsApart: () => LogRows): Promise<void> {
    try {
      if (!(await isCopied(copies))) await postgres.query(insertRows(rowsApart()));
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
