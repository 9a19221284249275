import { accountsOf } from '@waybell/delivery-log/read/accounts';
import type { Queryable } from '@waybell/runtime/postgres';
import type { AccountSummary } from '@waybell/subscription-api/accounts';

const MOST_NAMED = 10;

/** Ignores case; exact names come first. */
const CALLED = `
  select guid, interface, name, features, closed_at from waybell.accounts
  where starts_with(guid::text, lower($1)) or starts_with(lower(name), lower($1))
  order by lower($1) in (guid::text, lower(name)) desc nulls last, name, guid limit ${MOST_NAMED + 1}`;

/** The account of this guid or name, or of this beginning of either. Throws where there is none, and where it may be any of several. */
export async function findAccountCalled(postgres: Queryable, text: string): Promise<AccountSummary> {
  const called = text.trim();
  if (called === '') throw new Error('say which account: its guid, its name, or the beginning of either');
  const { rows } = await postgres.query<AccountSummary>(CALLED, [called]);
  const exact = rows.filter(({ guid, name }) => [guid, name?.toLowerCase()].includes(called.toLowerCase()));
  const found = exact.length > 0 ? exact : rows;
  const [one] = found;
  if (one === undefined) throw new Error(`no account is called "${called}": "./waybell account list" shows all`);
  if (found.length === 1) return one;
  const named = found.slice(0, MOST_NAMED).map(({ guid, name }) => (name === null ? guid : `${guid} (${name})`));
  const more = found.length > MOST_NAMED ? ' and more' : '';
  throw new Error(`"${called}" may be any of these accounts: ${named.join(', ')}${more}`);
}

/** Returns an account's name, if it has one. */
export type NameOfAccount = (account: string) => string | undefined;

/** Returns a function for the names of these accounts. */
export async function namesOf(postgres: Queryable, accounts: readonly string[]): Promise<NameOfAccount> {
  const known = await accountsOf(postgres, accounts);
  return (account) => known.get(account)?.name ?? undefined;
}

/** An account by its guid, and its name where it has one. */
export function accountCalled(account: string, nameOf: NameOfAccount): string {
  const name = nameOf(account);
  return `account ${account}${name === undefined ? '' : ` (${name})`}`;
}
