import { LEASE_MS, SHARDS } from '../parking-store.ts';
import { settleLeases, type Settlement } from '../share-out.ts';

type MemoryLease = { owner: string | undefined; until: number };

/** The owner of each shard. */
export class MemoryLeases {
  readonly #now: () => number;
  readonly #leases: MemoryLease[] = Array.from({ length: SHARDS }, () => ({ owner: undefined, until: -Infinity }));
  readonly #seenAt = new Map<string, number>();

  constructor(now: () => number) {
    this.#now = now;
  }

  lease(owner: string, keep: ReadonlySet<number>): Settlement & { deliverers: number } {
    const now = this.#now();
    this.#seenAt.set(owner, now);
    for (const [other, seenAt] of this.#seenAt) if (seenAt < now - LEASE_MS) this.#seenAt.delete(other);
    const others = [...this.#seenAt.keys()].filter((other) => other !== owner);
    const leases = this.#leases.map((lease, shard) => ({ shard, owner: lease.owner, isExpired: lease.until < now }));
    const settled = settleLeases(leases, { owner, others, keep });
    for (const shard of settled.owned) this.#leases[shard] = { owner, until: now + LEASE_MS };
    for (const shard of settled.released) this.#leases[shard] = { owner: undefined, until: -Infinity };
    return { ...settled, deliverers: 1 + others.length };
  }

  release(owner: string): void {
    this.#seenAt.delete(owner);
    for (const lease of this.#leases) if (lease.owner === owner) lease.owner = undefined;
  }
}
