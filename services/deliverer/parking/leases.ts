import { inTransaction, whenAvailable, type Postgres, type Queryable } from '@waybell/runtime/postgres';
import { LEASE_MS, type ParkingStore } from './parking-store.ts';
import { settleLeases, type ShardLease, type Settlement } from './share-out.ts';

const LEASE = `interval '${LEASE_MS} milliseconds'`;

/** Locks all shards in order: owners that come at once wait for each other. */
const LOCK = {
  name: 'lock-parked-shards',
  text: `select shard, owner, leased_until < now() as "isExpired" from waybell.parked_shards order by shard for update`,
};

const OTHERS = {
  name: 'parked-owners',
  text: `
    with seen as (
      insert into waybell.parked_owners (owner, seen_at, actions) values ($1, now(), $2)
      on conflict (owner) do update set seen_at = excluded.seen_at
    ), gone as (
      delete from waybell.parked_owners where owner <> $1 and seen_at < now() - ${LEASE}
    )
    select owner, coalesce(actions && $2, true) as "isBeside" from waybell.parked_owners where owner <> $1 and seen_at >= now() - ${LEASE}`,
};

const WRITE = {
  name: 'lease-parked-shards',
  text: `
    update waybell.parked_shards set owner = case when shard = any ($2::int[]) then $1::uuid end,
      leased_until = case when shard = any ($2::int[]) then now() + ${LEASE} end
    where shard = any ($2::int[]) or shard = any ($3::int[])`,
};

const COUNT_DEATHS = {
  name: 'count-deaths',
  text: `
    update waybell.parked_heads set deaths = deaths + 1 where subscription in (
      select subscription from waybell.parked_heads where shard = any ($1::int[]) order by subscription for no key update)`,
};

/** Locks shards first, as leasing does. */
const RELEASE = {
  name: 'release-parked-shards',
  text: `
    with gone as (delete from waybell.parked_owners where owner = $1)
    update waybell.parked_shards set owner = null, leased_until = null where shard in (
      select shard from waybell.parked_shards where owner = $1 order by shard for update)`,
};

/** `actions`: those that this process delivers. An owner whose row names none takes all. */
export function leasesIn(postgres: Postgres, actions: readonly string[]): Pick<ParkingStore, 'lease' | 'release'> {
  return {
    async lease(owner, keep) {
      // The owner counts its lease from before this: by its clock the lease ends first.
      const { owned, taken, leaving, deliverers } = await whenAvailable(postgres, () =>
        inTransaction(postgres, async (client) => {
          const leases = await lock(client);
          const others = await sayThatItLives(client, [owner, actions]);
          const settled = settleLeases(leases, { owner, keep, others: others.map((other) => other.owner) });
          await write(client, owner, settled);
          return { ...settled, deliverers: 1 + others.filter(({ isBeside }) => isBeside).length };
        }),
      );
      return { owned, taken, leaving, deliverers };
    },
    async release(owner) {
      await whenAvailable(postgres, () => postgres.query({ ...RELEASE, values: [owner] }));
    },
  };
}

async function lock(client: Queryable): Promise<ShardLease[]> {
  const { rows } = await client.query<{ shard: number; owner: string | null; isExpired: boolean | null }>(LOCK);
  return rows.map(({ shard, owner, isExpired }) => ({
    shard,
    owner: owner ?? undefined,
    isExpired: isExpired === true,
  }));
}

async function sayThatItLives(client: Queryable, values: [owner: string, actions: readonly string[]]) {
  const { rows } = await client.query<{ owner: string; isBeside: boolean }>({ ...OTHERS, values });
  return rows;
}

async function write(client: Queryable, owner: string, { owned, released, orphaned }: Settlement): Promise<void> {
  await client.query({ ...WRITE, values: [owner, owned, released] });
  if (orphaned.length > 0) await client.query({ ...COUNT_DEATHS, values: [orphaned] });
}
