import type { InterfaceName } from '@waybell/line/outcomes';
import type { Queryable } from '@waybell/runtime/postgres';
import { ms } from '../tables.ts';

/** Account names for people: without characters that are invisible, break a line or move a terminal's cursor. */
export const ACCOUNT_NAME_PATTERN = String.raw`^\s*[^\p{C}\p{Zl}\p{Zp}]{0,200}\s*$`;

export type AccountEntry = {
  account: string;
  interface: InterfaceName;
  name: string | null;
  features: string[];
  createdAt: number;
  /** When an operator closed it; null: it is open. */
  closedAt: number | null;
};

/** Returns those of these accounts that Waybell knows, by guid. */
export async function accountsOf(
  postgres: Queryable,
  guids: readonly string[],
): Promise<ReadonlyMap<string, AccountEntry>> {
  if (guids.length === 0) return new Map();
  const { rows } = await postgres.query<AccountEntry>(
    `select guid as account, interface, name, features, ${ms('created_at')} as "createdAt", ${ms('closed_at')} as "closedAt"
     from waybell.accounts where guid = any ($1::uuid[])`,
    [[...new Set(guids)]],
  );
  return new Map(rows.map((row) => [row.account, row]));
}
