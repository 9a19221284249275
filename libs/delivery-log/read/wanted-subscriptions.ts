import type { InterfaceName } from '@waybell/line/outcomes';
import type { Queryable } from '@waybell/runtime/postgres';
import { ms } from '../columns.ts';
import { isAtEndpoint, type EndpointFilter } from './endpoint-filter.ts';
import type { SubscriptionEntry } from './subscriptions.ts';

/** A subscription, current or ended. One that is switched off counts as ended. */
export type WantedSubscription = Pick<
  SubscriptionEntry,
  'subscription' | 'account' | 'client' | 'interface' | 'action' | 'endedAt'
>;

/** Filters of subscriptions. */
export type SubscriptionFilter = {
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
