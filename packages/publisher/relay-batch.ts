import { setMaxListeners } from 'node:events';
import type { OutboxQueries } from './outbox.ts';
import { InvalidEvent, NotConfirmed } from './publish-errors.ts';
import type { Publisher } from './publisher.ts';

/** An event that the broker never takes: it stays in the outbox, with the reason. */
export interface FailedEvent {
  guid: string;
  /** `<interface>.<action>` */
  routingKey: string;
  why: string;
}

export type RelayBatch = {
  /** How many were found. */
  found: number;
  published: number;
  failed: FailedEvent[];
  /** Routing keys of which an event was confirmed, and those of which one was not confirmed in time. */
  confirmedKeys: Set<string>;
  lateKeys: Set<string>;
};

export type BatchOptions = {
  postgres: OutboxQueries;
  /** The outbox, as SQL names it. */
  table: string;
  publisher: Pick<Publisher, 'send'>;
  /** Events, at most. */
  most: number;
  /** Routing keys whose events are not published now. */
  skippedKeys: readonly string[];
  /** Approximate limit of an open transaction. */
  confirmLimitMs: number;
};

const MOST_BYTES = 8 * 2 ** 20;

/**
 * Sets what the role or the database may have otherwise by default. If a relay stands still, Postgres ends its transaction, so that
 * another relay claims the rows; a shorter limit would end a transaction that waits for confirms.
 */
const BEGIN = `
begin isolation level read committed read write;
set local idle_in_transaction_session_timeout = '15s'`;

/** Locks rows that no other relay has, oldest first, up to a number and about a size in bytes. */
const claimOf = (table: string): string => `
with locked as materialized (
  select id, guid, routing_key, event from ${table}
  where failed is null and routing_key <> all($2::text[])
  order by id limit $1 for update skip locked
), summed as (
  select *, sum(octet_length(event)) over (order by id) - octet_length(event) as bytes_before from locked
)
select id::text, guid, routing_key, event from summed where bytes_before < $3`;
const removeOf = (table: string): string => `delete from ${table} where id = any($1::bigint[])`;
const setAsideOf = (table: string): string => `update ${table} set failed = $2 where id = $1::bigint`;

type ClaimedEvent = FailedEvent & { id: string; fate: 'confirmed' | 'late' | 'failed' };

/**
 * Publishes some events of the outbox, and removes those that the broker has confirmed. If the process dies before its commit, they are
 * found there again, with the same guid and bytes. Rejects if Postgres fails: then the connection is to be closed.
 */
export async function relayBatch(options: BatchOptions): Promise<RelayBatch> {
  const { postgres, table, publisher, most, skippedKeys, confirmLimitMs } = options;
  await postgres.query(BEGIN);
  const { rows } = await postgres.query(claimOf(table), [most, skippedKeys, MOST_BYTES]);
  const limit = new AbortController();
  // Each event listens.
  setMaxListeners(0, limit.signal);
  const timer = setTimeout(() => limit.abort(), confirmLimitMs);
  const claimed = await Promise.all(rows.map((row) => publishRow(publisher, row, limit.signal)));
  clearTimeout(timer);
  const confirmed = claimed.filter(({ fate }) => fate === 'confirmed');
  const failed = claimed.filter(({ fate }) => fate === 'failed');
  if (confirmed.length > 0) await postgres.query(removeOf(table), [confirmed.map(({ id }) => id)]);
  for (const { id, why } of failed) await postgres.query(setAsideOf(table), [id, why]);
  await postgres.query('commit');
  return {
    found: rows.length,
    published: confirmed.length,
    failed,
    confirmedKeys: new Set(confirmed.map(({ routingKey }) => routingKey)),
    lateKeys: new Set(claimed.flatMap(({ fate, routingKey }) => (fate === 'late' ? [routingKey] : []))),
  };
}

async function publishRow(
  publisher: BatchOptions['publisher'],
  row: Record<string, unknown>,
  signal: AbortSignal,
): Promise<ClaimedEvent> {
  const { id, guid, routing_key: routingKey, event } = row as Record<string, string>; // By the statement they are texts.
  const claimed = { id: id ?? '', guid: guid ?? '', routingKey: routingKey ?? '', why: '' };
  const body = Buffer.from(event ?? '');
  try {
    await publisher.send({ guid: claimed.guid, routingKey: claimed.routingKey, body }, { signal });
    return { ...claimed, fate: 'confirmed' };
  } catch (error) {
    if (error instanceof NotConfirmed) return { ...claimed, fate: 'late' };
    if (error instanceof InvalidEvent) return { ...claimed, fate: 'failed', why: error.message };
    throw error;
  }
}
