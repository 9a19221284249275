import type { KeyRing } from '@waybell/runtime/secrets';
import type { Queryable } from '@waybell/runtime/postgres';
import { openRow, resealRows, SEALED_COLUMNS, type SealedColumns } from './sealed-rows.ts';

/** A secret that was made anew, and whose it is; `action` is null for a signing secret, `isCurrent` false for one that is over. */
export type ReplacedSecret = {
  what: SealedColumns['what'];
  account_guid: string;
  client_id: string;
  action: string | null;
  isCurrent: boolean;
};

/**
 * Makes new secrets in the place of those that no key of the ring opens: they are lost, and what was to be sent with them
 * waits or fails. The receivers of each have to be told. The audit log has each. What opens stays as it is; `left` is how
 * many do not open and were locked, or changed meanwhile, by somebody else.
 */
export async function replaceSecrets(
  postgres: Queryable,
  { keyRing, batchSize = 500 }: { keyRing: KeyRing; batchSize?: number },
): Promise<{ replaced: ReplacedSecret[]; left: number }> {
  const replaced: ReplacedSecret[] = [];
  let lost = 0;
  for (const columns of SEALED_COLUMNS) {
    const rows = await resealRows<ReplacedSecret>(postgres, {
      columns,
      keys: null,
      batchSize,
      reseal: (row) => {
        if (openRow(row, keyRing) !== undefined) return undefined;
        lost += 1;
        return keyRing.seal(columns.make(), row.guid);
      },
      ending: noted(columns),
    });
    replaced.push(...rows);
  }
  return { replaced, left: lost - replaced.length };
}

// In the statement that changes them: none is replaced without its line in the audit log.
const noted = ({ what, action, isCurrent }: SealedColumns): string => `
  , noted as (
    insert into waybell.audit_log (who, origin, what, account_guid, subject_guid, details)
    select coalesce(actor ->> 'who', session_user), actor ->> 'origin', '${what}.changed', account_guid, guid,
      '{"secret": "replaced"}'
    from changed, (select nullif(current_setting('waybell.actor', true), '')::jsonb as actor) a
  )
  select '${what}' as what, account_guid, client_id, ${action} as action, ${isCurrent} as "isCurrent" from changed`;
