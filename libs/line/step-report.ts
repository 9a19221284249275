import type { Log } from '@waybell/runtime/log';
import { describeOutgoing } from './describe-outgoing.ts';
import type { Metrics } from '@waybell/runtime/metrics';
import { lineMetrics, type LineMetrics } from './line-metrics.ts';
import type { Message, Outgoing, Rejection } from './messages.ts';
import { isAttempted } from './outcomes.ts';

export type Ending = {
  /** What identifies the message: ids, never a body. */
  describe: () => Record<string, unknown>;
  caused: Outgoing[];
  isRepeat: boolean;
  durationMs: number;
};

type StepReportOptions = { service: string; log: Log; metrics: Metrics; held: () => number };

/**
 * What a step tells of its messages: the figures, and lines of the log. What went as it should is logged at debug: it is
 * in the delivery log, and two lines a delivery would be most of what the services write.
 */
export class StepReport {
  readonly #service: string;
  readonly #log: Log;
  readonly #metrics: LineMetrics;

  constructor({ service, log, metrics, held }: StepReportOptions) {
    this.#service = service;
    this.#log = log;
    this.#metrics = lineMetrics(metrics);
    this.#metrics.watchHeld(service, held);
  }

  handled(message: Message, { describe, caused, isRepeat, durationMs }: Ending): void {
    for (const outgoing of caused) if (outgoing.kind === 'outcome') this.#metrics.ended(outgoing.outcome);
    const rejection = caused.find((outgoing) => outgoing.kind === 'reject');
    if (rejection !== undefined) return this.rejected(message, rejection);
    this.#metrics.left(this.#service, isRepeat ? 'repeated' : 'handled', durationMs);
    const level = caused.some(isMissed) ? 'info' : 'debug';
    if (!this.#log.isLevelEnabled(level)) return;
    const ms = Math.round(durationMs);
    this.#log[level](
      { queue: message.queue, ...describe(), caused: caused.map(describeOutgoing), ms },
      'message.handled',
    );
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

/** Whether it says that a receiver did not get, or not take, what was for it. */
function isMissed(outgoing: Outgoing): boolean {
  return outgoing.kind === 'outcome' && isAttempted(outgoing.outcome) && outgoing.outcome.kind !== 'delivered';
}
