import { findAccount, readGuid } from './accounts.ts';
import type { Queryable } from '@waybell/runtime/postgres';

/** One change, as the triggers noted it. `details` are the new values of what changed. */
export type AuditNote = {
  at: Date;
  who: string;
  origin: string | null;
  request_id: string | null;
  what: string;
  /** Null where it is of no account: a host. */
  account_guid: string | null;
  /** As it is called now, if it is. */
  account_name: string | null;
  subject_guid: string | null;
  details: Record<string, unknown>;
};

export type NoteSelection = {
  accountGuid?: string | undefined;
  /** An account, token, signing secret or subscription; of the last, also what was sent to it by hand. */
  subjectGuid?: string | undefined;
  since?: Date | undefined;
  limit: number;
};

const READ = `
  select at, who, origin, request_id, what, account_guid, account.name as account_name, subject_guid, details
  from waybell.audit_log left join waybell.accounts account on account.guid = account_guid
  where ($1::uuid is null or account_guid = $1) and ($2::uuid is null or subject_guid = $2 or details ->> 'subscription' = $2::text)
    and ($3::timestamptz is null or at >= $3)
  order by id desc limit $4`;

/** The latest changes, the last one first. Throws Refusal where a guid is none, or there is neither such an account nor a change of one. */
export async function readAuditLog(postgres: Queryable, selection: NoteSelection): Promise<AuditNote[]> {
  const guids = [selection.accountGuid, selection.subjectGuid].map((guid) => guid && readGuid(guid));
  const { rows } = await postgres.query<AuditNote>(READ, [...guids, selection.since, selection.limit]);
  if (rows.length === 0 && selection.accountGuid !== undefined) await findAccount(postgres, selection.accountGuid);
  return rows;
}
