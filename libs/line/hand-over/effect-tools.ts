import type { Clock } from '@waybell/runtime/clock';
import type { Unavailable } from '@waybell/runtime/unavailable';
import type { Broker } from '../broker.ts';
import type { Message, Publication, Source, Waiting } from '../messages.ts';
import type { Once } from '../once.ts';
import type { StepReport } from '../step-report.ts';
import type { StepSpans } from '../step-spans.ts';

export type HandOverTools<M = unknown> = {
  broker: Broker;
  once?: Once;
  /** Has a delivery wait. Resolves when it is safe. Rejects with `Unavailable` if it is not, or may not be. */
  putDelivery?: (waiting: Waiting) => Promise<void>;
  /** Has a publication wait, which the broker does not take now. Resolves and rejects likewise. */
  putPublication?: (publication: Publication) => Promise<void>;
  /** Holds slow members of a batch elsewhere; if absent, the batch waits for them. */
  lease?: StoreRunning<M>;
  now?: () => number;
};

export type EffectTools<M> = HandOverTools<M> & {
  clock: Clock;
  report: StepReport<M>;
  /** Absent if tracing is off. */
  spans?: StepSpans<M> | undefined;
  /** Runs when a dependency is away and the step has to wait. */
  onUnavailable: (error: Unavailable) => void;
  /** Runs when a redelivered message is in hand, and when none is any more. */
  onCameAgain: (isInHand: boolean) => void;
};

/**
 * Stores a running message, and its parsed form, where another process finds it if this one dies. Acknowledging the returned
 * source deletes it there. Resolves with undefined if it cannot be stored. Never rejects.
 */
export type StoreRunning<M> = (
  of: { message: Message; parsed: M },
  onCut: (source: Source) => void,
) => Promise<Source | undefined>;
