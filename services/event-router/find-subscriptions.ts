import type { Action } from '@waybell/catalog/action';
import { microBatch } from '@waybell/runtime/micro-batch';
import { whenAvailable, type Postgres } from '@waybell/runtime/postgres';

/** A current, active subscription: one per API client of an account. */
export type Subscription = {
  guid: string;
  /** Of which client of the account it is. */
  client: string;
  generation: number;
  /** Null where none was given: the plain form. */
  auditFieldSet: readonly string[] | null;
  isFeatureOn: boolean;
};

/** The subscriptions of an account to an action. Asks Postgres every time, so a subscribe counts for the next event. */
export type FindSubscriptions = (action: Action, account: string) => Promise<readonly Subscription[]>;

type Row = {
  key: string;
  subscription_guid: string;
  client_id: string;
  generation: number;
  audit_field_set: string[] | null;
  feature_on: boolean;
};

const SUBSCRIPTIONS = {
  name: 'subscription-targets',
  text: `select wanted.key, subscription_guid, client_id, generation, audit_field_set, feature_on
         from unnest($1::text[], $2::text[], $3::text[], $4::uuid[]) wanted(key, interface, action, account_guid)
         join waybell.subscription_targets using (interface, action, account_guid)`,
};

export function findSubscriptionsIn(postgres: Postgres): FindSubscriptions {
  const find = microBatch(async (keys) => {
    const values = [keys, ...columns(keys)];
    const { rows } = await whenAvailable(postgres, () => postgres.query<Row>({ ...SUBSCRIPTIONS, values }));
    return groupByKey(rows);
  });
  return async (action, account) => (await find(`${action.interface} ${action.name} ${account}`)) ?? [];
}

function columns(keys: string[]): string[][] {
  const parts = keys.map((key) => key.split(' '));
  return [0, 1, 2].map((column) => parts.map((part) => part[column] ?? ''));
}

function groupByKey(rows: Row[]): Map<string, Subscription[]> {
  const found = new Map<string, Subscription[]>();
  for (const row of rows) {
    const subscription = {
      guid: row.subscription_guid,
      client: row.client_id,
      generation: row.generation,
      auditFieldSet: row.audit_field_set,
      isFeatureOn: row.feature_on,
    };
    const group = found.get(row.key);
    if (group === undefined) found.set(row.key, [subscription]);
    else group.push(subscription);
  }
  return found;
}
