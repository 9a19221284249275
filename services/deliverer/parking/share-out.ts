import { createHash } from 'node:crypto';
import { SHARDS } from './parking-store.ts';

/** A shard and its owner: none, or one that may have let its lease run out. */
export type Lease = { shard: number; owner: string | undefined; isExpired: boolean };

/** What an owner does with shards: keeps or takes them, or gives them back. */
export type Settlement = {
  owned: number[];
  /** Shards that it owns now, and that another had, or none. */
  taken: number[];
  /** Shards that it takes, and that their owner did not release. */
  orphaned: number[];
  released: number[];
  /** Shards that it owns and that are no longer its share: kept only until what is in hand of them has come to its end. */
  leaving: number[];
};

/** What one of the owners that live is to do now. All that see the same owners come to the same shares. */
export function settleLeases(
  leases: readonly Lease[],
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
 * Rendezvous hashing, of which no owner gets more than an equal share: each shard goes to the owner that wants it most and has
 * room for it, so that few shards move when an owner comes or goes.
 */
function shareOut(owners: readonly string[]): Map<number, string> {
  const most = Math.ceil(SHARDS / owners.length);
  const room = new Map(owners.map((owner) => [owner, most]));
  const shares = new Map<number, string>();
  for (let shard = 0; shard < SHARDS; shard += 1) {
    const [first] = [...room.keys()].toSorted((one, other) => (wish(one, shard) < wish(other, shard) ? 1 : -1));
    if (first === undefined) throw new Error('one owner has room for every shard');
    shares.set(shard, first);
    const left = (room.get(first) ?? 0) - 1;
    if (left === 0) room.delete(first);
    else room.set(first, left);
  }
  return shares;
}

function wish(owner: string, shard: number): string {
  return createHash('sha256').update(`${owner} ${shard}`).digest('hex');
}
