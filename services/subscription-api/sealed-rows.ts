/**
 * Secrets at rest: the tables that have some, and how all of them are put under a new key, or replaced if no key opens them. Both may run
 * beside everything else, be stopped anywhere, and start again: each statement is a batch.
 */
import { randomBytes } from 'node:crypto';
import type { Queryable } from '@waybell/runtime/postgres';
import type { KeyRing, Sealed } from '@waybell/runtime/secrets';

/**
 * Every table with secrets. A secret is bound to the `guid` of its row; `make` makes another one, null if only its client can; `action`
 * and `isCurrent` are expressions of the table.
 */
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

type SealedColumns = (typeof SEALED_COLUMNS)[number];

export function newVerificationToken(): string {
  return randomBytes(32).toString('base64url');
}

/** Returns a secret in the form of Standard Webhooks. */
export function newSigningSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`;
}

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
 * Encrypts every secret of an older key of the ring again, under the newest. Changes a row only if it is what was read. Secrets of keys
 * that are not in the ring stay.
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

/**
 * A secret that was replaced, and its owner; `action` is null for a signing secret, `isCurrent` false for one of an ended
 * subscription.
 */
type ReplacedSecret = {
  what: ReplaceableColumns['what'];
  account_guid: string;
  client_id: string;
  action: string | null;
  isCurrent: boolean;
};

/** Credentials that no key opens: only their client can put them in again. */
export type LostCredentials = { account_guid: string; client_id: string; host: string };

type ReplaceableColumns = Exclude<SealedColumns, { make: null }>;
type Replacing = { keyRing: KeyRing; batchSize?: number };

/**
 * Replaces secrets that no key of the ring opens: they are lost, and deliveries that need them wait or fail. The receivers of each
 * have to be informed. The audit log has each. Secrets that open stay; `left` is how many do not open and were locked or changed
 * meanwhile. `lost` are the credentials that do not open: they stay, and deliveries wait for them until their client puts them in
 * again.
 */
export async function replaceSecrets(
  postgres: Queryable,
  { keyRing, batchSize = 500 }: Replacing,
): Promise<{ replaced: ReplacedSecret[]; left: number; lost: LostCredentials[] }> {
  const replaced: ReplacedSecret[] = [];
  let unopened = 0;
  for (const columns of SEALED_COLUMNS) {
    if (columns.make === null) continue;
    const { make } = columns;
    const rows = await resealRows<ReplacedSecret>(postgres, {
      columns,
      keys: null,
      batchSize,
      reseal: (row) => {
        if (openRow(row, keyRing) !== undefined) return undefined;
        unopened += 1;
        return keyRing.seal(make(), row.guid);
      },
      ending: noted(columns),
    });
    replaced.push(...rows);
  }
  return { replaced, left: unopened - replaced.length, lost: await findLost(postgres, { keyRing, batchSize }) };
}

async function findLost(postgres: Queryable, { keyRing, batchSize }: Required<Replacing>): Promise<LostCredentials[]> {
  const guids: string[] = [];
  const reseal = (row: SealedRow) => {
    if (openRow(row, keyRing) === undefined) guids.push(row.guid);
    return undefined;
  };
  for (const columns of SEALED_COLUMNS)
    if (columns.make === null)
      await resealRows(postgres, { columns, keys: null, batchSize, reseal, ending: 'select guid from changed' });
  const { rows } = await postgres.query<LostCredentials>(
    `select account_guid, client_id, host from waybell.credentials where guid = any ($1)
     order by account_guid, client_id, host`,
    [guids],
  );
  return rows;
}

// In the statement that changes them: none is replaced without its line in the audit log.
const noted = ({ what, action, isCurrent }: ReplaceableColumns): string => `
  , noted as (
    insert into waybell.audit_log (who, origin, what, account_guid, subject_guid, details)
    select coalesce(actor ->> 'who', session_user), actor ->> 'origin', '${what}.changed', account_guid, guid,
      '{"secret": "replaced"}'
    from changed, (select nullif(current_setting('waybell.actor', true), '')::jsonb as actor) a
  )
  select '${what}' as what, account_guid, client_id, ${action} as action, ${isCurrent} as "isCurrent" from changed`;

type SealedRow = { guid: string; sealed: Buffer; key_id: string };

/** Opens a row; undefined where no key of the ring opens it. */
function openRow({ guid, sealed, key_id: keyId }: SealedRow, keyRing: KeyRing): string | undefined {
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
type Pass = {
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
async function resealRows<T extends object>(
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
