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
import { AdaptiveWriter, type WriteResult } from './adaptive-writer.ts';
import { copiesOf } from './copies.ts';
import type { LogMetrics } from './log-metrics.ts';
import { partsOf, rowsOf, type LogParts } from './log-rows.ts';
import { dayOf, type Partitions } from './partitions.ts';
import { unwritten } from './unwritten.ts';

/** A record that Postgres refuses, with its error. */
export type RefusedRecord = { outcome: Outcome; reason: string };

/** Writes records. Resolves, after the commit, with the refused ones. Throws `Unavailable`. */
export type WriteOutcomes = (outcomes: readonly Outcome[]) => Promise<readonly RefusedRecord[]>;

export type WriteOptions = {
  partitions: Pick<Partitions, 'ensure' | 'lookAgain' | 'now' | 'oldest'>;
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

  /** Rows that exist stay as they are: which they are is asked only when there is one. */
  async function writeRows(parts: LogParts, copies: readonly Copy[]): Promise<void> {
    let [left, rows] = [parts, copies];
    for (let conflicts = 1; rows.length > 0; conflicts += 1) {
      try {
        return await copyAll(postgres, rows);
      } catch (error) {
        // Dropped at midnight or by hand, or missing from a restored backup: it is created again, if its day is still kept.
        if (sqlStateOf(error) === NO_PARTITION) partitions.lookAgain();
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
