/** Shows a step's work to the outside: a log line and metrics for each message (`StepReport`), and a span (`StepSpans`). */
import {
  type Attributes,
  type Context,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
  type Tracer,
} from '@opentelemetry/api';
import type { Log } from '@waybell/runtime/log';
import type { Metrics } from '@waybell/runtime/metrics';
import { contextOf, traceIdOf, traceparentOf } from '@waybell/runtime/traceparent';
import type { Member, Report } from './hand-over/state.ts';
import { lineMetrics, type LineMetrics } from './line-metrics.ts';
import { type Message, type Outgoing, type Rejection } from './messages.ts';
import { isAttempted, type Outcome, whyOf } from './outcomes.ts';

type ReportedStep<M> = {
  name: string;
  /** Returns ids of the message for its log line; never a body. */
  describe: (message: M) => Record<string, unknown>;
};
type StepReportOptions = { log: Log; metrics: Metrics; inHand: () => number };

/**
 * Counts and logs the results of a step's messages. Successes are logged at debug level: the delivery log has them, and two lines
 * per delivery would be most of what the services log.
 */
export class StepReport<M> {
  readonly #step: ReportedStep<M>;
  readonly #log: Log;
  readonly #metrics: LineMetrics;

  constructor(step: ReportedStep<M>, { log, metrics, inHand }: StepReportOptions) {
    this.#step = step;
    this.#log = log;
    this.#metrics = lineMetrics(metrics);
    this.#metrics.watchInHand(step.name, inHand);
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

function asTraced({ delivery, ...message }: Message, traceparent: string): Message {
  return { ...message, traceparent, isTraced: true, ...(delivery && { delivery: { ...delivery, traceparent } }) };
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

export type TracedStep<M> = {
  /** Returns ids of the message for its span; never a body. */
  describe: (message: M) => Record<string, unknown>;
  /** `begin`: starts a trace for a message that has none. `of a batch`: the message is a batch whose parts have a trace each. */
  traces?: 'begin' | 'of a batch';
  /** When the message was due, in milliseconds since the epoch. */
  dueAt?: (message: M) => number;
};

type OpenSpans = { spans: readonly Span[]; begunAt: number; returnedAt?: number };

/**
 * Records a span for each message that a step has in hand, from taking it until it has left. Writes the span's `traceparent` into the message,
 * so that everything the message causes becomes a child of that span.
 */
export class StepSpans<M> {
  readonly #step: TracedStep<M>;
  readonly #tracer: Tracer;
  readonly #open = new Map<Message, OpenSpans>();

  constructor(step: TracedStep<M>, tracer: Tracer) {
    this.#step = step;
    this.#tracer = tracer;
  }

  /** Begins spans and returns the messages to handle, with their new `traceparent`. */
  begin(messages: readonly Message[]): readonly Message[] {
    return messages.map((message) => {
      const spans = this.#parentsOf(message)
        .map((parent) => this.#start(message, parent))
        .filter((span) => span.isRecording());
      const [first] = spans;
      if (first === undefined) return message;
      const traced = this.#step.traces === 'of a batch' ? message : asTraced(message, traceparentOf(first));
      this.#open.set(traced, { spans, begunAt: Date.now() });
      return traced;
    });
  }

  /** Notes when the handler returned: the publish span begins then. */
  returned(message: Message | undefined): void {
    const open = message && this.#open.get(message);
    if (open !== undefined) open.returnedAt ??= Date.now();
  }

  record(report: Report<M>): void {
    switch (report.kind) {
      case 'handled':
        return report.members.forEach((member) => this.#handled(member));
      case 'rejected':
        return this.#fail(report.message, `rejected: ${report.rejection.reason}`);
      case 'failed':
        return this.#mark(report.message, report.error instanceof Error ? report.error.name : typeof report.error);
      case 'put aside':
        return this.#end(report.message, { 'waybell.caused': ['put aside'] });
      case 'stuck':
        return this.#fail(report.message, 'stuck');
      case 'given back':
        // `release` ends its span.
        return;
    }
  }

  #handled({ message, parsed, caused, isRepeat }: Member<M>): void {
    const open = this.#open.get(message);
    if (open === undefined) return;
    if (caused.length > 0) this.#publish(open);
    // A handled message has been parsed.
    const about = this.#about(parsed as M, open.begunAt);
    const what = [...new Set(caused.map(describeOutgoing))];
    this.#end(message, { ...about, 'waybell.caused': what, ...(isRepeat && { 'waybell.repeat': true }) });
  }

  /** Ends the spans of messages that have left. */
  release(messages: readonly Message[]): void {
    for (const message of messages) this.#end(message, { 'waybell.caused': ['given back'] });
  }

  #parentsOf({ traceparent, traceparents }: Message): readonly Context[] {
    const { traces } = this.#step;
    if (traces === 'of a batch')
      return (traceparents ?? traceparent)?.split(',').flatMap((each) => contextOf(each) ?? []) ?? [];
    const parent = contextOf(traceparent) ?? (traces === 'begin' ? ROOT_CONTEXT : undefined);
    return parent === undefined ? [] : [parent];
  }

  #start({ queue, routingKey, messageId, body, waited }: Message, parent: Context): Span {
    const attributes: Attributes = {
      'messaging.system': 'rabbitmq',
      'messaging.operation.name': 'process',
      'messaging.operation.type': 'process',
      'messaging.destination.name': queue,
      'messaging.message.body.size': body.length,
    };
    if (routingKey !== '') attributes['messaging.rabbitmq.destination.routing_key'] = routingKey;
    if (messageId !== undefined) attributes['messaging.message.id'] = messageId;
    if (waited !== undefined) attributes['waybell.waited'] = waited.why;
    return this.#tracer.startSpan(`process ${queue}`, { kind: SpanKind.CONSUMER, attributes }, parent);
  }

  #about(parsed: M, begunAt: number): Attributes {
    const { describe, dueAt } = this.#step;
    const named = Object.entries(describe(parsed)).map(([name, value]) => [`waybell.${name}`, value]);
    // `describe` returns ids and numbers only.
    const attributes = Object.fromEntries(named) as Attributes;
    if (dueAt !== undefined) attributes['waybell.late_ms'] = Math.max(0, begunAt - dueAt(parsed));
    return attributes;
  }

  #mark(message: Message, why: string): void {
    for (const span of this.#open.get(message)?.spans ?? []) {
      span.setAttribute('error.type', why).setStatus({ code: SpanStatusCode.ERROR });
    }
  }

  #fail(message: Message, why: string): void {
    this.#mark(message, why);
    this.#end(message, {});
  }

  #end(message: Message, attributes: Attributes): void {
    const open = this.#open.get(message);
    if (open === undefined) return;
    this.#open.delete(message);
    for (const span of open.spans) span.setAttributes(attributes).end();
  }

  /** Records a span from the handler's return until all that it caused was confirmed or put into a room, and remembered. */
  #publish({ spans, begunAt, returnedAt: startTime = begunAt }: OpenSpans): void {
    const attributes = {
      'messaging.system': 'rabbitmq',
      'messaging.operation.name': 'publish',
      'messaging.operation.type': 'send',
    };
    for (const span of spans) {
      const inside = trace.setSpan(ROOT_CONTEXT, span);
      this.#tracer.startSpan('publish', { kind: SpanKind.PRODUCER, startTime, attributes }, inside).end();
    }
  }
}
