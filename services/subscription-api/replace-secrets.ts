import type { KeyRing } from '@waybell/runtime/secrets';
import type { Queryable } from '@waybell/runtime/postgres';
import { openRow, resealRows, SEALED_COLUMNS, type SealedColumns, type SealedRow } from './sealed-rows.ts';

/**
 * A secret that was replaced, and its owner; `action` is null for a signing secret, `isCurrent` false for one of an ended
 * subscription.
 */
export type ReplacedSecret = {
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
