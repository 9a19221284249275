/**
 * Finds what a person may mean by any text: a guid, a key, a name, a host or a URL. First as the whole of it; where there is nothing, as
 * a part.
 */
import { isGuid } from '@waybell/events/timestamp';
import { LONGEST_KEY, normalizedKey } from '@waybell/events/event';
import type { InterfaceName } from '@waybell/line/outcomes';
import type { Queryable } from '@waybell/runtime/postgres';
import { ms, numberOfKey, readAction, readKey } from '../tables.ts';
import { deliveriesByGuid, deliveriesOf, type DeliveryRow } from './deliveries.ts';
import { ofPlace } from './events.ts';
import { eventsBeginning, guidsBeginning } from './first-digits.ts';
import { isAtEndpoint, readEndpoint, type SubscriptionEntry } from './subscriptions.ts';

/** One meaning of a searched text. */
export type SearchMatch =
  | { kind: 'event'; event: string; interface: InterfaceName; action: string; at: number }
  | DeliveryMatch
  | SubscriptionMatch
  | AccountMatch
  | FoundKey;

type DeliveryMatch = { kind: 'delivery' } & Pick<
  DeliveryRow,
  'delivery' | 'account' | 'client' | 'interface' | 'action' | 'at'
>;

/** Its URL is without the query. */
type SubscriptionMatch = { kind: 'subscription' } & Pick<
  SubscriptionEntry,
  'subscription' | 'account' | 'client' | 'interface' | 'action' | 'url'
> & { at: number };

type AccountMatch = {
  kind: 'account';
  account: string;
  interface: InterfaceName;
  name: string | null;
  at: number;
};

/** A key that events have. `events`: how many, counted up to `MOST_COUNTED`. */
export type FoundKey = { kind: 'key'; key: string; keyKind: string; events: number; at: number };

/** Chooses some meanings; `keyKind`: the kind of a key. */
export type MatchFilter = { as?: SearchMatch['kind'] | undefined; keyKind?: string | undefined };

/** Limit of the events counted for a key. */
export const MOST_COUNTED = 1_000;

/**
 * Finds every meaning of a guid, a number, a VIN, the subject of an event, or the name of an account, however it is spelled; if there is
 * none, of a part of them: see `findByPart`. `kind:key` names a key's kind.
 */
export async function findAnything(
  postgres: Queryable,
  text: string,
  { as, keyKind }: MatchFilter = {},
): Promise<SearchMatch[]> {
  const asked = normalizedKey(text);
  if (asked === '' || asked.length > LONGEST_KEY) return [];
  const isMeant = (found: SearchMatch) =>
    (as === undefined || found.kind === as) &&
    (keyKind === undefined || (found.kind === 'key' && found.keyKind === keyKind));
  const whole = (await findWhole(postgres, asked)).filter(isMeant);
  if (whole.length > 0 || as === 'key' || keyKind !== undefined) return whole;
  return (await findByPart(postgres, asked)).filter(isMeant);
}

async function findWhole(postgres: Queryable, asked: string): Promise<SearchMatch[]> {
  const keys = await keysNamed(postgres, asked);
  const named = isGuid(asked)
    ? await namedBy(postgres, asked, keys.length > 0)
    : await accountsNamed(postgres, asked, 'whole');
  if (named.length + keys.length > 0) return [...named, ...keys];
  const [, keyKind, key] = /^([a-z_]+):(.+)$/s.exec(asked) ?? [];
  if (keyKind === undefined || key === undefined) return [];
  return (await keysNamed(postgres, key.trim())).filter((each) => each.keyKind === keyKind);
}

/** `isKey`: the guid is a key, too. */
async function namedBy(postgres: Queryable, guid: string, isKey: boolean): Promise<SearchMatch[]> {
  const events = await eventsNamed(postgres, guid);
  const others = [...(await subscriptionsBeginning(postgres, guid)), ...(await accountsBeginning(postgres, guid))];
  const isAttempted = isKey || events.length + others.length > 0;
  const [delivery] = await deliveriesByGuid(postgres, { delivery: guid, isAttempted }, 'operator');
  return [...events, ...others, ...(delivery === undefined ? [] : [foundDelivery(delivery)])];
}

