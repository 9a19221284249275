import type { Clock, Timer } from '@waybell/runtime/clock';
import { LEASE_MS, type ParkingStore } from './parking-store.ts';

export type LeaseOptions = {
  store: Pick<ParkingStore, 'lease' | 'release'>;
  /** Names this process. */
  owner: string;
  clock: Clock;
  /** The lease of these shards is over, or was lost. */
  onLost: (isLost: (shard: number) => boolean) => void;
};

/**
 * The shards that this process owns, by its own monotonic clock: from before it asked, for as long as that was granted. A
 * process that stood still finds at once that it owns nothing any more.
 */
export class Lease {
  readonly #options: LeaseOptions;
  #shards: ReadonlySet<number> = new Set();
  #leaving: ReadonlySet<number> = new Set();
  #until = -Infinity;
  #deliverers = 1;
  #timer: Timer | undefined;

  constructor(options: LeaseOptions) {
    this.#options = options;
  }

  /** The shards that are owned now; none once the lease is over. */
  shards(): number[] {
    this.#check();
    return [...this.#shards];
  }

  /** How many deliverers share the work of this one, itself included; while Postgres is away, as many as there were. */
  get deliverers(): number {
    return this.#deliverers;
  }

  /** Another is to have it: what is in hand of it comes to its end, and no more is taken. */
  isLeaving(shard: number): boolean {
    return this.#leaving.has(shard);
  }

  /** Resolves with the shards that are new, or stay after all. `keep`: those of which there are rows in hand. */
  async renew(keep: ReadonlySet<number>): Promise<number[]> {
    const { store, owner, clock, onLost } = this.#options;
    const askedAt = clock.now();
    const { owned, taken, leaving, deliverers } = await store.lease(owner, keep);
    this.#deliverers = deliverers;
    this.#check();
    const [before, now, fresh] = [this.#shards, new Set(owned), new Set(taken)];
    // One that another had in between is lost, even though it is here again.
    const isLost = (shard: number) => before.has(shard) && (!now.has(shard) || fresh.has(shard));
    const wasLeaving = this.#leaving;
    this.#leaving = new Set(leaving);
    this.#shards = now;
    this.#until = askedAt + LEASE_MS;
    this.#watch();
    if ([...before].some(isLost)) onLost(isLost);
    this.#check();
    return [...this.#shards].filter(
      (shard) => fresh.has(shard) || !before.has(shard) || (wasLeaving.has(shard) && !this.isLeaving(shard)),
    );
  }

  async release(): Promise<void> {
    this.#timer?.[Symbol.dispose]();
    this.#shards = new Set();
    await this.#options.store.release(this.#options.owner);
  }

  #check(): void {
    if (this.#shards.size === 0 || this.#options.clock.now() < this.#until) return;
    this.#shards = new Set();
    this.#options.onLost(() => true);
  }

  #watch(): void {
    const { clock } = this.#options;
    this.#timer?.[Symbol.dispose]();
    this.#timer = clock.after(this.#until - clock.now(), () => this.#check());
    this.#timer.unref();
  }
}
