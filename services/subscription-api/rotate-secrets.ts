import type { KeyRing } from '@waybell/runtime/secrets';
import type { Queryable } from '@waybell/runtime/postgres';
import { openRow, resealRows, SEALED_COLUMNS } from './sealed-rows.ts';

export type SecretsRotation = {
  /** How many secrets this call put under the newest key. */
  rotated: number;
  /** Guids of rows whose secret their key does not open: they were left as they are. */
  unopened: string[];
  /** How many secrets each key holds now: keys of the ring, the newest first, then those that only the tables know. */
  inUse: Map<string, number>;
};

// Rows that were locked, or written meanwhile, are found by the next round. A process that never stops writing under an older key
// shows in the counts.
const MAX_PASSES = 3;

/**
 * Encrypts every secret of an older key of the ring again, under the newest. Everything may run meanwhile, this too: each
 * statement is a batch by itself, and changes a row only if it is what was read. It may be stopped anywhere and started again.
 * Secrets of keys that are not in the ring stay.
 */
export async function rotateSecrets(
  postgres: Queryable,
  { keyRing, batchSize = 500 }: { keyRing: KeyRing; batchSize?: number },
): Promise<SecretsRotation> {
  const [, ...keys] = keyRing.keyIds;
  const unopened = new Set<string>();
  let rotated = 0;
  for (const columns of SEALED_COLUMNS) {
    for (let pass = 1; pass <= MAX_PASSES; pass += 1) {
      const changed = await resealRows(postgres, {
        columns,
        keys,
        batchSize,
        reseal(row) {
          const secret = openRow(row, keyRing);
          if (secret !== undefined) return keyRing.seal(secret, row.guid);
          unopened.add(row.guid);
          return undefined;
        },
        ending: 'select guid from changed',
      });
      rotated += changed.length;
      if (changed.length === 0) break;
    }
  }
  return { rotated, unopened: [...unopened], inUse: await countByKey(postgres, keyRing) };
}

async function countByKey(postgres: Queryable, { keyIds }: KeyRing): Promise<Map<string, number>> {
  const each = SEALED_COLUMNS.map(({ table, keyId }) => `select ${keyId} as key_id from waybell.${table}`);
  const { rows } = await postgres.query<{ key_id: string; secrets: number }>(
    `select key_id, count(*)::int as secrets from (${each.join(' union all ')}) s group by key_id order by key_id`,
  );
  const counts = new Map<string, number>(keyIds.map((id) => [id, 0]));
  for (const { key_id: id, secrets } of rows) counts.set(id, secrets);
  return counts;
}
