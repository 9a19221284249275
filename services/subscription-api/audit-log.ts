/** The audit log of all changes, as triggers in Postgres note them: reading it, and deleting what is too old. */
import type { Log } from '@waybell/runtime/log';
import type { Queryable } from '@waybell/runtime/postgres';
import { runEvery } from '@waybell/runtime/run-every';
import { findAccount, readGuid } from './accounts.ts';
import { pruneConsoleLinks } from './console-links.ts';
import type { Database } from './database.ts';

/** One change. `details` are the new values of what changed. */
export type AuditNote = {
  at: Date;
  who: string;
  origin: string | null;
  request_id: string | null;
  what: string;
  /** Null where it is of no account: a host. */
  account_guid: string | null;
  /** The account's current name, if it has one. */
  account_name: string | null;
  subject_guid: string | null;
  details: Record<string, unknown>;
  /** The owner of the token; null if no known token was used. */
  by: { account_guid: string; account_name: string | null; client_id: string } | null;
  /** For the subscription, and for the subscription or the token; null for others, and if it is gone. */
  action: string | null;
  client_id: string | null;
  /** The callback's previous origin, if the change is one of its address. */
  callback_origin_before: string | null;
};

export type NoteSelection = {
  accountGuid?: string | undefined;
  /** An account, token, signing secret or subscription; for a subscription, also deliveries sent to it by hand. */
  subjectGuid?: string | undefined;
  since?: Date | undefined;
  limit: number;
};

const READ = `
  select a.at, a.who, a.origin, a.request_id, a.what, a.account_guid, account.name as account_name, a.subject_guid, a.details,
    case when token.guid is not null then jsonb_build_object(
      'account_guid', token.account_guid, 'account_name', owner.name, 'client_id', token.client_id) end as by,
    s.action, coalesce(s.client_id, subject.client_id) as client_id, before.callback_origin as callback_origin_before
  from (
    select *, case when who ~ '^token [0-9a-f-]{36}$' then substring(who from 7)::uuid end as token_guid
    from waybell.audit_log
    where ($1::uuid is null or account_guid = $1)
      and ($2::uuid is null or subject_guid = $2 or details ->> 'subscription' = $2::text)
      and ($3::timestamptz is null or at >= $3)
    order by id desc limit $4
  ) a
  left join waybell.accounts account on account.guid = a.account_guid
  left join waybell.access_tokens token on token.guid = a.token_guid
  left join waybell.accounts owner on owner.guid = token.account_guid
  left join waybell.subscriptions s on s.guid = a.subject_guid
  left join waybell.access_tokens subject on subject.guid = a.subject_guid
  left join lateral (
    select b.details ->> 'callback_origin' as callback_origin from waybell.audit_log b
    where a.what = 'subscription.changed' and a.details ? 'callback_origin' and b.account_guid = a.account_guid
      and b.subject_guid = a.subject_guid and b.id < a.id and b.details ? 'callback_origin'
    order by b.at desc, b.id desc limit 1
  ) before on true
  order by a.id desc`;

/** Finds the latest changes, the last one first. Throws Refusal if a guid is none, or there is neither such an account nor a change of one. */
export async function readAuditLog(postgres: Queryable, selection: NoteSelection): Promise<AuditNote[]> {
  const guids = [selection.accountGuid, selection.subjectGuid].map((guid) => guid && readGuid(guid));
  const { rows } = await postgres.query<AuditNote>(READ, [...guids, selection.since, selection.limit]);
  if (rows.length === 0 && selection.accountGuid !== undefined) await findAccount(postgres, selection.accountGuid);
  return rows;
}

type PruneOptions = {
  database: Database;
  /** How long a change is kept. */
  retentionMs: number;
  log: Log;
  intervalMs?: number;
  rowsAtOnce?: number;
};

const EVERY_MS = 600_000;
// One statement of this many rows stays far below its time limit, and delays no change that is noted.
const ROWS_AT_ONCE = 10_000;

const PRUNE = `
  with pruned as (
    delete from waybell.audit_log where id in (
      select id from waybell.audit_log where at < now() - $1 * interval '1 millisecond' order by at limit $2)
    returning id)
  select count(*)::int as rows from pruned`;

/**
 * Deletes changes that are older than is kept, and links to the console that have ended, every ten minutes until disposed of. Any number
 * of replicas may.
 */
export function startPruning(options: PruneOptions): AsyncDisposable {
  const { log, intervalMs = EVERY_MS } = options;
  return runEvery((stop) => prune(options, stop), { intervalMs, warning: 'audit-log.not-pruned', log });
}

async function prune(options: PruneOptions, stop: AbortSignal): Promise<void> {
  const { database, retentionMs, log, rowsAtOnce = ROWS_AT_ONCE } = options;
  await pruneConsoleLinks(database);
  let pruned: number;
  do {
    const values = [retentionMs, rowsAtOnce];
    const [found] = await database.run((source) => source.query<{ rows: number }[]>(PRUNE, values));
    pruned = found?.rows ?? 0;
    if (pruned > 0) log.info({ rows: pruned }, 'audit-log.pruned');
  } while (pruned === rowsAtOnce && !stop.aborted);
}
