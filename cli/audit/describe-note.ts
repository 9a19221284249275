import type { AuditNote } from '@waybell/subscription-api/audit-log';
import { accountCalled } from '../account-called.ts';

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

type TokenOwner = NonNullable<AuditNote['by']>;
