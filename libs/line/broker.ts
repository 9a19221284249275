import type { PublishingFigures } from './line-metrics.ts';
import type { Destination, OnSettled, Publication, Source } from './messages.ts';
import type { InHandLimit } from './prefetch-budget.ts';

/** The line's interface to RabbitMQ. It publishes and consumes on separate connections, so that neither can block the other. */
export type Broker = AsyncDisposable & {
  /** Resolves when the broker has confirmed it. Rejects with `Unroutable`, `Unconfirmed`, `Stalled` or `TooLarge`. */
  publish(publication: Publication): Promise<void>;
  /** Like `publish`, with a callback, for callers that send thousands. */
  send(publication: Publication, onSettled: OnSettled): void;
  state(): BrokerState;
  /** Calls `listener` at each change of the state. */
  onState(listener: (state: BrokerState) => void): void;
  /** Lists destinations that confirm nothing while others do. A publish to one fails at once with `Stalled`. */
  stalled(): readonly Destination[];
  publishing(): PublishingFigures;
  /** Consumes these queues across reconnects, also ones that do not exist yet, holding at most `limit` of them together. */
  consume(queues: readonly string[], limit: InHandLimit, callbacks: ConsumeCallbacks): Consumer;
  /** Returns the messages ready in these queues together. Rejects while the broker is away. */
  depth(queues: readonly string[]): Promise<Depth>;
  /** Lists what is missing for readiness: confirms, queues, consumers. Excludes a blocked broker: each step decides about that. */
  waitingFor(): string[];
};

export type Consumer = {
  /** Stops taking until every reason is resumed; messages in hand stay there. Resolves when nothing more will arrive. */
  pause(reason: string): Promise<void>;
  resume(reason: string): void;
  /** Messages taken and not settled. */
  inHand(): number;
};

/** Why a consumer takes nothing: it goes on once every reason is resumed. */
export class PauseReasons {
  readonly #reasons = new Set<string>();

  get isPaused(): boolean {
    return this.#reasons.size > 0;
  }

  pause(reason: string): void {
    this.#reasons.add(reason);
  }

  /** Returns whether nothing is paused any more, and was until now. */
  resume(reason: string): boolean {
    return this.#reasons.delete(reason) && !this.isPaused;
  }
}

export type ConsumeCallbacks = {
  onTaken: (source: Source) => void;
  /** The broker has requeued the message, or will. `onTaken` may not have run for it. */
  onCut: (source: Source) => void;
};

/** Messages ready in several queues together. If not exact, there may be more. */
export type Depth = { messages: number; isExact: boolean };

/** `blocked`: connected, but an alarm on memory or disk makes the broker refuse publishes. */
export type BrokerState = 'writable' | 'blocked' | 'away';
