import { randomUUID } from 'node:crypto';
import type { Feature, Interface } from '@waybell/catalog/action';
import { actions } from '@waybell/catalog/actions';
import { isGuid } from '@waybell/events/guid';
import type { Queryable } from './database.ts';
import { Refusal } from './refusal.ts';

export type AccountSummary = { guid: string; interface: Interface; features: Feature[] };

export const ACCOUNTS_PER_PAGE = 1_000;

const NIL_GUID = '00000000-0000-0000-0000-000000000000';
const INTERFACES: readonly string[] = ['shipper', 'carrier'] satisfies Interface[];
const FEATURES: readonly string[] = [...new Set(actions.flatMap(({ feature }) => feature ?? []))].toSorted();

/** Makes an account; a broker's is one on the shipper interface. Throws Refusal on bad input or a guid in use. */
export async function createAccount(
  postgres: Queryable,
  account: { interface: string; guid?: string | undefined; features?: readonly string[] | undefined },
): Promise<AccountSummary> {
  const interfaceName = readInterface(account.interface);
  const guid = readGuid(account.guid ?? randomUUID());
  const { rows } = await postgres.query<AccountSummary>(
    `insert into waybell.accounts (guid, interface, features) values ($1, $2, $3)
     on conflict (guid) do nothing returning guid, interface, features`,
    [guid, interfaceName, readFeatures(account.features ?? [])],
  );
  if (rows[0] === undefined) {
    throw new Refusal(`account ${guid} exists already: update it, or choose another guid`, 'account-exists');
  }
  return rows[0];
}

/** A page of all accounts, at most ACCOUNTS_PER_PAGE, by guid; the next page is what comes `after` the last. */
export async function listAccounts(
  postgres: Queryable,
  { after = NIL_GUID }: { after?: string | undefined } = {},
): Promise<AccountSummary[]> {
  const { rows } = await postgres.query<AccountSummary>(
    'select guid, interface, features from waybell.accounts where guid > $1 order by guid limit $2',
    [readGuid(after), ACCOUNTS_PER_PAGE],
  );
  return rows;
}

/** Switches features on or off. What is subscribed stays; nothing is sent for it while its feature is off. */
export async function updateAccount(
  postgres: Queryable,
  change: {
    guid: string;
    addFeatures?: readonly string[] | undefined;
    removeFeatures?: readonly string[] | undefined;
  },
): Promise<AccountSummary> {
  const guid = readGuid(change.guid);
  const added = readFeatures(change.addFeatures ?? []);
  const removed = readFeatures(change.removeFeatures ?? []);
  const both = added.find((feature) => removed.includes(feature));
  if (both !== undefined) throw new Refusal(`feature "${both}" cannot be both added and removed`);
  const { rows } = await postgres.query<AccountSummary>(
    `update waybell.accounts a set changed_at = now(), features = array(
       select distinct feature from unnest(a.features || $2::text[]) as feature
       where feature <> all ($3::text[]) order by feature)
     where guid = $1 returning guid, interface, features`,
    [guid, added, removed],
  );
  if (rows[0] === undefined) throw unknownAccount(guid);
  return rows[0];
}

export function readInterface(text: string): string {
  if (!INTERFACES.includes(text)) {
    throw new Refusal(`"${text}" is not an interface: it is ${INTERFACES.join(' or ')}`);
  }
  return text;
}

/** The guid in lower case. Throws Refusal where it is none. */
export function readGuid(text: string): string {
  const guid = text.toLowerCase();
  if (!isGuid(guid)) throw new Refusal(`"${text}" is not a guid: write it as ${randomUUID()}`);
  return guid;
}

export function unknownAccount(guid: string): Refusal {
  return new Refusal(`there is no account ${guid}: create it first`, 'unknown-account');
}

/** The features, each once. Throws Refusal where one is none. */
export function readFeatures(features: readonly string[]): string[] {
  const unknown = features.find((feature) => !FEATURES.includes(feature));
  if (unknown !== undefined) throw new Refusal(`"${unknown}" is not a feature: there are ${FEATURES.join(' and ')}`);
  return [...new Set(features)].toSorted();
}
