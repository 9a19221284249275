import type { Clock } from '@waybell/runtime/clock';
import { Unavailable } from '@waybell/runtime/unavailable';
import type { Begin, Fate, Handler, Message } from '../messages.ts';
import type { Once } from '../once.ts';
import { RunGatherer, type Gathering, type HandlerBatch } from './run-gatherer.ts';
import type { Input, State } from './state.ts';
import { isInHand } from './turn.ts';
import type { TurnGatherer } from './turn-gatherer.ts';

export type HandlerRunsOptions<M> = {
  handle: Handler<M>;
  gathering: Gathering<M> | undefined;
  /** Absent if the step recognises no repeats: its members have no marks. */
  once: Pick<Once, 'recall'> | undefined;
  state: State<M>;
  turn: Pick<TurnGatherer, 'ended' | 'applyEnded'>;
  clock: Clock;
  apply: (input: Input) => void;
  onUnavailable: (error: Unavailable) => void;
  /** Runs when the handler has reported the message's effects. */
  onDone: (message: Message | undefined) => void;
};

const TAKEN_BACK: Fate = { kind: 'failed', error: new Error('another process has it') };

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
  async #run(batch: HandlerBatch<M>): Promise<void> {
    const members = batch.members.filter((member) => this.#isWanted(member));
    const isWhole = members.length === batch.members.length;
    const messages = isWhole
      ? batch.messages
      : batch.messages.filter((_, place) => members.includes(batch.members[place] ?? 0));
    if (members.length === 0) return;
    const recalled = this.#recall(members);
    try {
      const begin = await this.#options.handle(messages);
      await recalled;
      // Work may be begun from here on: an error is the failure of one member.
      members.forEach((member, place) => this.#isWanted(member) && this.#begin(begin, place, member));
    } catch (error) {
      await recalled;
      if (error instanceof Unavailable) this.#options.onUnavailable(error);
      this.#options.apply({ kind: 'threw', members, error });
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
      end({ kind: 'failed', error });
    }
  }

  /** Whether it is still to be handled: it may be a repeat, or have been given or taken back while it waited for the handler. */
  #isWanted(id: number): boolean {
    const member = this.#options.state.members.get(id);
    if (member?.isRunning !== true) return false;
    if (isInHand(this.#options, member)) return true;
    this.#end(id, TAKEN_BACK);
    return false;
  }

  #end(member: number, fate: Fate): void {
    const { state, turn, onDone, onUnavailable } = this.#options;
    if (fate.kind === 'done') onDone(state.members.get(member)?.message);
    turn.ended(member, fate);
    if (fate.kind === 'done' || !(fate.error instanceof Unavailable)) return;
    onUnavailable(fate.error);
    // The dependency may be back before this turn is over, and nothing else would run the message again.
    turn.applyEnded();
  }
}
