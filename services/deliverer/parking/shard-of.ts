import { createHash } from 'node:crypto';
import { SHARDS } from './parking-store.ts';

/** The shard of an account; the same as `waybell.shard_of(account)` in Postgres. */
export function shardOf(account: string): number {
  const [first = 0] = createHash('sha256')
    .update(Buffer.from(account.replaceAll('-', ''), 'hex'))
    .digest();
  return first % SHARDS;
}
