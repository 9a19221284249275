import type { Outgoing } from './messages.ts';
import type { Outcome } from './outcomes.ts';

/** What a message caused, in a word or two, for its line in the log. */
export function describeOutgoing(outgoing: Outgoing): string {
  switch (outgoing.kind) {
    case 'publish':
      return outgoing.routingKey;
    case 'outcome':
      return describeOutcome(outgoing.outcome);
    case 'reject':
      return `rejected: ${outgoing.reason}`;
  }
}

function describeOutcome(outcome: Outcome): string {
  switch (outcome.kind) {
    case 'routed':
      return ['routed', ...outcome.suppressed.map(({ reason }) => reason)].join(' ');
    case 'dropped':
    case 'rejected':
      return `${outcome.kind} ${outcome.reason}`;
    case 'delivered':
    case 'failed':
    case 'exhausted':
      return [outcome.kind, outcome.answer.status, outcome.answer.reason]
        .filter((part) => part !== undefined)
        .join(' ');
  }
}
