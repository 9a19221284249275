/** Finds subscriptions by any filter, and their states, now and at any earlier time, from their rows and the audit log. */
import type { InterfaceName } from '@waybell/line/outcomes';
import type { Queryable } from '@waybell/runtime/postgres';
import { ms, DELIVERED_OR_RETRIED } from '../tables.ts';
import type { ListenerOption } from '../listener-client.ts';
import type { Cursor } from './cursor.ts';

/** A subscription, current or ended. Times are milliseconds since the epoch. */
export type SubscriptionEntry = {
  subscription: string;
  account: string;
  client: string;
  interface: InterfaceName;
  action: string;
  /** Without the query, whose values may be secrets. */
  url: string;
  createdAt: number;
  endedAt: number | null;
  /** Its client has its deliveries wait until then; null if it does not. */
  pausedUntil: number | null;
  /** An operator has its deliveries wait, or those to its host; null if none does. */
  stop: Stop | null;
  /** Time since which its attempts fail; null if the last one did not. */
  failingSince: number | null;
  lastSuccessAt: number | null;
  /** Times at which a rule switched it off or it was subscribed again, in order. */
  switches: readonly Switch[];
};

export type Stop = { at: number; reason: string };

export type Switch = { at: number; isOn: true } | { at: number; isOn: false; rule: string };

/** Selects one subscription, or those of a client, or of an account; without listeners' unless requested. */
type SubscriptionSelection =
  | { subscription: string }
  | ({ account: string; client?: string | undefined; action?: string | undefined } & ListenerOption);

type SubscriptionRow = Omit<SubscriptionEntry, 'switches'> & { deactivatedAt: number | null; rule: string | null };
type SwitchRow = { subscription: string; at: number; isOn: boolean; rule: string | null };

/** A Stop, or null, of the subscription `s`: its own, or else that of its host. */
export const STOP = `coalesce(
  case when s.stopped_at is not null then json_build_object('at', ${ms('s.stopped_at')}, 'reason', s.stopped_reason) end,
  (select json_build_object('at', ${ms('h.stopped_at')}, 'reason', h.reason) from waybell.stopped_hosts h
   where h.host = waybell.host_of(s.callback_url)))`;

/**
 * The last success of the subscription `s`. Its row is written once an hour at most while it succeeds: what succeeded since is in the
 * log. While it fails, nothing succeeded after its failures began that is not in the row; clocks may differ.
 */
const LAST_SUCCESS = `greatest(s.last_success_at, (
  select a.at from delivery_log.attempts a
  where a.subscription = s.guid and a.${DELIVERED_OR_RETRIED} and a.kind = 'delivered'
    and a.at > s.last_success_at and a.at <= coalesce(s.failing_since + interval '1 minute', 'infinity')
  order by a.at desc limit 1))`;

