import { createHash } from 'node:crypto';
import { SHARDS } from './parking-store.ts';

/** A shard with its owner, if any, whose lease may have expired. */
export type ShardLease = { shard: number; owner: string | undefined; isExpired: boolean };

/** Which shards an owner keeps, takes and releases. */
export type Settlement = {
  owned: number[];
  /** Owned shards that another had, or none. */
  taken: number[];
  /** Taken shards that their owner did not release. */
  orphaned: number[];
  released: number[];
  /** Owned shards that are no longer its share: kept only until their rows in hand are finished. */
  leaving: number[];
};

/** Decides which shards one living owner has. All that see the same owners compute the same shares. */
export function settleLeases(
  leases: readonly ShardLease[],
  { owner, others, keep }: { owner: string; others: readonly string[]; keep: ReadonlySet<number> },
): Settlement {
  const shares = shareOut([owner, ...others]);
  const settlement: Settlement = { owned: [], taken: [], orphaned: [], released: [], leaving: [] };
  for (const lease of leases) {
    const { shard } = lease;
    const isWanted = shares.get(shard) === owner;
    if (lease.owner === owner) {
      // Expired or not: no other had it since.
      if (!isWanted && keep.has(shard)) settlement.leaving.push(shard);
      if (isWanted || keep.has(shard)) settlement.owned.push(shard);
      else settlement.released.push(shard);
    } else if (isWanted && (lease.owner === undefined || lease.isExpired)) {
      settlement.owned.push(shard);
      settlement.taken.push(shard);
      if (lease.owner !== undefined) settlement.orphaned.push(shard);
    }
  }
  return settlement;
}

/**
 * Rendezvous hashing with equal shares: each shard goes to the owner with the highest weight for it that has capacity left,
 * so that few shards move when an owner comes or goes.
 */
function shareOut(owners: readonly string[]): Map<number, string> {
  const most = Math.ceil(SHARDS / owners.length);
  const capacity = new Map(owners.map((owner) => [owner, most]));
  const shares = new Map<number, string>();
  for (let shard = 0; shard < SHARDS; shard += 1) {
    const [first] = [...capacity.keys()].toSorted((one, other) =>
      weightOf(one, shard) < weightOf(other, shard) ? 1 : -1,
    );
    if (first === undefined) throw new Error('owners have capacity for all shards');
    shares.set(shard, first);
    const left = (capacity.get(first) ?? 0) - 1;
    if (left === 0) capacity.delete(first);
    else capacity.set(first, left);
  }
  return shares;
}

function weightOf(owner: string, shard: number): string {
  return createHash('sha256').update(`${owner} ${shard}`).digest('hex');
}
