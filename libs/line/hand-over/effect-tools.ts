import type { Clock } from '@waybell/runtime/clock';
import type { Unavailable } from '@waybell/runtime/unavailable';
import type { Broker } from '../broker.ts';
import type { Deaths } from '../deaths.ts';
import type { Message, Parked, Publication, Source } from '../messages.ts';
import type { Once } from '../once.ts';
import type { StepReport } from '../step-report.ts';
import type { StepSpans } from '../step-spans.ts';

/** The tools of a step's hand-over. */
export type HandOverTools = {
  broker: Broker;
  once?: Once;
  /** Without it, what came back from another process may have killed that. */
  deaths?: Deaths;
  /** Resolves when it is where it waits. Rejects with `Unavailable` where that cannot be or is not known. */
  park?: (parked: Parked) => Promise<void>;
  keep?: Keep;
  /** Keeps what is slow in a bundle; without it, the bundle waits. */
  lease?: HoldElsewhere;
  now?: () => number;
};

export type EffectTools<M> = HandOverTools & {
  clock: Clock;
  report: StepReport<M>;
  /** Absent where traces are off. */
  spans?: StepSpans<M> | undefined;
  /** Runs when something is away that is to be waited for. */
  onUnavailable: (error: Unavailable) => void;
  /** Runs when a message was put into the quarantine. */
  onQuarantined: () => void;
};

/**
 * Keeps what the broker does not take for now, and sends it on from there later. Resolves when it is safe. Rejects with
 * `Unavailable` where it is not, or not known to be.
 */
export type Keep = (publication: Publication) => Promise<void>;

/**
 * Keeps a message that is at work where it is taken from, should this process die; acknowledged, it is gone from there.
 * Resolves with nothing where it cannot be kept; never rejects.
 */
export type HoldElsewhere = (message: Message, onCut: (source: Source) => void) => Promise<Source | undefined>;
