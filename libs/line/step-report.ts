import type { Log } from '@waybell/runtime/log';
import { describeOutgoing } from './describe-outgoing.ts';
import type { Metrics } from '@waybell/runtime/metrics';
import { lineMetrics, type LineMetrics } from './line-metrics.ts';
import type { Message, Outgoing, Rejection } from './messages.ts';

export type Ending = {
  /** What identifies the message: ids, never a body. */
  facts: Record<string, unknown>;
  caused: Outgoing[];
  isRepeat: boolean;
  durationMs: number;
};

type StepReportOptions = { service: string; log: Log; metrics: Metrics; slotsUsed: () => number };

/** What a step tells of its messages: one line of the log for each, and the figures. */
export class StepReport {
  readonly #service: string;
  readonly #log: Log;
  readonly #metrics: LineMetrics;

  constructor({ service, log, metrics, slotsUsed }: StepReportOptions) {
    this.#service = service;
    this.#log = log;
    this.#metrics = lineMetrics(metrics);
    this.#metrics.watchSlots(service, slotsUsed);
  }

  handled(message: Message, { facts, caused, isRepeat, durationMs }: Ending): void {
    for (const outgoing of caused) if (outgoing.kind === 'outcome') this.#metrics.ended(outgoing.outcome);
    const rejection = caused.find((outgoing) => outgoing.kind === 'reject');
    if (rejection !== undefined) return this.rejected(message, rejection);
    const ms = Math.round(durationMs);
    this.#metrics.left(this.#service, isRepeat ? 'repeated' : 'handled', durationMs);
    this.#log.info({ queue: message.queue, ...facts, caused: caused.map(describeOutgoing), ms }, 'message.handled');
  }

  rejected({ queue, messageId }: Message, { reason, detail }: Rejection): void {
    this.#metrics.left(this.#service, 'rejected');
    this.#log.warn({ queue, messageId, reason, detail }, 'message.rejected');
  }

  /** What the handler threw; the message lives on, on the suspects lane or as a rejected one. */
  failed({ queue, messageId, failures }: Message, error: unknown): void {
    this.#log.error({ err: error, queue, messageId, failures }, 'message.failed');
  }

  suspected({ queue, messageId, failures, deliveryCount }: Message): void {
    this.#metrics.left(this.#service, 'suspected');
    this.#log.warn({ queue, messageId, failures, deliveryCount }, 'message.suspected');
  }

  givenBack(): void {
    this.#metrics.left(this.#service, 'given_back');
  }

  /** Not even the suspects lane takes it: the topology is broken. */
  stuck({ queue, messageId }: Message, error: unknown): void {
    this.#metrics.left(this.#service, 'given_back');
    this.#log.error({ err: error, queue, messageId }, 'message.given-back');
  }
}
