import type { ParkedRow } from '@waybell/line/messages';
import type { QueryRows } from './query-rows.ts';
import type { ParkingStore, RowKey } from './parking-store.ts';

/** Locks each head's key until its rows are in, so that the head is not deleted before they can be seen. */
const PUT_IN = {
  name: 'put-in-parked',
  text: `
    with held as materialized (
      select subscription from waybell.parked_heads where subscription = any ($1::uuid[])
      order by subscription for key share
    ), put_in as (
      insert into waybell.parked (subscription, created_at, delivery, attempt, hop, why, not_before, action, note,
        traceparent, body)
      select subscription, created_at, delivery, attempt, hop, why, now() + make_interval(secs => not_before_ms / 1000),
        action, note, traceparent, body
      from held join unnest($1::uuid[], $2::bigint[], $3::text[], $4::int[], $5::int[], $6::text[], $7::float8[],
        $8::text[], $9::text[], $10::text[], $11::bytea[]) as r (subscription, created_at, delivery,
        attempt, hop, why, not_before_ms, action, note, traceparent, body) using (subscription)
      -- In the order of their keys, as the heads are held: those who park the same wait for each other, and never in a circle.
      order by subscription, created_at, delivery collate "C", attempt, hop
      on conflict do nothing
    )
    select subscription from held`,
};

/** Committed before the rows come, so that a changed URL finds the heads. */
const MAKE_HEADS = {
  name: 'make-parked-heads',
  text: `
    with known as materialized (
      select subscription_guid as subscription, account_guid as account from waybell.delivery_targets
      where subscription_guid = any ($1::uuid[])
    ), made as (
      insert into waybell.parked_heads (subscription, account, shard)
      select subscription, account, waybell.shard_of(account) from known order by subscription
      on conflict do nothing
    )
    select subscription from known`,
};

const KEYS = `unnest($1::uuid[], $2::bigint[], $3::text[], $4::int[], $5::int[])
  with ordinality as k (subscription, created_at, delivery, attempt, hop, place)`;
const SAME_ATTEMPT = `(p.subscription, p.created_at, p.delivery, p.attempt)
  = (k.subscription, k.created_at, k.delivery, k.attempt)`;

/** A first attempt may also be stored as an open request, by a process that makes it or died over it. */
const HAS = {
  name: 'has-parked',
  text: `select exists (select from waybell.parked p where ${SAME_ATTEMPT} and p.hop >= k.hop)
           or ($6::bool[])[k.place] and exists (select from waybell.open_requests o
             where (o.delivery, o.created_at, o.attempt) = (k.delivery, k.created_at, k.attempt)) as "isParked"
         from ${KEYS} order by place`,
};

/** Resets the deaths of heads, as their owner has survived a row. */
const REMOVE = {
  name: 'remove-parked',
  text: `
    with gone as (
      delete from waybell.parked p using ${KEYS} where ${SAME_ATTEMPT} and p.hop = k.hop returning p.subscription
    )
    update waybell.parked_heads set deaths = 0 where deaths <> 0 and subscription in (select subscription from gone)`,
};

export type SubscriptionGuid = { subscription: string };

export function rowsIn(queryRows: QueryRows): Pick<ParkingStore, 'insert' | 'has' | 'remove'> {
  return {
    async insert(rows) {
      const unknown: string[] = [];
      let left = [...rows];
      while (left.length > 0) {
        const held = await queryRows<SubscriptionGuid>(PUT_IN, columnsOf(left));
        const headless = without([...new Set(left.map(({ subscription }) => subscription))], held);
        if (headless.length === 0) break;
        // A head that is deleted before the rows are in is made again.
        const known = await queryRows<SubscriptionGuid>(MAKE_HEADS, [headless]);
        unknown.push(...without(headless, known));
        const made = new Set(known.map(({ subscription }) => subscription));
        left = left.filter(({ subscription }) => made.has(subscription));
      }
      if (unknown.length > 0) throw new Error(`nothing can be parked for ${unknown.join(', ')}: no such subscription`);
    },
    async has(keys) {
      if (keys.length === 0) return [];
      const found = await queryRows<{ isParked: boolean }>(HAS, [
        ...keyColumns(keys),
        keys.map(({ mayBeOpen }) => mayBeOpen),
      ]);
      return found.map(({ isParked }) => isParked);
    },
    async remove(keys) {
      if (keys.length > 0) await queryRows(REMOVE, keyColumns(keys));
    },
  };
}

function without(subscriptions: readonly string[], found: readonly SubscriptionGuid[]): string[] {
  const others = new Set(found.map(({ subscription }) => subscription));
  return subscriptions.filter((subscription) => !others.has(subscription));
}

function keyColumns(keys: readonly RowKey[]): unknown[] {
  return [
    keys.map(({ subscription }) => subscription),
    keys.map(({ createdAt }) => createdAt),
    keys.map(({ delivery }) => delivery),
    keys.map(({ attempt }) => attempt),
    keys.map(({ hop }) => hop),
  ];
}

function columnsOf(rows: readonly ParkedRow[]): unknown[] {
  return [
    ...keyColumns(rows),
    rows.map(({ why }) => why),
    rows.map(({ notBeforeMs }) => notBeforeMs ?? null),
    rows.map(({ action }) => action),
    rows.map(({ note }) => note),
    rows.map(({ traceparent }) => traceparent ?? null),
    rows.map(({ body }) => body),
  ];
}
