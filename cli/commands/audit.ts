import { Command } from 'commander';
import { readAuditLog, type AuditNote } from '@waybell/subscription-api/audit-log';
import { accountCalled } from '../account-called.ts';
import { positive } from '../count-option.ts';
import { durationMs } from '../duration-option.ts';
import { print } from '../print.ts';
import { report } from '../report.ts';
import { withDatabase } from '../with-database.ts';

const WHERE = '\nDATABASE_URL names the database; without it, the running stack is meant.';

export function auditCommand(): Command {
  return new Command('audit')
    .description('see who changed accounts, tokens, secrets and subscriptions, the last change first')
    .option('--account <guid>', 'only what belongs to this account')
    .option('--subscription <guid>', 'only changes of this subscription')
    .option('--since <duration>', 'only as far back as this, such as 24h or 30d', durationMs)
    .option('--limit <count>', 'at most this many', positive, 50)
    .option('--json', 'one JSON object a line')
    .addHelpText('after', `${WHERE}\n\nExample:\n  ./waybell audit --account $ACCOUNT --since 7d\n`)
    .action(audit);
}

type AuditOptions = { account?: string; subscription?: string; since?: number; limit: number; json?: true };

async function audit({ account, subscription, since, limit, json }: AuditOptions): Promise<void> {
  const selection = {
    accountGuid: account,
    subjectGuid: subscription,
    since: since === undefined ? undefined : new Date(Date.now() - since),
    limit,
  };
  const notes = await withDatabase(process.env, (postgres) => readAuditLog(postgres, selection));
  if (notes.length === 0) report('no such change is noted');
  for (const note of notes) print(json ? JSON.stringify(note) : described(note));
}

function described(note: AuditNote): string {
  const { at, who, origin, what, subject_guid: subject, account_guid: account, details, request_id: request } = note;
  const name = note.account_name ?? undefined;
  const columns = [
    at.toISOString(),
    who,
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
