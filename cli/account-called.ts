import { accountsOf } from '@waybell/delivery-log/read/accounts';
import type { Queryable } from '@waybell/runtime/postgres';

/** What an account is called, if it has a name. */
export type NameOf = (account: string) => string | undefined;

/** What these accounts are called. */
export async function namesOf(postgres: Queryable, accounts: readonly string[]): Promise<NameOf> {
  const known = await accountsOf(postgres, accounts);
  return (account) => known.get(account)?.name ?? undefined;
}

/** An account by its guid, and its name where it has one. */
export function accountCalled(account: string, nameOf: NameOf): string {
  const name = nameOf(account);
  return `account ${account}${name === undefined ? '' : ` (${name})`}`;
}
