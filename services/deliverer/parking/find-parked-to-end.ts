import type { Clock } from '@waybell/runtime/clock';
import { dropReason } from '../what-is-over.ts';
import type { FindTargets, KnownTarget } from '../find-target.ts';
import { Unavailable } from '@waybell/runtime/unavailable';
import { EndParked } from './end-parked.ts';
import type { OwnedEndpoints } from './owned-endpoints.ts';
import type { ParkingStore } from './parking-store.ts';
import type { ParkedRowsInHand } from './parked-rows-in-hand.ts';
import type { HeldRows } from './take-where-room.ts';

/** How much may be parked: in hand at once, of one account, and of all together. */
export type ParkedLimits = { held: HeldRows; ofAccount: HeldRows; ofAll: HeldRows };

export type FindParkedToEndOptions = {
  store: Pick<ParkingStore, 'take' | 'sums' | 'oldest' | 'newestWithin'>;
  owned: OwnedEndpoints;
  inHand: ParkedRowsInHand;
  findTargets: FindTargets;
  parked: ParkedLimits;
  maxAgeMs: number;
  clock: Clock;
  now: () => number;
  isPaused: () => boolean;
  isLeaving: (shard: number) => boolean;
  /** Called for an account that has less parked than its sum says. */
  onMiscounted: (account: string) => void;
  onFailed: (error: unknown) => void;
};

const MOST_LOOKED_UP = 1_000;

/**
 * Finds parked deliveries that are to end without an attempt: their subscription is gone or off, they are too old, or too
 * many.
 */
export class FindParkedToEnd {
  readonly #options: FindParkedToEndOptions;
  readonly #ends: EndParked;
  /** Subscriptions that may have changed. */
  readonly #toCheck = new Set<string>();
  /** Rows and bytes parked for all accounts. */
  all: HeldRows = { rows: 0, bytes: 0 };
  /** Age of the oldest parked delivery that this process owns. */
  oldestMs = 0;

  constructor(options: FindParkedToEndOptions) {
    this.#options = options;
    this.#ends = new EndParked({ ...options, limit: options.parked.held });
  }

  close(): void {
    this.#ends.clear();
  }

  changed(subscription: string): void {
    this.#toCheck.add(subscription);
  }

  /** Ends what is parked for changed subscriptions that ended, were switched off, or lost their feature. */
  async checkChanged(): Promise<void> {
    const changed = [...this.#toCheck];
    let away: Unavailable | undefined;
    for (let first = 0; first < changed.length; first += MOST_LOOKED_UP) {
      const some = changed.slice(first, first + MOST_LOOKED_UP);
      const targets = await this.#options.findTargets(some);
      for (const [place, subscription] of some.entries()) {
        const target = targets[place];
        if (target instanceof Unavailable) away = target;
        else this.#checked(subscription, target);
      }
    }
    if (away !== undefined) throw away;
  }

  /**
   * Ends the oldest deliveries of an account beyond its own limit, and of the largest account beyond the limit for all. Sums
   * only say which account to look at, and are counted again where they were wrong.
   */
  async enforceLimits(shards: readonly number[]): Promise<void> {
    if (shards.length === 0) return;
    const { store, owned, parked, onMiscounted } = this.#options;
    const { all, own, largest } = await store.sums(shards);
    this.all = all;
    for (const sum of own) {
      const { account } = sum;
      const mayHave = largest?.account === account ? withinAll(sum, all, parked) : parked.ofAccount;
      if (!isWellBeyond(sum, mayHave) || this.#ends.has(account)) continue;
      const subscriptions = owned.ofAccount(account);
      const { since, others } = await store.newestWithin(subscriptions, mayHave);
      if (others === 0) onMiscounted(account);
      else this.#ends.begin({ name: account, account, subscriptions, madeBefore: since, isOverLimit: true });
    }
  }

  /** Ends deliveries that grew too old while they were parked. */
  async endTooOld(): Promise<void> {
    const { store, owned, maxAgeMs, now } = this.#options;
    const subscriptions = owned.subscriptions();
    let oldestAt = now();
    for (let first = 0; first < subscriptions.length; first += MOST_LOOKED_UP) {
      const oldest = await store.oldest(subscriptions.slice(first, first + MOST_LOOKED_UP));
      for (const [subscription, { createdAt }] of oldest) {
        oldestAt = Math.min(oldestAt, createdAt);
        const madeBefore = now() - maxAgeMs;
        if (createdAt < madeBefore && !this.#ends.has(subscription)) this.#end(subscription, { madeBefore });
      }
    }
    this.oldestMs = now() - oldestAt;
  }

  #checked(subscription: string, target: KnownTarget): void {
    this.#toCheck.delete(subscription);
    // The handler of its deliveries reports a subscription that cannot be read.
    if (!(target instanceof Error) && dropReason(target) !== undefined) this.#end(subscription);
    else this.#ends.stop(subscription);
  }

  #end(subscription: string, which: { madeBefore?: number } = {}): void {
    const account = this.#options.owned.of(subscription)?.account;
    if (account === undefined) return;
    this.#ends.begin({ name: subscription, account, subscriptions: [subscription], isOverLimit: false, ...which });
  }
}

/** Sums drift a little, and to find a few rows takes as long as to find many. */
const WELL_BEYOND = 1.01;

function isWellBeyond(sum: HeldRows, limit: HeldRows): boolean {
  return sum.rows > WELL_BEYOND * limit.rows || sum.bytes > WELL_BEYOND * limit.bytes;
}

/** Limit for the largest account, so that all together stay within theirs. */
function withinAll(largest: HeldRows, all: HeldRows, { ofAccount, ofAll }: ParkedLimits): HeldRows {
  const left = (of: keyof HeldRows) =>
    Math.max(0, Math.min(ofAccount[of], largest[of] - Math.max(0, all[of] - ofAll[of])));
  return isWellBeyond(all, ofAll) ? { rows: left('rows'), bytes: left('bytes') } : ofAccount;
}
