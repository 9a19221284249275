import { inTransaction, whenAvailable, type Postgres } from '@waybell/runtime/postgres';
import type { QueryRows } from './query-rows.ts';
import type { SubscriptionGuid } from './parked-rows.ts';
import type { ParkedHead, ParkingStore } from './parking-store.ts';

const LOOK = (shards: string) => `
  update waybell.parked_heads h set look_at = 'infinity' from (
    -- One that is locked is about to become due once more: it is seen at the next look.
    select subscription from waybell.parked_heads where shard = any (${shards}) and look_at <= now()
    order by subscription for no key update skip locked
  ) due
  where h.subscription = due.subscription returning h.subscription`;

const DUE = { name: 'look-at-parked-heads', text: LOOK('$1::int[]') };

/** Read after the heads are marked as seen: a URL that changes from then on makes them due again. */
const DESCRIBED = `
  h.subscription, h.account, h.shard, h.is_hung as "isHung", h.deaths,
  encode(waybell.endpoint_of(t.account_guid, t.callback_url), 'hex') as endpoint
  from waybell.parked_heads h join waybell.delivery_targets t on t.subscription_guid = h.subscription`;
const HEADS = { name: 'describe-parked-heads', text: `select ${DESCRIBED} where h.subscription = any ($1::uuid[])` };
const HEADS_OF_SHARDS = { name: 'heads-of-shards', text: `select ${DESCRIBED} where h.shard = any ($1::int[])` };

const WAKE = {
  name: 'wake-parked-head',
  text: 'update waybell.parked_heads set look_at = now() where subscription = $1',
};

const MARK_HUNG = {
  name: 'mark-parked-heads',
  text: `
    update waybell.parked_heads set is_hung = $2 where subscription in (
      select subscription from waybell.parked_heads where subscription = any ($1::uuid[]) and is_hung <> $2
      order by subscription for no key update)`,
};

const NO_ROW = 'not exists (select from waybell.parked p where p.subscription = h.subscription)';

// Skips locked heads: rows are being parked for them.
const LOCK_EMPTY = {
  name: 'lock-empty-heads',
  text: `select subscription from waybell.parked_heads h where subscription = any ($1::uuid[]) and ${NO_ROW}
         order by subscription for update skip locked`,
};
const DELETE_EMPTY = {
  name: 'delete-empty-heads',
  text: `delete from waybell.parked_heads h where subscription = any ($1::uuid[]) and ${NO_ROW} returning subscription`,
};

type Heads = Pick<ParkingStore, 'heads' | 'dueHeads' | 'wake' | 'markHung' | 'removeEmpty'>;

export function headsIn(postgres: Postgres, queryRows: QueryRows): Heads {
  return {
    async heads(shards) {
      await queryRows(DUE, [shards]);
      return queryRows<ParkedHead>(HEADS_OF_SHARDS, [shards]);
    },
    async dueHeads(shards) {
      const due = await queryRows<SubscriptionGuid>(DUE, [shards]);
      return due.length === 0 ? [] : queryRows<ParkedHead>(HEADS, [guidsOf(due)]);
    },
    async wake(subscription) {
      await queryRows(WAKE, [subscription]);
    },
    async markHung(subscriptions, isHung) {
      if (subscriptions.length > 0) await queryRows(MARK_HUNG, [subscriptions, isHung]);
    },
    async removeEmpty(subscriptions) {
      if (subscriptions.length === 0) return [];
      return whenAvailable(postgres, () => removeEmpty(postgres, subscriptions));
    },
  };
}

/** Checks again under the lock, by a statement of its own, which sees what was parked until then. */
async function removeEmpty(postgres: Postgres, subscriptions: readonly string[]): Promise<string[]> {
  return inTransaction(postgres, async (client) => {
    const locked = await client.query<SubscriptionGuid>({ ...LOCK_EMPTY, values: [subscriptions] });
    if (locked.rows.length === 0) return [];
    const gone = await client.query<SubscriptionGuid>({ ...DELETE_EMPTY, values: [guidsOf(locked.rows)] });
    return guidsOf(gone.rows);
  });
}

function guidsOf(rows: readonly SubscriptionGuid[]): string[] {
  return rows.map(({ subscription }) => subscription);
}
