import type { Answer, Attempted, Rejected, Routed } from '@waybell/line/outcomes';
import { firstOf, type DeliveryRow, type LogRecord } from './merging.ts';
import { dayOf } from './partitions.ts';

/** What a batch of records comes to: the rows of each table. */
export type LogRows = {
  events: (Routed | Rejected)[];
  subjects: { subject: string; at: number; event: string }[];
  deliveries: DeliveryRow[];
  attempts: Attempted[];
  bodies: { at: number; delivery: string; body: string }[];
};

export type RowsOptions = {
  /** The first day of which bodies are kept. */
  oldestBodies: number;
  /** Whether attempts may lie in the rows of their deliveries. */
  merges: boolean;
};

export function rowsOf(records: readonly LogRecord[], { oldestBodies, merges }: RowsOptions): LogRows {
  const rows: LogRows = { events: [], subjects: [], deliveries: [], attempts: [], bodies: [] };
  for (const { outcome, isRepeat } of records) {
    if (outcome.kind === 'routed' || outcome.kind === 'rejected') addEvent(rows, outcome, isRepeat);
  }
  // The first row, where an event was routed twice.
  const byGuid = new Map(merges ? rows.deliveries.toReversed().map((row) => [row.delivery, row]) : []);
  for (const record of records) {
    const { outcome } = record;
    if (outcome.kind === 'routed' || outcome.kind === 'rejected') continue;
    addBody(rows, outcome, oldestBodies);
    const row = byGuid.get(outcome.delivery);
    const first = row && firstOf(row, record);
    if (row !== undefined && first !== undefined) row.first = first;
    else rows.attempts.push(outcome);
  }
  return rows;
}

function addEvent(rows: LogRows, outcome: Routed | Rejected, isRepeat: boolean): void {
  const { at, event, interface: interfaceName, action } = outcome;
  rows.events.push(outcome);
  for (const subject of outcome.subjects) rows.subjects.push({ subject, at, event });
  if (outcome.kind === 'rejected') return;
  for (const delivery of outcome.deliveries)
    rows.deliveries.push({ ...delivery, at, event, interface: interfaceName, action, isRepeat });
}

function addBody(rows: LogRows, { at, delivery, body }: Attempted, oldestBodies: number): void {
  if (body !== undefined && dayOf(at) >= oldestBodies) rows.bodies.push({ at, delivery, body: body.toString() });
}

/** Of an attempt, or of what came instead of one. */
export function answerOf(outcome: Attempted): Partial<Answer> {
  return 'answer' in outcome ? outcome.answer : {};
}