/** Finds subscriptions, ended ones too, newest first; all or a page. */
export async function subscriptionsOf(
  postgres: Queryable,
  selection: SubscriptionSelection,
  { before, limit }: { before?: Cursor | undefined; limit?: number } = {},
): Promise<SubscriptionEntry[]> {
  const wanted = {
    subscription: null,
    account: null,
    client: null,
    action: null,
    withListeners: undefined,
    ...selection,
  };
  const { rows } = await postgres.query<SubscriptionRow>(
    `select guid as subscription, account_guid as account, client_id as client, interface, action,
       split_part(callback_url, '?', 1) as url, ${ms('created_at')} as "createdAt", ${ms('ended_at')} as "endedAt",
       case when paused_until > now() then ${ms('paused_until')} end as "pausedUntil", ${STOP} as stop,
       ${ms('failing_since')} as "failingSince", ${ms(LAST_SUCCESS)} as "lastSuccessAt",
       ${ms('deactivated_at')} as "deactivatedAt", deactivation_rule as rule
     from waybell.subscriptions s
     where ($1::uuid is null or guid = $1) and ($2::uuid is null or account_guid = $2)
       and case when $3::text is not null then client_id = $3 else guid = $1 or $8 or not waybell.is_listener(client_id) end
       and ($4::text is null or action = $4)
       and ($5::float8 is null or (${ms('created_at')}, guid) < ($5, $6::uuid))
     order by ${ms('created_at')} desc, guid desc limit $7`,
    [
      wanted.subscription,
      wanted.account,
      wanted.client ?? null,
      wanted.action ?? null,
      before?.at ?? null,
      before?.guid ?? null,
      limit ?? null,
      wanted.withListeners ?? false,
    ],
  );
  const noted = Map.groupBy(await switchesOf(postgres, rows), ({ subscription }) => subscription);
  return rows.map(({ deactivatedAt, rule, ...row }) => {
    const switches = (noted.get(row.subscription) ?? []).map(readSwitch);
    // The row may still have a switch that the audit log has deleted.
    const isListed = deactivatedAt === null || switches.some(({ at }) => at === deactivatedAt);
    const last = isListed ? [] : [{ at: deactivatedAt, isOn: false, rule: rule ?? 'unknown' } as const];
    return { ...row, switches: [...switches, ...last] };
  });
}

async function switchesOf(postgres: Queryable, rows: readonly SubscriptionRow[]): Promise<SwitchRow[]> {
  if (rows.length === 0) return [];
  const { rows: noted } = await postgres.query<SwitchRow>(
    `select subject_guid as subscription, ${ms('at')} as at, (details ->> 'is_active')::boolean as "isOn",
       details ->> 'deactivation_rule' as rule
     from waybell.audit_log
     where account_guid = any ($1::uuid[]) and subject_guid = any ($2::uuid[]) and what = 'subscription.changed'
       and details ->> 'is_active' is not null and details ->> 'ended_at' is null
     order by at, id`,
    [[...new Set(rows.map(({ account }) => account))], rows.map(({ subscription }) => subscription)],
  );
  return noted;
}

function readSwitch({ at, isOn, rule }: SwitchRow): Switch {
  return isOn ? { at, isOn } : { at, isOn, rule: rule ?? 'unknown' };
}

/** The state of a subscription at a time. */
export type Standing =
  | { kind: 'not_yet' }
  | { kind: 'active' }
  | { kind: 'switched_off'; since: number; rule: string }
  | { kind: 'ended'; at: number };

export function standingAt({ createdAt, endedAt, switches }: SubscriptionEntry, at: number): Standing {
  if (at < createdAt) return { kind: 'not_yet' };
  const last = switches.findLast((each) => each.at <= at);
  const isOff = last !== undefined && !last.isOn;
  if (endedAt !== null && endedAt <= at) return { kind: 'ended', at: endedAt };
  return isOff ? { kind: 'switched_off', since: last.at, rule: last.rule } : { kind: 'active' };
}

/** A subscription, current or ended. One that is switched off counts as ended. */
export type WantedSubscription = Pick<
  SubscriptionEntry,
  'subscription' | 'account' | 'client' | 'interface' | 'action' | 'endedAt'
>;

/** Filters of subscriptions. */
type SubscriptionFilter = {
  account?: string | undefined;
  client?: string | undefined;
  interface?: InterfaceName | undefined;
  action?: string | undefined;
  subscription?: string | undefined;
  /** Without an account, only current ones are found by it. */
  endpoint?: EndpointFilter | undefined;
  withListeners?: boolean | undefined;
};

/** Finds subscriptions, also ended ones. Reads by an index if an account, a subscription or an endpoint is given. */
export async function wantedSubscriptions(
  postgres: Queryable,
  filter: SubscriptionFilter,
  limit?: number,
): Promise<WantedSubscription[]> {
  const { conditions, values } = conditionsOf(filter);
  const { rows } = await postgres.query<WantedSubscription>(
    `select guid as subscription, account_guid as account, client_id as client, interface, action,
       ${ms('least(ended_at, deactivated_at)')} as "endedAt"
     from waybell.subscriptions s where ${conditions.join(' and ')} limit $1`,
    [limit ?? null, ...values],
  );
  return rows;
}

