import type { Trust } from './window.ts';

/** From the least trusted to the most. */
export const TRUSTS = ['hung', 'new', 'slow', 'quick'] as const satisfies Trust[];

/** Parts of all slots, from 0 to 1. Each is held at most by the origins trusted so much, or less, together. */
export type Shares = Record<Exclude<Trust, 'quick'>, number>;

/**
 * Requests under way, over all origins. Who is trusted less holds at most a share, so that the others always have the
 * rest: at every moment hung ≤ their share, hung + new ≤ theirs, hung + new + slow ≤ theirs, and all ≤ the slots.
 */
export class Slots {
  readonly #limits: Record<Trust, number>;
  readonly #held: Record<Trust, number> = { hung: 0, new: 0, slow: 0, quick: 0 };

  constructor(slots: number, shares: Shares) {
    const limit = (share: number) => Math.max(1, Math.floor(slots * share));
    this.#limits = { hung: limit(shares.hung), new: limit(shares.new), slow: limit(shares.slow), quick: slots };
  }

  held(trust: Trust): number {
    return this.#held[trust];
  }

  admits(trust: Trust): boolean {
    return this.#isInShare(trust) && this.#hasAny();
  }

  /** Nothing is lacking but a slot, which somebody better trusted holds. */
  lacksOnlySlots(trust: Trust): boolean {
    return this.#isInShare(trust) && !this.#hasAny();
  }

  take(trust: Trust): void {
    this.#held[trust] += 1;
  }

  giveBack(trust: Trust): void {
    this.#held[trust] -= 1;
  }

  #hasAny(): boolean {
    const { hung, new: fresh, slow, quick } = this.#held;
    return hung + fresh + slow + quick < this.#limits.quick;
  }

  #isInShare(trust: Trust): boolean {
    const { hung, new: fresh, slow } = this.#held;
    switch (trust) {
      case 'hung':
        return hung < this.#limits.hung && hung + fresh < this.#limits.new && hung + fresh + slow < this.#limits.slow;
      case 'new':
        return hung + fresh < this.#limits.new && hung + fresh + slow < this.#limits.slow;
      case 'slow':
        return hung + fresh + slow < this.#limits.slow;
      case 'quick':
        return true;
    }
  }
}
