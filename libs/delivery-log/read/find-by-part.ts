/** Finds what a text is a part of: a name, a guid, the URL of a subscription. */
import type { Queryable } from '@waybell/runtime/postgres';
import { ms } from '../columns.ts';
import { deliveriesOf, type DeliveryRow } from './deliveries.ts';
import { isAtEndpoint, readEndpoint } from './endpoint-filter.ts';
import type { AccountMatch, DeliveryMatch, SubscriptionMatch, SearchMatch } from './search-match.ts';
import { eventsBeginning, guidsBeginning } from './first-digits.ts';

/** Limit of the results of each kind. */
export const MOST_OF_A_KIND = 20;

const FIRST_DIGITS = /^[0-9a-f]{8}$/;
/** A host alone has a dot: other words are parts of names. */
const HOST = /^\[|[.]|^https?:\/\//;

/**
 * Finds accounts by a part of their names, accounts, subscriptions, events and deliveries by the first eight digits of their guids, and
 * current subscriptions by their host or URL; the newest first, a bounded number of each. `text`: in lower case.
 */
export async function findByPart(postgres: Queryable, text: string): Promise<SearchMatch[]> {
  const accounts = await accountsNamed(postgres, text, 'part');
  if (FIRST_DIGITS.test(text)) return [...accounts, ...(await ofGuidsBeginning(postgres, text))];
  return [...accounts, ...(await subscriptionsAt(postgres, text))];
}

const ACCOUNT = `guid as account, interface, name, ${ms('created_at')} as at`;

/** Finds accounts by their names, or a part of them, in any case. */
export async function accountsNamed(postgres: Queryable, text: string, by: 'whole' | 'part'): Promise<AccountMatch[]> {
  const isNamed = by === 'whole' ? 'lower(name) = $1' : 'position($1 in lower(name)) > 0';
  return accountsWhere(postgres, isNamed, [text]);
}

/** Finds accounts by the beginning of their guids, or by the whole. */
export const accountsBeginning = (postgres: Queryable, beginning: string): Promise<AccountMatch[]> =>
  accountsWhere(postgres, 'guid between $1 and $2', guidsBeginning(beginning));

async function accountsWhere(postgres: Queryable, where: string, values: string[]): Promise<AccountMatch[]> {
  const { rows } = await postgres.query<Omit<AccountMatch, 'kind'>>(
    `select ${ACCOUNT} from waybell.accounts where ${where} order by name, guid limit ${MOST_OF_A_KIND}`,
    values,
  );
  return rows.map((row) => ({ kind: 'account', ...row }));
}

const SUBSCRIPTION = `guid as subscription, account_guid as account, client_id as client, interface, action,
  split_part(callback_url, '?', 1) as url, ${ms('created_at')} as at`;

/** Finds subscriptions by the beginning of their guids, or by the whole. */
export const subscriptionsBeginning = (postgres: Queryable, beginning: string): Promise<SubscriptionMatch[]> =>
  subscriptionsWhere(postgres, 'guid between $1 and $2', guidsBeginning(beginning));

async function subscriptionsAt(postgres: Queryable, text: string): Promise<SubscriptionMatch[]> {
  const endpoint = HOST.test(text) ? readEndpoint(text) : undefined;
  if (endpoint === undefined) return [];
  const where = `ended_at is null and not waybell.is_listener(client_id) and ${isAtEndpoint('$1', '$2', '$3')}`;
  return subscriptionsWhere(postgres, where, [endpoint.host, endpoint.origins, endpoint.url]);
}

async function subscriptionsWhere(postgres: Queryable, where: string, values: unknown[]): Promise<SubscriptionMatch[]> {
  const { rows } = await postgres.query<Omit<SubscriptionMatch, 'kind'>>(
    `select ${SUBSCRIPTION} from waybell.subscriptions s where ${where} order by created_at desc, guid limit ${MOST_OF_A_KIND}`,
    values,
  );
  return rows.map((row) => ({ kind: 'subscription', ...row }));
}

/** Guids of what events are about are not found by their first digits: the log has those by numbers of the whole. */
async function ofGuidsBeginning(postgres: Queryable, beginning: string): Promise<SearchMatch[]> {
  const accounts = await accountsBeginning(postgres, beginning);
  const subscriptions = await subscriptionsBeginning(postgres, beginning);
  const rows = await eventsBeginning(postgres, beginning, 'operator');
  const events = rows.filter(({ event }) => event.startsWith(beginning));
  const deliveries = (await deliveriesOf(postgres, rows, 'operator')).filter(({ delivery }) =>
    delivery.startsWith(beginning),
  );
  return [
    ...accounts,
    ...subscriptions,
    // Each once, however often it was routed, and of however many accounts.
    ...latest(events, ({ event }) => event).flatMap(({ event, interface: interfaceName, action, at }) =>
      interfaceName === null ? [] : [{ kind: 'event' as const, event, interface: interfaceName, action, at }],
    ),
    ...latest(deliveries, ({ delivery }) => delivery).map(foundDelivery),
  ];
}

function latest<T extends { at: number }>(found: readonly T[], guidOf: (each: T) => string): T[] {
  const inOrder = found.toSorted((one, other) => one.at - other.at);
  const each = [...new Map(inOrder.map((row) => [guidOf(row), row])).values()];
  return each.toSorted((one, other) => other.at - one.at).slice(0, MOST_OF_A_KIND);
}

export function foundDelivery({ delivery, account, client, action, at, ...row }: DeliveryRow): DeliveryMatch {
  return { kind: 'delivery', delivery, account, client, interface: row.interface, action, at };
}
