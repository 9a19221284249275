import type { Answer, Attempted, Outcome, Rejected, Routed } from '@waybell/line/outcomes';
import { dayOf } from './partitions.ts';

/** What a batch of records comes to: the rows of each table. */
export type LogRows = {
  events: (Routed | Rejected)[];
  subjects: { subject: string; at: number; event: string }[];
  deliveries: (Routed['deliveries'][number] & Pick<Routed, 'at' | 'event' | 'interface' | 'action'>)[];
  attempts: Attempted[];
  bodies: { at: number; delivery: string; body: string }[];
};

/** `oldestBodies`: the first day of which bodies are kept. */
export function rowsOf(outcomes: readonly Outcome[], oldestBodies: number): LogRows {
  const rows: LogRows = { events: [], subjects: [], deliveries: [], attempts: [], bodies: [] };
  for (const outcome of outcomes) {
    if (outcome.kind === 'routed' || outcome.kind === 'rejected') addEvent(rows, outcome);
    else addAttempt(rows, outcome, oldestBodies);
  }
  return rows;
}

function addEvent(rows: LogRows, outcome: Routed | Rejected): void {
  const { at, event, interface: interfaceName, action } = outcome;
  rows.events.push(outcome);
  for (const subject of outcome.subjects) rows.subjects.push({ subject, at, event });
  if (outcome.kind === 'rejected') return;
  for (const delivery of outcome.deliveries)
    rows.deliveries.push({ ...delivery, at, event, interface: interfaceName, action });
}

function addAttempt(rows: LogRows, outcome: Attempted, oldestBodies: number): void {
  const { at, delivery, body } = outcome;
  rows.attempts.push(outcome);
  if (body !== undefined && dayOf(at) >= oldestBodies) rows.bodies.push({ at, delivery, body });
}

/** Of an attempt, or of what came instead of one. */
export function answerOf(outcome: Attempted): Partial<Answer> {
  return outcome.kind === 'dropped' ? { reason: outcome.reason } : outcome.answer;
}
