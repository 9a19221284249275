import type { Queryable } from '@waybell/runtime/postgres';
import { findAccount, readGuid, type AccountSummary } from './accounts.ts';
import { ENDED } from './subscriptions.ts';

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
 * log and the audit log stay. Closing twice is fine. `isDry`: only says what would end. Needs a transaction. Throws Refusal if there is no such account.
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

/** Opens a closed account again; what ended with it stays ended. Opening twice is fine. Throws Refusal if there is no such account. */
export async function openAccount(postgres: Queryable, account: string): Promise<AccountSummary> {
  const guid = readGuid(account);
  await postgres.query(
    'update waybell.accounts set closed_at = null, changed_at = now() where guid = $1 and closed_at is not null',
    [guid],
  );
  return findAccount(postgres, guid);
}
