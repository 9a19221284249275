import { isAttempted, type Attempted, type Rejected, type Routed } from '@waybell/line/outcomes';
import type { LogRows } from '../tables.ts';
import { firstOf, type DeliveryInHand, type LogRecord } from './merging.ts';
import { dayOf } from './partitions.ts';

type LogRowsInHand = Omit<LogRows, 'deliveries'> & { deliveries: DeliveryInHand[] };

export type RowsOptions = {
  /** First day whose bodies are kept. */
  oldestBodies: number;
  /** Whether attempts may be stored in the rows of their deliveries. */
  merges: boolean;
};

/** Makes each table's rows from records. */
export function rowsOf(records: readonly LogRecord[], { oldestBodies, merges }: RowsOptions): LogRows {
  const rows: LogRowsInHand = {
    events: [],
    keys: [],
    deliveries: [],
    attempts: [],
    bodies: [],
    kept_events: [],
    deactivations: [],
  };
  for (const { outcome, isRepeat } of records) {
    if (outcome.kind === 'routed' || outcome.kind === 'rejected')
      addEvent(rows, outcome, { isRepeat, isKept: dayOf(outcome.at) >= oldestBodies });
    if (outcome.kind === 'deactivated') rows.deactivations.push(outcome);
  }
  // Chooses the first row if an event was routed twice.
  const byGuid = new Map(merges ? rows.deliveries.toReversed().map((row) => [row.delivery, row]) : []);
  for (const record of records) {
    const { outcome } = record;
    if (!isAttempted(outcome)) continue;
    addBody(rows, outcome, oldestBodies);
    const row = byGuid.get(outcome.delivery);
    const first = row && firstOf(row, record);
    if (row !== undefined && first !== undefined) row.first = first;
    else rows.attempts.push(outcome);
  }
  return rows;
}

function addEvent(
  rows: LogRowsInHand,
  outcome: Routed | Rejected,
  { isRepeat, isKept }: { isRepeat: boolean; isKept: boolean },
): void {
  const { at, event } = outcome;
  rows.events.push(outcome);
  for (const { kind, key } of outcome.keys) rows.keys.push({ kind, key, at, event });
  if (outcome.kind === 'rejected') return;
  const { interface: interfaceName, action } = outcome;
  for (const delivery of outcome.deliveries)
    rows.deliveries.push({ ...delivery, at, event, interface: interfaceName, action, isRepeat });
  const { kept } = outcome;
  if (kept === undefined || !isKept) return;
  for (const account of kept.accounts)
    rows.kept_events.push({ account, kept, at, event, interface: interfaceName, action });
}

function addBody(rows: LogRows, { at, delivery, body }: Attempted, oldestBodies: number): void {
  if (body !== undefined && dayOf(at) >= oldestBodies) rows.bodies.push({ at, delivery, body: body.toString() });
}