/** Returns those of these subscriptions whose URL is at the endpoint. */
export async function thoseAtEndpoint(
  postgres: Queryable,
  subscriptions: readonly string[],
  { host, origins, url }: EndpointFilter,
): Promise<ReadonlySet<string>> {
  if (subscriptions.length === 0) return new Set();
  const { rows } = await postgres.query<{ guid: string }>(
    `select guid from waybell.subscriptions s where guid = any ($1::uuid[]) and ${isAtEndpoint('$2', '$3', '$4')}`,
    [[...new Set(subscriptions)], host, origins, url],
  );
  return new Set(rows.map(({ guid }) => guid));
}

/** `$1` is the limit. */
function conditionsOf(filter: SubscriptionFilter): { conditions: string[]; values: unknown[] } {
  const { account, client, interface: interfaceName, action, subscription, endpoint, withListeners = false } = filter;
  const values: unknown[] = [];
  const add = (value: unknown) => `$${values.push(value) + 1}`;
  const conditions = [
    ...Object.entries({
      account_guid: account,
      client_id: client,
      interface: interfaceName,
      action,
      guid: subscription,
    })
      .filter(([, value]) => value !== undefined)
      .map(([column, value]) => `${column} = ${add(value)}`),
    ...(endpoint === undefined ? [] : [isAtEndpoint(add(endpoint.host), add(endpoint.origins), add(endpoint.url))]),
    ...(endpoint === undefined || account !== undefined ? [] : ['ended_at is null']),
    ...(client !== undefined || withListeners ? [] : ['not waybell.is_listener(client_id)']),
  ];
  return { conditions, values };
}

/** The destination of callbacks: a host, also with its port, an origin, or one URL. */
export type EndpointFilter = {
  /** The host as callback URLs write it. */
  host: string;
  /** Beginnings of their URLs, one of these; null: any port. */
  origins: readonly string[] | null;
  /** The whole URL, without its query; null: any path. */
  url: string | null;
};

/** Longest text of an endpoint, as of a callback URL. */
export const LONGEST_ENDPOINT = 2_048;

/** Reads a host, `host:8443`, an origin or a URL, whose query is left out. Undefined if the text names no host. */
export function readEndpoint(text: string): EndpointFilter | undefined {
  const isUrl = /^https?:\/\//i.test(text);
  const url = URL.parse(isUrl ? text : `https://${text}`);
  if (url === null || url.hostname === '' || url.username + url.password !== '') return undefined;
  if (/[\s\\\p{Cc}\p{Cf}]/u.test(text) || text.length > LONGEST_ENDPOINT) return undefined;
  if (!isUrl && text.includes('://')) return undefined;
  if (url.hostname.endsWith('.')) url.hostname = url.hostname.slice(0, -1);
  const isWhole = url.pathname !== '/';
  const origins = isUrl ? [url.origin] : [`https://${url.host}`, `http://${url.host}`];
  return {
    host: url.hostname,
    origins: (isUrl || url.port !== '') && !isWhole ? origins.map((origin) => `${origin}/`) : null,
    url: isWhole ? `${url.origin}${url.pathname}` : null,
  };
}

/**
 * Builds a condition: the URL of the subscription `s` is at the endpoint; each parameter as SQL. An index has current subscriptions by
 * their hosts.
 */
export const isAtEndpoint = (host: string, origins: string, url: string): string =>
  `waybell.host_of(s.callback_url) = ${host}
   and (${origins}::text[] is null or exists (select from unnest(${origins}::text[]) o where starts_with(s.callback_url, o)))
   and (${url}::text is null or lower(split_part(s.callback_url, '?', 1)) = lower(${url}))`;
