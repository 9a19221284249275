import { randomUUID } from 'node:crypto';
import type { Feature, Interface } from '@waybell/catalog/action';
import { actions } from '@waybell/catalog/actions';
import { ACCOUNT_NAME_PATTERN } from '@waybell/delivery-log/read/accounts';
import { isGuid } from '@waybell/events/guid';
import type { Queryable } from '@waybell/runtime/postgres';
import { Refusal } from './refusal.ts';
import { ENDED } from './subscriptions.ts';

export type AccountSummary = {
  guid: string;
  interface: Interface;
  name: string | null;
  features: Feature[];
  closed_at: Date | null;
};

/** Counts of all that ends with an account: as it is, or as it was when it was closed. */
export type AccountClosing = {
  account: AccountSummary;
  /** Current ones, and how many deliveries wait for them in the database, up to `MOST_WAITING`. */
  subscriptions: number;
  waiting: number;
  /** Valid ones; of links those that can be opened, and the sign-ins by others. */
  tokens: number;
  console_links: number;
  /** Hosts that there are credentials for. */
  credentials: number;
  signing_secrets: number;
  listeners: number;
};

const MOST_WAITING = 10_000;

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

/** Throws Refusal where there is no such account. */
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

const HOLDS = 'revoked_at is null and (expires_at is null or expires_at > now())';

const ENDS_WITH = `
  select (
      select count(*)::int from waybell.subscriptions
      where account_guid = $1 and ended_at is null and not waybell.is_listener(client_id)) as subscriptions,
    (select count(*)::int from (
      select from waybell.deliverer_rooms r join waybell.deliverer_waiting w on w.room = r.room
      where r.account = $1 limit ${MOST_WAITING}) waiting) as waiting,
    t.tokens, t.console_links,
    (select count(*)::int from waybell.credentials where account_guid = $1) as credentials,
    (select count(*)::int from waybell.signing_secrets where account_guid = $1) as signing_secrets,
    (select count(*)::int from waybell.listeners where account_guid = $1 and ended_at is null) as listeners
  from (
    select count(*) filter (where link_made_by is null)::int as tokens,
      count(*) filter (where link_made_by is not null)::int as console_links
    from waybell.access_tokens where account_guid = $1 and ${HOLDS}
  ) t`;

/** In this order, in one transaction. Subscriptions are locked as the deactivator locks them. */
const CLOSE = [
  'update waybell.listeners set ended_at = now() where account_guid = $1 and ended_at is null',
  'select from waybell.subscriptions where account_guid = $1 and ended_at is null order by guid for no key update',
  `update waybell.subscriptions set ${ENDED}, ended_reason = 'closed' where account_guid = $1 and ended_at is null`,
  'update waybell.access_tokens set revoked_at = now() where account_guid = $1 and revoked_at is null',
  'delete from waybell.credentials where account_guid = $1',
  'delete from waybell.signing_secrets where account_guid = $1',
  'update waybell.accounts set closed_at = now(), changed_at = now() where guid = $1 and closed_at is null',
];

/**
 * Closes an account: ends or deletes all that would go on by itself, and lets nothing new begin until it is opened again. The delivery
 * log and the audit log stay. Once more is fine. `isDry`: only says what would end. Needs a transaction. Throws Refusal where there is none.
 */
export async function closeAccount(
  postgres: Queryable,
  { account, isDry }: { account: string; isDry: boolean },
): Promise<AccountClosing> {
  const guid = readGuid(account);
  // All that is under way for it has ended then, or waits for this.
  if (!isDry) await postgres.query('select from waybell.accounts where guid = $1 for update', [guid]);
  await findAccount(postgres, guid);
  const { rows } = await postgres.query<Omit<AccountClosing, 'account'>>(ENDS_WITH, [guid]);
  const [ends] = rows;
  if (ends === undefined) throw new TypeError('counts have one row');
  for (const statement of isDry ? [] : CLOSE) await postgres.query(statement, [guid]);
  return { account: await findAccount(postgres, guid), ...ends };
}

/** Opens a closed account again; what ended with it stays ended. Once more is fine. Throws Refusal where there is none. */
export async function openAccount(postgres: Queryable, account: string): Promise<AccountSummary> {
  const guid = readGuid(account);
  await postgres.query(
    'update waybell.accounts set closed_at = null, changed_at = now() where guid = $1 and closed_at is not null',
    [guid],
  );
  return findAccount(postgres, guid);
}

/** Throws Refusal where the account is closed, or there is none. */
export async function requireOpenAccount(postgres: Queryable, account: string): Promise<void> {
  const { guid, closed_at: closedAt } = await findAccount(postgres, account);
  if (closedAt !== null) throw closedAccount(guid);
}

export const closedAccount = (guid: string): Refusal =>
  new Refusal(`account ${guid} is closed: "./waybell account open ${guid}" opens it again`, 'account-closed');

/** The error of a change that came while the account was closed, by the trigger that refuses it. */
export const isOfClosedAccount = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'WB001';

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

/** Without spaces around it; null where nothing is left. Throws Refusal where it has more than 200 characters, or one that cannot be printed. */
function readName(text: string | null | undefined): string | null {
  const name = (text ?? '').trim();
  if (!new RegExp(ACCOUNT_NAME_PATTERN, 'u').test(name))
    throw new Refusal(`"${name}" is not a name: at most 200 printable characters`);
  return name === '' ? null : name;
}

export function unknownAccount(guid: string): Refusal {
  return new Refusal(`there is no account ${guid}: correct the guid, or create it first`, 'unknown-account');
}

/** The features, each once. Throws Refusal where one is none. */
export function readFeatures(features: readonly string[]): string[] {
  const unknown = features.find((feature) => !FEATURES.includes(feature));
  if (unknown !== undefined) throw new Refusal(`"${unknown}" is not a feature: there are ${FEATURES.join(' and ')}`);
  return [...new Set(features)].toSorted();
}
