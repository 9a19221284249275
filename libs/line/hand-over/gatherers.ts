/**
 * Runs a step's handler on batches. `HandlerRuns` runs it and recalls repeats; `RunGatherer` decides which messages form a batch,
 * and when it begins; `TurnGatherer` gathers the ends and confirms of one turn of the event loop, which are applied together.
 */
import type { Clock, Timer } from '@waybell/runtime/clock';
import type { Unavailable } from '@waybell/runtime/unavailable';
import { type Begin, type Fate, type Handler, type Message, noResult } from '../messages.ts';
import type { Once } from '../once.ts';
import { type Input, mayGoOut, type State } from './state.ts';

type HandlerRunsOptions<M> = {
  handle: Handler<M>;
  gathering: Gathering<M> | undefined;
  /** Absent if the step recognises no repeats: its members have no marks. */
  once: Pick<Once, 'recall'> | undefined;
  state: State<M>;
  gatherer: Pick<TurnGatherer, 'ended' | 'applyEnded'>;
  clock: Clock;
  apply: (input: Input) => void;
  expireClaims: () => void;
  onUnavailable: (error: Unavailable) => void;
  /** Runs when the handler has reported the message's effects. */
  onDone: (message: Message | undefined) => void;
};

/** Runs the handler of a step, recalls messages beside its query, and applies what is known of them and the fates that it reports. */
export class HandlerRuns<M> {
  readonly #options: Omit<HandlerRunsOptions<M>, 'gathering'>;
  readonly #gatherer: RunGatherer<M>;

  constructor({ gathering, ...options }: HandlerRunsOptions<M>) {
    this.#options = options;
    this.#gatherer = new RunGatherer({ ...gathering, clock: options.clock, run: (batch) => this.#run(batch) });
  }

  add(batch: HandlerBatch<M>, how: { isAlone: boolean }): void {
    this.#gatherer.add(batch, how);
  }

  /** Has the handler ask for all of them beside the recall, then begins each that is no repeat. Never rejects. */
  async #run({ members, messages }: HandlerBatch<M>): Promise<void> {
    // All that waited for the handler were given back, as the step ends.
    if (!members.some((member) => this.#isRunning(member))) return;
    const recalled = this.#recall(members);
    try {
      const begin = await this.#options.handle(messages, (place) => this.#isInHand(members[place] ?? 0));
      await recalled;
      // Work may be begun from here on: an error is the failure of one member.
      members.forEach((member, place) => this.#isRunning(member) && this.#begin(begin, place, member));
    } catch (error) {
      await recalled;
      const why = noResult(error);
      if (why.kind === 'away') this.#options.onUnavailable(why.error);
      this.#options.apply({ kind: 'threw', members, why });
    }
  }

  /** Ends repeats. A message is recalled whenever it runs: another process may have handled it since. Never rejects. */
  async #recall(members: readonly number[]): Promise<void> {
    const { once, state, apply } = this.#options;
    if (once === undefined) return;
    const keys = members.map((member) => state.members.get(member)?.mark?.key ?? '');
    apply({ kind: 'recalled', members, known: await once.recall(keys) });
  }

  #begin(begin: Begin, place: number, member: number): void {
    const end = (fate: Fate) => this.#end(member, fate);
    try {
      begin(place, end);
    } catch (error) {
      end(noResult(error));
    }
  }

  /** Whether it is still to be handled: it may be a repeat, or have been given back. */
  #isRunning(id: number): boolean {
    return this.#options.state.members.get(id)?.isRunning === true;
  }

  /** Answers the handler where a request begins. */
  #isInHand(id: number): boolean {
    this.#options.expireClaims();
    const member = this.#options.state.members.get(id);
    return member?.isRunning === true && mayGoOut(this.#options, member, 'work');
  }

  #end(member: number, fate: Fate): void {
    const { state, gatherer, onDone, onUnavailable } = this.#options;
    if (fate.kind === 'done') onDone(state.members.get(member)?.message);
    gatherer.ended(member, fate);
    if (fate.kind !== 'away') return;
    onUnavailable(fate.error);
    // The dependency may be back before this turn is over, and nothing else would run the message again.
    gatherer.applyEnded();
  }
}

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

/** Members and their messages, in the same order. */
type HandlerBatch<M> = { members: readonly number[]; messages: readonly M[] };

type RunGathererOptions<M> = Gathering<M> & {
  clock: Clock;
  /** Resolves when the next batch may follow. Never rejects. */
  run: (batch: HandlerBatch<M>) => Promise<void>;
};

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
    this.#runNext();
  }

  #runNext(): void {
    const { atOnce = 1, largest = LARGEST, afterMs = 0, clock } = this.#options;
    while (this.#running < atOnce) {
      const alone = this.#alone.shift();
      if (alone !== undefined) void this.#run(alone);
      else if (this.#members.length === 0) return;
      else if (this.#members.length < largest && clock.now() < this.#nextAt) return this.#runLater();
      else {
        if (afterMs > 0) this.#nextAt = clock.now() + afterMs;
        void this.#run(this.#nextBatch(largest));
      }
    }
  }

  #runLater(): void {
    const { clock } = this.#options;
    if (this.#timer !== undefined) return;
    this.#timer = clock.after(this.#nextAt - clock.now(), () => {
      this.#timer = undefined;
      this.#runNext();
    });
  }

  async #run(batch: HandlerBatch<M>): Promise<void> {
    this.#running += 1;
    await this.#options.run(batch);
    this.#running -= 1;
    this.#runNext();
  }

  #nextBatch(largest: number): HandlerBatch<M> {
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

/** Gathers what one turn of the event loop brings, and applies it together. */
export class TurnGatherer {
  readonly #apply: (input: Input) => void;
  #members: number[] = [];
  #fates: Fate[] = [];
  #confirmed: number[] = [];

  constructor(apply: (input: Input) => void) {
    this.#apply = apply;
  }

  /** Ends are gathered over all sockets that have something to read. */
  ended(member: number, fate: Fate): void {
    this.#fates.push(fate);
    if (this.#members.push(member) === 1) setImmediate(() => this.applyEnded());
  }

  /** Confirms come over one socket. */
  confirmed(sending: number): void {
    if (this.#confirmed.push(sending) === 1) process.nextTick(() => this.#applyConfirmed());
  }

  /** Applies the ends so far, for what must not come before them. */
  applyEnded(): void {
    const [members, fates] = [this.#members, this.#fates];
    if (members.length === 0) return;
    [this.#members, this.#fates] = [[], []];
    this.#apply({ kind: 'ended', members, fates });
  }

  #applyConfirmed(): void {
    const sendings = this.#confirmed;
    this.#confirmed = [];
    this.#apply({ kind: 'confirmed', sendings });
  }
}
