import { accountsOf } from '@waybell/delivery-log/read/accounts';
import type { Queryable } from '@waybell/runtime/postgres';

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
