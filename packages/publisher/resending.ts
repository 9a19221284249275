import type { BrokerPublisher } from '@waybell/line/broker/publisher';
import { TooLarge } from '@waybell/line/messages';
import { eventsExchange } from '@waybell/line/topology';
import { jitteredBackoffMs } from '@waybell/runtime/backoff';
import type { Budget } from '@waybell/runtime/budget';
import { InvalidEvent, NotConfirmed } from './publish-errors.ts';
import type { WrittenEvent } from './write-event.ts';

type PendingEvent = {
  event: WrittenEvent;
  failures: number;
  /** Returns its bytes to the budget, or stops waiting for them. */
  leave: () => void;
  /** Runs until it is sent again. */
  timer?: NodeJS.Timeout;
  end: (error?: Error) => void;
};

const BACKOFF = { firstMs: 100, longestMs: 5_000 };
/** Memory of an event in addition to its bytes. */
const OVERHEAD_BYTES = 1_024;

type ResendingOptions = {
  line: BrokerPublisher;
  budget: Budget;
  /** Returns why nothing can be sent now. */
  trouble: () => string | undefined;
  userId: string | undefined;
};

/** Sends each event, the same bytes each time, until the broker has confirmed it or its sender gives up. */
export class Resending {
  readonly #line: BrokerPublisher;
  readonly #budget: Budget;
  readonly #userId: string | undefined;
  readonly #pending = new Set<PendingEvent>();
  /** Events that wait until the broker takes anything at all. */
  readonly #stranded = new Set<PendingEvent>();
  readonly #troubleOfLine: () => string | undefined;
  #trouble: string | undefined;
  #onEmpty: () => void = () => undefined;
  confirmed = 0;
  resent = 0;

  constructor({ line, budget, trouble, userId }: ResendingOptions) {
    this.#line = line;
    this.#budget = budget;
    this.#troubleOfLine = trouble;
    this.#userId = userId;
    line.onState((state) => {
      if (state !== 'writable') return;
      const stranded = [...this.#stranded];
      this.#stranded.clear();
      for (const pending of stranded) this.#send(pending);
    });
  }

  get unconfirmed(): number {
    return this.#pending.size;
  }

  /** The broker's last error for an event that it did not take; undefined once it has taken another. */
  get trouble(): string | undefined {
    return this.#trouble;
  }

  /** Resolves when it is confirmed. Rejects with `NotConfirmed` when the signal is given, with `InvalidEvent` where the broker never takes it. */
  send(event: WrittenEvent, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const giveUp = () => pending.end(this.#notConfirmed(event));
      const pending: PendingEvent = {
        event,
        failures: 0,
        leave: () => undefined,
        end: (error) => {
          if (!this.#pending.delete(pending)) return;
          pending.leave();
          this.#stranded.delete(pending);
          clearTimeout(pending.timer);
          signal?.removeEventListener('abort', giveUp);
          if (error === undefined) resolve();
          else reject(error);
          if (this.#pending.size === 0) this.#onEmpty();
        },
      };
      this.#pending.add(pending);
      signal?.addEventListener('abort', giveUp);
      if (signal?.aborted === true) giveUp();
      else this.#admit(pending);
    });
  }

  /** Resolves when everything was confirmed or given up. */
  async ended(): Promise<void> {
    if (this.#pending.size > 0) await new Promise<void>((resolve) => (this.#onEmpty = resolve));
  }

  /** Gives up, and returns the guids of unconfirmed events; they are not sent again. */
  giveUpAll(): string[] {
    const left = [...this.#pending];
    for (const pending of left) pending.end(this.#notConfirmed(pending.event));
    return left.map(({ event }) => event.guid);
  }

  #notConfirmed({ guid }: WrittenEvent): NotConfirmed {
    return new NotConfirmed(guid, this.#troubleOfLine() ?? this.#trouble ?? 'the broker has not answered yet');
  }

  #admit(pending: PendingEvent): void {
    const bytes = bytesOf(pending.event);
    const leave = () => this.#budget.release(bytes);
    if (this.#budget.tryAcquire(bytes)) {
      pending.leave = leave;
      return this.#send(pending);
    }
    pending.leave = this.#budget.acquireLater(bytes, () => {
      pending.leave = leave;
      // Events before it may just give up, and it with them.
      queueMicrotask(() => this.#send(pending));
    });
  }

  #send(pending: PendingEvent): void {
    if (!this.#pending.has(pending)) return;
    if (this.#line.state() !== 'writable') return void this.#stranded.add(pending);
    const { guid, routingKey, body } = pending.event;
    this.#line.send(
      {
        kind: 'publish',
        exchange: eventsExchange,
        routingKey,
        body,
        messageId: guid,
        contentType: 'application/json',
        ...(this.#userId !== undefined && { userId: this.#userId }),
      },
      (error) => this.#onAnswer(pending, error),
    );
  }

  #onAnswer(pending: PendingEvent, error: Error | undefined): void {
    // Its sender gave up meanwhile.
    if (!this.#pending.has(pending)) return;
    if (error === undefined) {
      this.#trouble = undefined;
      this.confirmed += 1;
      return pending.end();
    }
    if (error instanceof TooLarge) return pending.end(new InvalidEvent({ reason: 'too_large', detail: error.message }));
    this.#trouble = error.message;
    this.resent += 1;
    pending.failures += 1;
    pending.timer = setTimeout(() => this.#send(pending), jitteredBackoffMs(BACKOFF, pending.failures));
  }
}

const bytesOf = ({ body }: WrittenEvent): number => body.length + OVERHEAD_BYTES;
