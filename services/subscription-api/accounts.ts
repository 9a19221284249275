/** Accounts of the platform, made and changed by operators, and their API clients. */
import { randomUUID } from 'node:crypto';
import type { Feature, Interface } from '@waybell/catalog/action';
import { actions } from '@waybell/catalog/actions';
import { ACCOUNT_NAME_PATTERN } from '@waybell/delivery-log/read/accounts';
import { isGuid } from '@waybell/events/timestamp';
import type { Queryable } from '@waybell/runtime/postgres';
import { Refusal } from './refusal.ts';

export type AccountSummary = {
  guid: string;
  interface: Interface;
  name: string | null;
  features: Feature[];
  closed_at: Date | null;
};

export const ACCOUNTS_PER_PAGE = 1_000;

const COLUMNS = 'guid, interface, name, features, closed_at';
const NIL_GUID = '00000000-0000-0000-0000-000000000000';
const INTERFACES: readonly string[] = ['shipper', 'carrier'] satisfies Interface[];
const FEATURES: readonly string[] = [...new Set(actions.flatMap(({ feature }) => feature ?? []))].toSorted();

/** Makes an account; a broker's is one on the shipper interface. Throws Refusal on bad input or a guid in use. */
export async function createAccount(
  postgres: Queryable,
  account: {
    interface: string;
    guid?: string | undefined;
    name?: string | null | undefined;
    features?: readonly string[] | undefined;
  },
): Promise<AccountSummary> {
  const interfaceName = readInterface(account.interface);
  const guid = readGuid(account.guid ?? randomUUID());
  const { rows } = await postgres.query<AccountSummary>(
    `insert into waybell.accounts (guid, interface, name, features) values ($1, $2, $3, $4)
     on conflict (guid) do nothing returning ${COLUMNS}`,
    [guid, interfaceName, readName(account.name), readFeatures(account.features ?? [])],
  );
  if (rows[0] === undefined) {
    const hint = 'update it, open it again if it is closed, or choose another guid';
    throw new Refusal(`account ${guid} exists already: ${hint}`, 'account-exists');
  }
  return rows[0];
}

/** Returns a page of all accounts, at most ACCOUNTS_PER_PAGE, by guid; the next page begins `after` the last. */
export async function listAccounts(
  postgres: Queryable,
  { after = NIL_GUID }: { after?: string | undefined } = {},
): Promise<AccountSummary[]> {
  const { rows } = await postgres.query<AccountSummary>(
    `select ${COLUMNS} from waybell.accounts where guid > $1 order by guid limit $2`,
    [readGuid(after), ACCOUNTS_PER_PAGE],
  );
  return rows;
}

/** Finds an account. Throws Refusal if there is none. */
export async function findAccount(postgres: Queryable, account: string): Promise<AccountSummary> {
  const guid = readGuid(account);
  const { rows } = await postgres.query<AccountSummary>(`select ${COLUMNS} from waybell.accounts where guid = $1`, [
    guid,
  ]);
  if (rows[0] === undefined) throw unknownAccount(guid);
  return rows[0];
}

/**
 * Names an account, or removes its name (null, or an empty text), and switches features on or off. Subscriptions stay; nothing is
 * sent for them while their feature is off.
 */
export async function updateAccount(
  postgres: Queryable,
  change: {
    guid: string;
    name?: string | null | undefined;
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
    `update waybell.accounts a set changed_at = now(), name = case when $4 then $5 else name end, features = array(
       select distinct feature from unnest(a.features || $2::text[]) as feature
       where feature <> all ($3::text[]) order by feature)
     where guid = $1 returning ${COLUMNS}`,
    [guid, added, removed, change.name !== undefined, readName(change.name)],
  );
  if (rows[0] === undefined) throw unknownAccount(guid);
  return rows[0];
}

/** Throws Refusal if the account is closed, or does not exist. */
export async function requireOpenAccount(postgres: Queryable, account: string): Promise<void> {
  const { guid, closed_at: closedAt } = await findAccount(postgres, account);
  if (closedAt !== null) throw closedAccount(guid);
}

export const closedAccount = (guid: string): Refusal =>
  new Refusal(`account ${guid} is closed: "./waybell account open ${guid}" opens it again`, 'account-closed');

function readInterface(text: string): string {
  if (!INTERFACES.includes(text)) {
    throw new Refusal(`"${text}" is not an interface: it is ${INTERFACES.join(' or ')}`);
  }
  return text;
}

/** Reads a guid, in lower case. Throws Refusal if the text is none. */
export function readGuid(text: string): string {
  const guid = text.toLowerCase();
  if (!isGuid(guid)) throw new Refusal(`"${text}" is not a guid: write it as ${randomUUID()}`);
  return guid;
}

/** Reads a name, without spaces around it; null if nothing is left. Throws Refusal beyond 200 characters, or for one that cannot be printed. */
function readName(text: string | null | undefined): string | null {
  const name = (text ?? '').trim();
  if (!new RegExp(ACCOUNT_NAME_PATTERN, 'u').test(name))
    throw new Refusal(`"${name}" is not a name: at most 200 printable characters`);
  return name === '' ? null : name;
}

export function unknownAccount(guid: string): Refusal {
  return new Refusal(`there is no account ${guid}: correct the guid, or create it first`, 'unknown-account');
}

/** Reads features, each once. Throws Refusal if one is none. */
function readFeatures(features: readonly string[]): string[] {
  const unknown = features.find((feature) => !FEATURES.includes(feature));
  if (unknown !== undefined) throw new Refusal(`"${unknown}" is not a feature: there are ${FEATURES.join(' and ')}`);
  return [...new Set(features)].toSorted();
}

/** An API client of an account: it has, or had, an access token or a subscription. A listener is none. */
type AccountClient = {
  client_id: string;
  /** Current subscriptions, and how many of them are switched off. */
  subscriptions: number;
  switched_off: number;
  /** Access tokens that are valid, without links to the console that were not opened. Those of an issuer of JWTs are not known here. */
  tokens: number;
  /** The latest use of one, to the minute; null: never. */
  token_last_used_at: Date | null;
};

const CLIENTS = `
  select client_id, sum(subscriptions)::int as subscriptions, sum(switched_off)::int as switched_off, sum(tokens)::int as tokens,
    max(last_used_at) as token_last_used_at
  from (
    select client_id, count(*) filter (where ended_at is null) as subscriptions,
      count(*) filter (where ended_at is null and not is_active) as switched_off, 0 as tokens, null::timestamptz as last_used_at
    from waybell.subscriptions where account_guid = $1 and not waybell.is_listener(client_id) group by client_id
    union all
    select client_id, 0, 0, count(*) filter (where revoked_at is null and (expires_at is null or expires_at > now())
      and (link_made_by is null or link_opened_at is not null)), max(last_used_at)
    from waybell.access_tokens where account_guid = $1 group by client_id
  ) known
  group by client_id order by client_id`;

/** Lists an account's API clients, by their ids. */
export async function clientsOf(postgres: Queryable, account: string): Promise<AccountClient[]> {
  return (await postgres.query<AccountClient>(CLIENTS, [account])).rows;
}
