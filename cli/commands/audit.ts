import { Command } from 'commander';
import { isGuid } from '@waybell/events/timestamp';
import type { Queryable } from '@waybell/runtime/postgres';
import { readAuditLog, type AuditNote } from '@waybell/subscription-api/audit-log';
import { findAccountCalled, accountCalled } from '../accounts.ts';
import { positive, durationMs } from '../options.ts';
import { print, report } from '../print.ts';
import { withDatabase } from '../with-database.ts';

const WHERE = '\nDATABASE_URL names the database; without it, the running stack is meant.';

type AuditOptions = { account?: string; subscription?: string; since?: number; limit: number; json?: true };

type TokenOwner = NonNullable<AuditNote['by']>;

export function auditCommand(): Command {
  return new Command('audit')
    .description('see who changed accounts, tokens, secrets and subscriptions, the last change first')
    .option('--account <account>', 'only what belongs to this account: its guid, its name, or the beginning of either')
    .option('--subscription <guid>', 'only changes of this subscription')
    .option('--since <duration>', 'only as far back as this, such as 24h or 30d', durationMs)
    .option('--limit <count>', 'at most this many', positive, 50)
    .option('--json', 'one JSON object a line')
    .addHelpText('after', `${WHERE}\n\nExample:\n  ./waybell audit --account acme --since 7d\n`)
    .action(audit);
}

async function audit({ account, subscription, since, limit, json }: AuditOptions): Promise<void> {
  const selection = {
    subjectGuid: subscription,
    since: since === undefined ? undefined : new Date(Date.now() - since),
    limit,
  };
  const notes = await withDatabase(process.env, async (postgres) =>
    readAuditLog(postgres, { ...selection, accountGuid: await guidOf(postgres, account) }),
  );
  if (notes.length === 0) report('no such change is noted');
  for (const note of notes) print(json ? JSON.stringify(note) : describeNote(note));
}

/** A guid may be that of an account that has gone: the log still tells of it. */
async function guidOf(postgres: Queryable, account: string | undefined): Promise<string | undefined> {
  if (account === undefined || isGuid(account.trim())) return account?.trim();
  return (await findAccountCalled(postgres, account)).guid;
}

/** A change in one line; of a token also whose it is. */
export function describeNote(note: AuditNote): string {
  const {
    at,
    who,
    by,
    origin,
    what,
    subject_guid: subject,
    account_guid: account,
    details,
    request_id: request,
  } = note;
  const name = note.account_name ?? undefined;
  const columns = [
    at.toISOString(),
    by === null ? who : `${who} (${owner(by, account)})`,
    `from ${origin ?? 'unknown'}`,
    [what, subject ?? []].flat().join(' '),
    ...(account === null
      ? []
      : subject === account
        ? name === undefined
          ? []
          : [`(${name})`]
        : [`of ${accountCalled(account, () => name)}`]),
    JSON.stringify(details),
    ...(request === null ? [] : [`request ${request}`]),
  ];
  return columns.join('  ');
}

/** The account as well, where it is another than that of the change: an operator's, say. */
function owner(
  { account_guid: guid, account_name: name, client_id: client }: TokenOwner,
  changed: string | null,
): string {
  return guid === changed ? `client ${client}` : `client ${client} of ${accountCalled(guid, () => name ?? undefined)}`;
}
