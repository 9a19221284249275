import type { KeyRing, Sealed } from '@waybell/runtime/secrets';
import type { Queryable } from './database.ts';

/** Every table with secrets at rest; `guid` is what each secret is bound to. */
export const SEALED_COLUMNS = [
  { table: 'subscriptions', sealed: 'verification_token_sealed', keyId: 'verification_token_key_id' },
  { table: 'signing_secrets', sealed: 'sealed', keyId: 'key_id' },
] as const;

type SealedColumns = (typeof SEALED_COLUMNS)[number];
type Row = { guid: string; sealed: Buffer; key_id: string };

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
const FIRST = '00000000-0000-0000-0000-000000000000';

/**
 * Encrypts every secret of an older key of the ring anew, under the newest. Everything may run meanwhile, this too:
 * each statement is a batch by itself, and changes a row only if it is what was read. It may be stopped anywhere and
 * started again. Secrets of keys that are not in the ring stay.
 */
export async function rotateSecrets(
  postgres: Queryable,
  { keyRing, batchSize = 500 }: { keyRing: KeyRing; batchSize?: number },
): Promise<SecretsRotation> {
  let rotated = 0;
  const unopened = new Set<string>();
  for (const columns of SEALED_COLUMNS) {
    for (let pass = 1; pass <= MAX_PASSES; pass += 1) {
      const changed = await goOver(postgres, { columns, keyRing, batchSize, unopened });
      rotated += changed;
      if (changed === 0) break;
    }
  }
  return { rotated, unopened: [...unopened], inUse: await countByKey(postgres, keyRing) };
}

type Pass = { columns: SealedColumns; keyRing: KeyRing; batchSize: number; unopened: Set<string> };

/** Resolves with how many it changed. */
async function goOver(postgres: Queryable, { columns, keyRing, batchSize, unopened }: Pass): Promise<number> {
  const [, ...older] = keyRing.keyIds;
  const { read, replace } = statements(columns);
  let changed = 0;
  for (let after = FIRST; ;) {
    const { rows } = await postgres.query<Row>(read, [after, older, batchSize]);
    const last = rows.at(-1);
    if (last === undefined) return changed;
    after = last.guid;
    const opened = rows.flatMap((row) => openRow(row, keyRing) ?? (unopened.add(row.guid), []));
    const anew = opened.map(({ row, secret }) => ({ row, anew: keyRing.seal(secret, row.guid) }));
    const { rowCount } = await postgres.query(replace, [
      anew.map(({ row }) => row.guid),
      anew.map(({ row }) => row.sealed),
      anew.map((each) => each.anew.sealed),
      keyRing.keyIds[0],
    ]);
    changed += rowCount ?? 0;
  }
}

function openRow(row: Row, keyRing: KeyRing): { row: Row; secret: string } | undefined {
  const secret: Sealed = { sealed: row.sealed, keyId: row.key_id };
  try {
    return { row, secret: keyRing.open(secret, row.guid) };
  } catch {
    return undefined;
  }
}

// Locked rows are skipped, not waited for: nothing can deadlock with this.
const statements = ({ table, sealed, keyId }: SealedColumns) => ({
  read: `
    select guid, ${sealed} as sealed, ${keyId} as key_id from waybell.${table}
    where guid > $1 and ${keyId} = any ($2::text[]) order by guid limit $3`,
  replace: `
    update waybell.${table} t set ${sealed} = n.anew, ${keyId} = $4
    from (select t.guid, anew from waybell.${table} t
          join unnest($1::uuid[], $2::bytea[], $3::bytea[]) as read (guid, was, anew) on t.guid = read.guid
          where t.${sealed} = read.was for no key update of t skip locked) n
    where t.guid = n.guid`,
});

async function countByKey(postgres: Queryable, { keyIds }: KeyRing): Promise<Map<string, number>> {
  const each = SEALED_COLUMNS.map(({ table, keyId }) => `select ${keyId} as key_id from waybell.${table}`);
  const { rows } = await postgres.query<{ key_id: string; secrets: number }>(
    `select key_id, count(*)::int as secrets from (${each.join(' union all ')}) s group by key_id order by key_id`,
  );
  const counts = new Map<string, number>(keyIds.map((id) => [id, 0]));
  for (const { key_id: id, secrets } of rows) counts.set(id, secrets);
  return counts;
}
