import type { Fate } from '../messages.ts';
import type { Input } from './state.ts';

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
