import type { Clock, Timer } from '@waybell/runtime/clock';
import { LEASE_MS, type ParkingStore } from './parking-store.ts';

export type OwnedShardsOptions = {
  store: Pick<ParkingStore, 'lease' | 'release'>;
  /** Names this process. */
  owner: string;
  clock: Clock;
  /** Called when the lease of some shards has ended or was lost. */
  onLost: (isLost: (shard: number) => boolean) => void;
};

/**
 * The shards that this process has a lease of. Counts the lease by its own monotonic clock, from before it asked: a process
 * that stood still finds at once that it owns nothing any more.
 */
export class OwnedShards {
  readonly #options: OwnedShardsOptions;
  #shards: ReadonlySet<number> = new Set();
  #leaving: ReadonlySet<number> = new Set();
  #until = -Infinity;
  #deliverers = 1;
  #timer: Timer | undefined;

  constructor(options: OwnedShardsOptions) {
    this.#options = options;
  }

  /** Empty once the lease is over. */
  current(): number[] {
    this.#check();
    return [...this.#shards];
  }

  /** How many deliverers share the work of this one, itself included; the last known number while Postgres is away. */
  get deliverers(): number {
    return this.#deliverers;
  }

  /** Another deliverer is to have the shard: rows in hand are finished, and no more are taken. */
  isLeaving(shard: number): boolean {
    return this.#leaving.has(shard);
  }

  /** Resolves with the shards that are new, or no longer leaving. `keep`: shards of rows in hand. */
  async renew(keep: ReadonlySet<number>): Promise<number[]> {
    const { store, owner, clock, onLost } = this.#options;
    const askedAt = clock.now();
    const { owned, taken, leaving, deliverers } = await store.lease(owner, keep);
    this.#deliverers = deliverers;
    this.#check();
    const [before, now, fresh] = [this.#shards, new Set(owned), new Set(taken)];
    // A shard that another owned in between is lost, even though it is here again.
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
