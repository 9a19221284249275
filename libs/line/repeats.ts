import { InTurn } from './in-turn.ts';
import type { Outgoing } from './messages.ts';
import type { Once, OncePolicy } from './once.ts';

/** Recognises the messages of a step that were handled before. Without a policy or a memory, none is. */
export class Repeats<M> {
  readonly #policy: OncePolicy<M> | undefined;
  readonly #once: Once | undefined;
  readonly #inTurn = new InTurn();

  constructor(policy: OncePolicy<M> | undefined, once: Once | undefined) {
    this.#policy = policy;
    this.#once = once;
  }

  /** Copies of one message at the same time: the second begins when the first is remembered. */
  async inTurn(message: M, work: () => Promise<void>): Promise<void> {
    if (this.#policy === undefined) return work();
    await this.#inTurn.run(this.#policy.keyOf(message).key, work);
  }

  /** What a repeat causes; undefined for a message that was not handled yet. */
  async recognise(message: M): Promise<Outgoing[] | undefined> {
    if (this.#policy === undefined) return undefined;
    const { key, fingerprint } = this.#policy.keyOf(message);
    const known = await this.#once?.recall(key);
    return known === undefined ? undefined : this.#policy.onRepeat(message, known === fingerprint);
  }

  async remember(message: M, caused: Outgoing[]): Promise<void> {
    if (this.#policy?.isWorthRemembering(caused) !== true) return;
    const { key, fingerprint } = this.#policy.keyOf(message);
    await this.#once?.remember(key, fingerprint, this.#policy.ttlMs);
  }
}
