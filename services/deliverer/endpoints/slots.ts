import type { Ending } from './endpoint.ts';
import { START_SIZE } from './window.ts';

/** What is to be expected of an endpoint: what its last answer was like, `new` without one, or `hung`. */
export type Trust = Ending | 'new';

/** From the least trusted to the most. */
export const TRUSTS = ['hung', 'new', 'slow', 'quick'] as const satisfies Trust[];

/** Parts of all slots, from 0 to 1. Each is held at most by the endpoints trusted so much, or less, together. */
export type Shares = Record<Exclude<Trust, 'quick'>, number>;

/** What an account holds of the places of the unproven, and among them of the hung. */
export type Holding = { unproven: number; hung: number };

/** An account holds at most this part of the places of the unproven, and of those of the hung, … */
const ACCOUNT_PART = 1 / 8;
/** … except while less than this part of them is used. */
const LENT_PART = 3 / 4;
const HALF = 1 / 2;

/**
 * Requests under way, over all endpoints. An endpoint that is trusted less holds at most a share, so that the others always have the
 * rest: none begins unless probes of hung ones ≤ their share, these and new ≤ theirs, these, slow and silent ≤ theirs, and
 * all ≤ the slots. One of a new endpoint that is silent makes way for others that are new: it was as good as hung.
 */
export class Slots {
  readonly #limits: Record<Trust, number>;
  readonly #held: Record<Trust, number> = { hung: 0, new: 0, slow: 0, quick: 0 };
  /** Requests to new endpoints that are among none of these. */
  #silent = 0;

  constructor(slots: number, shares: Shares) {
    const limit = (share: number) => Math.max(1, Math.floor(slots * share));
    this.#limits = { hung: limit(shares.hung), new: limit(shares.new), slow: limit(shares.slow), quick: slots };
  }

  held(): Record<Trust, number> {
    return { ...this.#held };
  }

  /** Places that those trusted so much could take now, of any account. */
  free(trust: Trust): number {
    return Math.max(0, Math.min(this.#freeInShare(trust), this.#freeInAll()));
  }

  admits(trust: Trust, account: Holding): boolean {
    return this.free(trust) > 0 && this.#isWithinPart(trust, account);
  }

  /** Nothing is lacking but a slot, which one that is better trusted holds. */
  lacksOnlySlots(trust: Trust, account: Holding): boolean {
    return this.#freeInAll() <= 0 && this.#freeInShare(trust) > 0 && this.#isWithinPart(trust, account);
  }

  /** Less than half of the places of the hung are used. */
  isHungHalfFree(): boolean {
    return this.#held.hung < this.#limits.hung * HALF;
  }

  /** With how many requests at once a new endpoint begins: with one where the places of the unproven are scarce. */
  startSize(account: Holding): number {
    const isRoomy = this.#held.hung + this.#held.new + this.#silent < this.#limits.new * HALF;
    return isRoomy && account.unproven < part(this.#limits.new) ? START_SIZE : 1;
  }

  take(trust: Trust, account: Holding): void {
    this.#held[trust] += 1;
    this.#count(trust, account, 1);
  }

  /** One has been silent for longer than an answer takes. */
  fallSilent({ trust }: { trust: Trust }): void {
    if (trust !== 'new') return;
    this.#held.new -= 1;
    this.#silent += 1;
  }

  giveBack({ trust, isSilent }: { trust: Trust; isSilent: boolean }, account: Holding): void {
    if (trust === 'new' && isSilent) this.#silent -= 1;
    else this.#held[trust] -= 1;
    this.#count(trust, account, -1);
  }

  #count(trust: Trust, account: Holding, by: 1 | -1): void {
    if (trust === 'hung') account.hung += by;
    if (trust === 'hung' || trust === 'new') account.unproven += by;
  }

  #freeInAll(): number {
    const { hung, new: fresh, slow, quick } = this.#held;
    return this.#limits.quick - hung - fresh - slow - quick - this.#silent;
  }

  #freeInShare(trust: Trust): number {
    const { hung, new: fresh, slow } = this.#held;
    if (trust === 'quick') return Infinity;
    const ofSlow = this.#limits.slow - hung - fresh - slow - this.#silent;
    if (trust === 'slow') return ofSlow;
    const ofNew = Math.min(ofSlow, this.#limits.new - hung - fresh);
    return trust === 'new' ? ofNew : Math.min(ofNew, this.#limits.hung - hung);
  }

  #isWithinPart(trust: Trust, account: Holding): boolean {
    if (trust === 'quick' || trust === 'slow') return true;
    const { hung, new: fresh } = this.#held;
    const limits = this.#limits;
    const lent = limits.new * LENT_PART;
    if (account.unproven >= part(limits.new) && Math.max(account.unproven, hung + fresh) >= lent) return false;
    return trust === 'new' || account.hung < part(limits.hung) || hung < limits.hung * LENT_PART;
  }
}

function part(limit: number): number {
  return Math.max(1, Math.floor(limit * ACCOUNT_PART));
}
