import type { Log } from '@waybell/runtime/log';
import type { Member, Report } from './hand-over/state.ts';
import { isRejection, type Message, type Outgoing, type Rejection } from './messages.ts';
import { isAttempted, whyOf, type Outcome } from './outcomes.ts';
import { lineMetrics, type LineMetrics } from './line-metrics.ts';
import type { Metrics } from '@waybell/runtime/metrics';
import { traceIdOf } from '@waybell/runtime/traceparent';

type ReportedStep<M> = {
  name: string;
  /** Returns ids of the message for its log line; never a body. */
  describe: (message: M) => Record<string, unknown>;
};
type StepReportOptions = { log: Log; metrics: Metrics; held: () => number };

/**
 * Counts and logs the results of a step's messages. Successes are logged at debug level: the delivery log has them, and two lines
 * per delivery would be most of what the services log.
 */
export class StepReport<M> {
  readonly #step: ReportedStep<M>;
  readonly #log: Log;
  readonly #metrics: LineMetrics;

  constructor(step: ReportedStep<M>, { log, metrics, held }: StepReportOptions) {
    this.#step = step;
    this.#log = log;
    this.#metrics = lineMetrics(metrics);
    this.#metrics.watchHeld(step.name, held);
  }

  /** Counts a published batch of this many deliveries. */
  batched(members: number): void {
    this.#metrics.sentBatch(this.#step.name, members);
  }

  /** `durationOf`: milliseconds since the message was taken. */
  record(report: Report<M>, durationOf: (member: Member<M>) => number): void {
    const { name } = this.#step;
    switch (report.kind) {
      case 'handled':
        return this.#handled(report.members, durationOf);
      case 'rejected':
        return this.#rejected(report.message, report.rejection);
      case 'failed':
        // The handler threw. The message goes to the suspects lane, or is rejected.
        return this.#log.error({ err: report.error, ...facts(report.message) }, 'message.failed');
      case 'put aside': {
        const { crashes = 0 } = report.message;
        this.#metrics.left(name, 'suspected');
        return this.#log.warn({ ...facts(report.message), crashes }, 'message.suspected');
      }
      case 'given back':
        return this.#metrics.left(name, 'given_back');
      case 'stuck':
        this.#metrics.left(name, 'given_back');
        return this.#log.error({ err: report.error, ...facts(report.message) }, 'message.given-back');
    }
  }

  #handled(members: readonly Member<M>[], durationOf: (member: Member<M>) => number): void {
    const { name } = this.#step;
    let handled = 0;
    let repeated = 0;
    for (const member of members) {
      const { message, caused, isRepeat } = member;
      for (const outgoing of caused) if (outgoing.kind === 'outcome') this.#metrics.ended(outgoing.outcome);
      const rejection = caused.find(isRejection);
      if (rejection !== undefined) {
        this.#rejected(message, rejection);
        continue;
      }
      if (isRepeat) repeated += 1;
      else handled += 1;
      const durationMs = durationOf(member);
      this.#metrics.took(name, durationMs, message.isTraced ? traceIdOf(message.traceparent) : undefined);
      this.#logHandled(member, durationMs);
    }
    if (handled > 0) this.#metrics.left(name, 'handled', handled);
    if (repeated > 0) this.#metrics.left(name, 'repeated', repeated);
  }

  #logHandled({ message, parsed, caused }: Member<M>, durationMs: number): void {
    const level = caused.some(isMissed) ? 'info' : 'debug';
    if (!this.#log.isLevelEnabled(level)) return;
    // A handled message has been parsed.
    const of = { queue: message.queue, ...this.#step.describe(parsed as M), ...traceOf(message) };
    const what = caused.map(describeOutgoing);
    this.#log[level]({ ...of, caused: what, ms: Math.round(durationMs) }, 'message.handled');
  }

  #rejected(message: Message, { reason, detail }: Rejection): void {
    const { queue, messageId } = message;
    this.#metrics.left(this.#step.name, 'rejected');
    this.#log.warn({ queue, messageId, reason, detail, ...traceOf(message) }, 'message.rejected');
  }
}

function facts(message: Message): Record<string, unknown> {
  const { queue, messageId, failures } = message;
  return { queue, messageId, failures, ...traceOf(message) };
}

/** Returns the trace id, under OpenTelemetry's name for logs. */
function traceOf({ traceparent }: Message): { trace_id?: string } {
  const traceId = traceIdOf(traceparent);
  return traceId === undefined ? {} : { trace_id: traceId };
}

/** True for a record of an attempt that did not deliver. */
function isMissed(outgoing: Outgoing): boolean {
  return outgoing.kind === 'outcome' && isAttempted(outgoing.outcome) && outgoing.outcome.kind !== 'delivered';
}

/** Describes an effect in a word or two, for the log line. */
export function describeOutgoing(outgoing: Outgoing): string {
  switch (outgoing.kind) {
    case 'publish':
      return outgoing.routingKey;
    case 'outcome':
      return describeOutcome(outgoing.outcome);
    case 'end':
      return 'told the deactivator';
    case 'wait':
      return `waits: ${outgoing.row.why}`;
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
    case 'deactivated':
      return `${outcome.kind} by rule ${outcome.rule}`;
    case 'delivered':
    case 'failed':
    case 'exhausted':
      return [outcome.kind, 'answer' in outcome ? outcome.answer.status : undefined, whyOf(outcome)]
        .filter((part) => part !== undefined)
        .join(' ');
  }
}
