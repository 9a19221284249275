import type { ParkedRow } from '@waybell/line/messages';
import type { Queryable } from '@waybell/runtime/postgres';
import type { StoredParkedRow } from './from-parked.ts';

/** The rows that are meant. */
export type ParkedSelection = { kind: 'all' } | { kind: 'account' | 'subscription'; guid: string };

/** A subscription with parked rows; its account, where it has one still. */
export type Chosen = { subscription: string; account: string | null };

/** Behind which row of a subscription the next ones are. */
export type ParkedRowCursor = Pick<ParkedRow, 'createdAt' | 'delivery' | 'attempt' | 'hop'>;

export const BEFORE_ALL: ParkedRowCursor = { createdAt: -1, delivery: '', attempt: 0, hop: 0 };

// Found by a step from one to the next: there may be millions of rows, and few of these.
const SUBSCRIPTIONS = `
  with recursive parked (subscription) as (
    (select subscription from waybell.parked order by subscription limit 1)
    union all
    select (select p.subscription from waybell.parked p where p.subscription > parked.subscription order by p.subscription limit 1)
    from parked where parked.subscription is not null
  )
  select p.subscription, s.account_guid as account
  from parked p left join waybell.subscriptions s on s.guid = p.subscription
  where p.subscription is not null and ($1::uuid is null or s.account_guid = $1) and ($2::uuid is null or p.subscription = $2)
  order by p.subscription`;

/** The subscriptions of which anything is parked, of those that are meant. */
export async function chosen(postgres: Queryable, choice: ParkedSelection): Promise<Chosen[]> {
  const account = choice.kind === 'account' ? choice.guid : null;
  const subscription = choice.kind === 'subscription' ? choice.guid : null;
  return (await postgres.query<Chosen>(SUBSCRIPTIONS, [account, subscription])).rows;
}

const MOST_ROWS = 256;
const MOST_BYTES = 2 ** 20;

// Bodies are read of those alone that are taken.
const TAKE = `
  with next as materialized (
    select created_at, delivery, attempt, hop, coalesce(octet_length(body), 0) as size from waybell.parked
    where subscription = $1 and (created_at, delivery, attempt, hop) > ($2::bigint, $3, $4::int, $5::int)
    order by created_at, delivery, attempt, hop limit ${MOST_ROWS}
  ), summed as (
    select *, sum(size) over (order by created_at, delivery, attempt, hop) - size as before from next
  )
  select p.subscription, created_at::float8 as "createdAt", delivery, attempt, hop, p.why, p.action, p.note,
    p.traceparent, p.body
  from summed join waybell.parked p using (created_at, delivery, attempt, hop)
  where p.subscription = $1 and before < ${MOST_BYTES}
  order by created_at, delivery, attempt, hop`;

type Read = Omit<StoredParkedRow, 'traceparent'> & { traceparent: string | null };

/** The next rows of a subscription, the oldest first: so many, and so large together, that they fit into memory. */
export async function takeRows(
  postgres: Queryable,
  { subscription }: Chosen,
  { createdAt, delivery, attempt, hop }: ParkedRowCursor,
): Promise<StoredParkedRow[]> {
  const { rows } = await postgres.query<Read>(TAKE, [subscription, createdAt, delivery, attempt, hop]);
  return rows.map(({ traceparent, ...row }) => ({ ...row, ...(traceparent === null ? {} : { traceparent }) }));
}

/** Deletes rows and what was counted of them, and of a subscription without any the head as well. */
export async function deleteRows(
  postgres: Queryable,
  { subscription: { subscription, account }, rows }: { subscription: Chosen; rows: readonly StoredParkedRow[] },
): Promise<void> {
  const columns = [
    rows.map(({ createdAt }) => createdAt),
    rows.map(({ delivery }) => delivery),
    rows.map(({ attempt }) => attempt),
    rows.map(({ hop }) => hop),
  ];
  await postgres.query(
    `delete from waybell.parked p using unnest($2::bigint[], $3::text[], $4::int[], $5::int[]) as gone (created_at, delivery, attempt, hop)
     where p.subscription = $1 and (p.created_at, p.delivery, p.attempt, p.hop) = (gone.created_at, gone.delivery, gone.attempt, gone.hop)`,
    [subscription, ...columns],
  );
  const bytes = rows.reduce((sum, { body }) => sum + (body?.length ?? 0), 0);
  await postgres.query(
    `update waybell.parked_sums set rows = greatest(0, rows - $2), bytes = greatest(0, bytes - $3) where account = $1`,
    [account, rows.length, bytes],
  );
  if (rows.length > 0) return;
  // Looked at again under the lock: what is parked meanwhile keeps its head.
  await postgres.query('select from waybell.parked_heads where subscription = $1 for update', [subscription]);
  await postgres.query(
    `delete from waybell.parked_heads where subscription = $1 and not exists (select from waybell.parked where subscription = $1)`,
    [subscription],
  );
}
