import type { ResponseSpeed } from './endpoint.ts';
import { START_SIZE } from './window.ts';

/** The expected behaviour of an endpoint: the speed of its last answer, `new` without one, or `hung`. */
export type EndpointClass = ResponseSpeed | 'new';

/** From the worst to the best. */
export const ENDPOINT_CLASSES = ['hung', 'new', 'slow', 'quick'] as const satisfies EndpointClass[];

/** Parts of all slots, from 0 to 1: how much the endpoints of a class and all worse ones may hold together. */
export type Shares = Record<Exclude<EndpointClass, 'quick'>, number>;

/** Slots that an account holds for new and hung endpoints (`unproven`), and among them for hung ones. */
export type AccountSlots = { unproven: number; hung: number };

/** An account holds at most this part of the slots for unproven endpoints, and of those for hung ones, … */
const ACCOUNT_PART = 1 / 8;
/** … unless less than this part of them is used. */
const LENT_PART = 3 / 4;
const HALF = 1 / 2;

/**
 * Counts requests under way over all endpoints. Worse classes hold at most a share, so that better ones always have the
 * rest: a request begins only while probes of hung endpoints ≤ their share, these and new ≤ theirs, these, slow and silent
 * ≤ theirs, and all ≤ the slots. A silent request to a new endpoint makes way for other new ones: it is as good as hung.
 */
export class Slots {
  readonly #limits: Record<EndpointClass, number>;
  readonly #held: Record<EndpointClass, number> = { hung: 0, new: 0, slow: 0, quick: 0 };
  /** Silent requests to new endpoints; `#held.new` does not count them. */
  #silent = 0;
  /** Free slots that are kept for probes. */
  reserved = 0;

  constructor(slots: number, shares: Shares) {
    const limit = (share: number) => Math.max(1, Math.floor(slots * share));
    this.#limits = { hung: limit(shares.hung), new: limit(shares.new), slow: limit(shares.slow), quick: slots };
  }

  held(): Record<EndpointClass, number> {
    return { ...this.#held };
  }

  /** Slots that endpoints of this class could take now, of any account. */
  free(endpointClass: EndpointClass): number {
    return Math.max(0, Math.min(this.#freeInShare(endpointClass), this.#freeInAll()));
  }

  /** `hasReserved`: a slot is kept for its probe. */
  admits(endpointClass: EndpointClass, account: AccountSlots, hasReserved = false): boolean {
    return (hasReserved || this.free(endpointClass) > 0) && this.#isWithinPart(endpointClass, account);
  }

  /** Whether only a slot is missing, which an endpoint of a better class holds. */
  lacksOnlySlots(endpointClass: EndpointClass, account: AccountSlots): boolean {
    return this.#freeInAll() <= 0 && this.#freeInShare(endpointClass) > 0 && this.#isWithinPart(endpointClass, account);
  }

  /** Whether less than half of the slots for hung endpoints are used. */
  isHungHalfFree(): boolean {
    return this.#held.hung < this.#limits.hung * HALF;
  }

  /** The window with which a new endpoint begins: 1 if slots for unproven endpoints are scarce. */
  startSize(account: AccountSlots): number {
    const isRoomy = this.#held.hung + this.#held.new + this.#silent < this.#limits.new * HALF;
    return isRoomy && account.unproven < part(this.#limits.new) ? START_SIZE : 1;
  }

  take(endpointClass: EndpointClass, account: AccountSlots): void {
    this.#held[endpointClass] += 1;
    this.#count(endpointClass, account, 1);
  }

  /** A request has been silent for longer than an answer takes. */
  fallSilent({ endpointClass }: { endpointClass: EndpointClass }): void {
    if (endpointClass !== 'new') return;
    this.#held.new -= 1;
    this.#silent += 1;
  }

  giveBack(
    { endpointClass, isSilent }: { endpointClass: EndpointClass; isSilent: boolean },
    account: AccountSlots,
  ): void {
    if (endpointClass === 'new' && isSilent) this.#silent -= 1;
    else this.#held[endpointClass] -= 1;
    this.#count(endpointClass, account, -1);
  }

  #count(endpointClass: EndpointClass, account: AccountSlots, by: 1 | -1): void {
    if (endpointClass === 'hung') account.hung += by;
    if (endpointClass === 'hung' || endpointClass === 'new') account.unproven += by;
  }

  #freeInAll(): number {
    const { hung, new: fresh, slow, quick } = this.#held;
    return this.#limits.quick - hung - fresh - slow - quick - this.#silent - this.reserved;
  }

  #freeInShare(endpointClass: EndpointClass): number {
    const { new: fresh, slow } = this.#held;
    const hung = this.#held.hung + this.reserved;
    if (endpointClass === 'quick') return Infinity;
    const ofSlow = this.#limits.slow - hung - fresh - slow - this.#silent;
    if (endpointClass === 'slow') return ofSlow;
    const ofNew = Math.min(ofSlow, this.#limits.new - hung - fresh);
    return endpointClass === 'new' ? ofNew : Math.min(ofNew, this.#limits.hung - hung);
  }

  #isWithinPart(endpointClass: EndpointClass, account: AccountSlots): boolean {
    if (endpointClass === 'quick' || endpointClass === 'slow') return true;
    const { hung, new: fresh } = this.#held;
    const limits = this.#limits;
    const lent = limits.new * LENT_PART;
    if (account.unproven >= part(limits.new) && Math.max(account.unproven, hung + fresh) >= lent) return false;
    return endpointClass === 'new' || account.hung < part(limits.hung) || hung < limits.hung * LENT_PART;
  }
}

function part(limit: number): number {
  return Math.max(1, Math.floor(limit * ACCOUNT_PART));
}
