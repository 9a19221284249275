import type { Clock, Timer } from '@waybell/runtime/clock';

/** How messages are gathered into the batches that a handler gets. */
export type Gathering<M> = {
  /** Limit of messages in a batch; 256. */
  largest?: number;
  /** Limit of batches whose handler has not begun them; 1. Messages that come meanwhile go into the next batch. */
  atOnce?: number;
  /** Milliseconds after the last batch at which one that is smaller than the limit follows; 0. */
  afterMs?: number;
  /** Messages that share a key never go into one batch, and keep their order. */
  keysOf?: (message: M) => readonly string[];
};

type RunGathererOptions<M> = Gathering<M> & {
  clock: Clock;
  /** Resolves when the next batch may follow. Never rejects. */
  run: (batch: HandlerBatch<M>) => Promise<void>;
};

/** Members and their messages, in the same order. */
export type HandlerBatch<M> = { members: readonly number[]; messages: readonly M[] };

const LARGEST = 256;

/** Gathers messages that are to be handled. Uses no timer unless `afterMs` is given: an idle step handles a message at once. */
export class RunGatherer<M> {
  readonly #options: RunGathererOptions<M>;
  /** Batches that stay as they are. */
  readonly #alone: HandlerBatch<M>[] = [];
  #members: number[] = [];
  #messages: M[] = [];
  #running = 0;
  #nextAt = -Infinity;
  #timer: Timer | undefined;

  constructor(options: RunGathererOptions<M>) {
    this.#options = options;
  }

  /** `isAlone`: these run before others, and with no others. */
  add({ members, messages }: HandlerBatch<M>, { isAlone }: { isAlone: boolean }): void {
    if (isAlone) this.#alone.push({ members, messages });
    else {
      this.#members.push(...members);
      this.#messages.push(...messages);
    }
    this.#look();
  }

  #look(): void {
    const { atOnce = 1, largest = LARGEST, afterMs = 0, clock } = this.#options;
    while (this.#running < atOnce) {
      const alone = this.#alone.shift();
      if (alone !== undefined) void this.#run(alone);
      else if (this.#members.length === 0) return;
      else if (this.#members.length < largest && clock.now() < this.#nextAt) return this.#lookLater();
      else {
        if (afterMs > 0) this.#nextAt = clock.now() + afterMs;
        void this.#run(this.#take(largest));
      }
    }
  }

  #lookLater(): void {
    const { clock } = this.#options;
    if (this.#timer !== undefined) return;
    this.#timer = clock.after(this.#nextAt - clock.now(), () => {
      this.#timer = undefined;
      this.#look();
    });
  }

  async #run(batch: HandlerBatch<M>): Promise<void> {
    this.#running += 1;
    await this.#options.run(batch);
    this.#running -= 1;
    this.#look();
  }

  #take(largest: number): HandlerBatch<M> {
    const [members, messages] = [this.#members, this.#messages];
    [this.#members, this.#messages] = [[], []];
    const { keysOf } = this.#options;
    if (keysOf === undefined && members.length <= largest) return { members, messages };
    const batch: { members: number[]; messages: M[] } = { members: [], messages: [] };
    const seen = new Set<string>();
    messages.forEach((message, place) => {
      const member = members[place];
      if (member === undefined) return;
      const keys = keysOf?.(message) ?? [];
      const fits = batch.members.length < largest && !keys.some((key) => seen.has(key));
      (fits ? batch.members : this.#members).push(member);
      (fits ? batch.messages : this.#messages).push(message);
      // Later ones with this key stay behind the one that is left.
      for (const key of keys) seen.add(key);
    });
    return batch;
  }
}
