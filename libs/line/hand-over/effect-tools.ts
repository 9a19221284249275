import type { Clock } from '@waybell/runtime/clock';
import type { Unavailable } from '@waybell/runtime/unavailable';
import type { Broker } from '../broker.ts';
import type { Deaths } from '../deaths.ts';
import type { Message, Parked, Publication, Source } from '../messages.ts';
import type { Once } from '../once.ts';
import type { StepReport } from '../step-report.ts';
import type { StepSpans } from '../step-spans.ts';

export type HandOverTools = {
  broker: Broker;
  once?: Once;
  /** If absent, each return from another process may have been a crash. */
  deaths?: Deaths;
  /** Resolves when the delivery is stored. Rejects with `Unavailable` if it is not, or may not be. */
  park?: (parked: Parked) => Promise<void>;
  keep?: Keep;
  /** Keeps slow members of a batch elsewhere; if absent, the batch waits for them. */
  lease?: HoldElsewhere;
  now?: () => number;
};

export type EffectTools<M> = HandOverTools & {
  clock: Clock;
  report: StepReport<M>;
  /** Absent if tracing is off. */
  spans?: StepSpans<M> | undefined;
  /** Runs when a dependency is away and the step has to wait. */
  onUnavailable: (error: Unavailable) => void;
  /** Runs when a message was put into the quarantine. */
  onQuarantined: () => void;
};

/**
 * Keeps what the broker does not take now, to be sent on later. Resolves when it is safe. Rejects with `Unavailable` if it is
 * not, or may not be.
 */
export type Keep = (publication: Publication) => Promise<void>;

/**
 * Stores a message that is at work where another process finds it if this one dies. Acknowledging the returned source deletes it
 * there. Resolves with undefined if it cannot be stored. Never rejects.
 */
export type HoldElsewhere = (message: Message, onCut: (source: Source) => void) => Promise<Source | undefined>;
