import { randomBytes } from 'node:crypto';
import type { KeyRing, Sealed } from '@waybell/runtime/secrets';
import type { Queryable } from '@waybell/runtime/postgres';

/** Every table with secrets at rest; `guid` is what each secret is bound to, `make` makes such
 * a secret, null where only its client has another; `action` and `isCurrent` are expressions of the table. */
export const SEALED_COLUMNS = [
  {
    table: 'subscriptions',
    what: 'subscription',
    sealed: 'verification_token_sealed',
    keyId: 'verification_token_key_id',
    action: 'action',
    isCurrent: 'ended_at is null',
    make: newVerificationToken,
  },
  {
    table: 'signing_secrets',
    what: 'signing-secret',
    sealed: 'sealed',
    keyId: 'key_id',
    action: 'null::text',
    isCurrent: '(expires_at is null or expires_at > now())',
    make: newSigningSecret,
  },
  {
    table: 'credentials',
    what: 'credentials',
    sealed: 'sealed',
    keyId: 'key_id',
    action: 'null::text',
    isCurrent: 'true',
    make: null,
  },
] as const;

export type SealedColumns = (typeof SEALED_COLUMNS)[number];
export type SealedRow = { guid: string; sealed: Buffer; key_id: string };

export function newVerificationToken(): string {
  return randomBytes(32).toString('base64url');
}

/** Returns a secret in the form of Standard Webhooks. */
export function newSigningSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`;
}

/** Opens a row; undefined where no key of the ring opens it. */
export function openRow({ guid, sealed, key_id: keyId }: SealedRow, keyRing: KeyRing): string | undefined {
  try {
    return keyRing.openAfresh({ sealed, keyId }, guid);
  } catch {
    return undefined;
  }
}

/**
 * `keys`: the rows that are read, all where it is null. `reseal`: what a row is to hold; undefined leaves it as it is.
 * `ending`: the end of the statement that changes them, on `changed`, which has the whole rows.
 */
export type Pass = {
  columns: SealedColumns;
  keys: readonly string[] | null;
  batchSize: number;
  reseal: (row: SealedRow) => Sealed | undefined;
  ending: string;
};

const FIRST = '00000000-0000-0000-0000-000000000000';

/**
 * Goes over a table once, each batch a statement by itself, and resolves with what `ending` returns. A row is changed only if
 * it is what was read; one that is locked is left out, so that nothing can deadlock with this.
 */
export async function resealRows<T extends object>(
  postgres: Queryable,
  { columns, keys, batchSize, reseal, ending }: Pass,
): Promise<T[]> {
  const { read, replace } = statements(columns);
  const changed: T[] = [];
  for (let after = FIRST; ;) {
    const { rows } = await postgres.query<SealedRow>(read, [after, keys, batchSize]);
    const last = rows.at(-1);
    if (last === undefined) return changed;
    after = last.guid;
    const renewed = rows.flatMap((row) => {
      const resealed = reseal(row);
      return resealed === undefined ? [] : [{ row, resealed }];
    });
    const result = await postgres.query<T>(`${replace} ${ending}`, [
      renewed.map(({ row }) => row.guid),
      renewed.map(({ row }) => row.sealed),
      renewed.map(({ resealed }) => resealed.sealed),
      renewed.map(({ resealed }) => resealed.keyId),
    ]);
    changed.push(...result.rows);
  }
}

const statements = ({ table, sealed, keyId }: SealedColumns) => ({
  read: `
    select guid, ${sealed} as sealed, ${keyId} as key_id from waybell.${table}
    where guid > $1 and ($2::text[] is null or ${keyId} = any ($2)) order by guid limit $3`,
  replace: `
    with changed as (
      update waybell.${table} t set ${sealed} = n.new_sealed, ${keyId} = n.new_key_id
      from (select t.guid as new_guid, new_sealed, new_key_id from waybell.${table} t
            join unnest($1::uuid[], $2::bytea[], $3::bytea[], $4::text[]) as read (guid, was, new_sealed, new_key_id)
              on t.guid = read.guid
            where t.${sealed} = read.was for no key update of t skip locked) n
      where t.guid = n.new_guid returning t.*
    )`,
});