async function eventsNamed(postgres: Queryable, event: string): Promise<SearchMatch[]> {
  const { rows } = await postgres.query<{ action: string; at: number }>(
    `select action, ${ms('at')} as at from delivery_log.events
     where event = $1 and rejected_delivery is null order by at desc limit 1`,
    [event],
  );
  // An event's action names its interface.
  return rows.map(({ action, at }) => ({ kind: 'event', event, ...readAction(action), at }) as SearchMatch);
}

/** Kind of a key that was found as a guid in a text: its real kind is unknown. */
const UNKNOWN_KIND = 'guid';

/** The latest events of a key, with all their keys. */
const OF_KEY = `
  select distinct k.event, ${ms('k.at')} as at, e.keys from (
    select event, at from delivery_log.keys where number = $1 order by at desc limit ${MOST_COUNTED}
  ) k cross join lateral (${ofPlace('k')}) e`;

/** Returns each kind of a key, normalized, that the log has. */
export async function keysNamed(postgres: Queryable, key: string): Promise<FoundKey[]> {
  const { rows } = await postgres.query<{ at: number; keys: string[] }>(OF_KEY, [numberOfKey(key)]);
  const found = rows.flatMap(({ at, keys }) =>
    keys
      .map(readKey)
      .filter((each) => normalizedKey(each.key) === key)
      .map(({ kind }) => ({ kind, at })),
  );
  const kinds = [...Map.groupBy(found, ({ kind }) => kind)].toSorted(([one], [other]) => (one < other ? -1 : 1));
  const known = kinds.filter(([kind]) => kind !== UNKNOWN_KIND);
  return (known.length > 0 ? known : kinds).map(([keyKind, of]) => ({
    kind: 'key',
    key,
    keyKind,
    events: of.length,
    at: Math.max(...of.map(({ at }) => at)),
  }));
}

/** Limit of the results of each kind. */
const MOST_OF_A_KIND = 20;

const FIRST_DIGITS = /^[0-9a-f]{8}$/;
/** A host alone has a dot: other words are parts of names. */
const HOST = /^\[|[.]|^https?:\/\//;

/**
 * Finds accounts by a part of their names, accounts, subscriptions, events and deliveries by the first eight digits of their guids, and
 * current subscriptions by their host or URL; the newest first, a bounded number of each. `text`: in lower case.
 */
async function findByPart(postgres: Queryable, text: string): Promise<SearchMatch[]> {
  const accounts = await accountsNamed(postgres, text, 'part');
  if (FIRST_DIGITS.test(text)) return [...accounts, ...(await ofGuidsBeginning(postgres, text))];
  return [...accounts, ...(await subscriptionsAt(postgres, text))];
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

function foundDelivery({ delivery, account, client, action, at, ...row }: DeliveryRow): DeliveryMatch {
  return { kind: 'delivery', delivery, account, client, interface: row.interface, action, at };
}

const ACCOUNT = `guid as account, interface, name, ${ms('created_at')} as at`;

/** Finds accounts by their names, or a part of them, in any case. */
async function accountsNamed(postgres: Queryable, text: string, by: 'whole' | 'part'): Promise<AccountMatch[]> {
  const isNamed = by === 'whole' ? 'lower(name) = $1' : 'position($1 in lower(name)) > 0';
  return accountsWhere(postgres, isNamed, [text]);
}

/** Finds accounts by the beginning of their guids, or by the whole. */
const accountsBeginning = (postgres: Queryable, beginning: string): Promise<AccountMatch[]> =>
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
const subscriptionsBeginning = (postgres: Queryable, beginning: string): Promise<SubscriptionMatch[]> =>
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
