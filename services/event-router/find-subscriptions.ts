import type { Action } from '@waybell/catalog/action';
import { microBatch } from '@waybell/runtime/micro-batch';
import { whenAvailable, type Postgres } from '@waybell/runtime/postgres';

/** A current, active subscription: one per API client of an account. */
export type ActiveSubscription = {
  guid: string;
  client: string;
  generation: number;
  /** Null if none was given: the plain form. */
  auditFieldSet: readonly string[] | null;
  isFeatureOn: boolean;
};

/**
 * Finds the subscriptions of an account to an action; undefined if Waybell does not know the account. Queries Postgres every
 * time, so that a subscribe counts for the next event.
 */
export type FindSubscriptions = (action: Action, account: string) => Promise<readonly ActiveSubscription[] | undefined>;

type SubscriptionQuery = { action: Action; account: string };

type FoundSubscriptionRow = {
  /** Index of the account among those queried, from 1. */
  place: number;
} & ({ subscription_guid: null } | SubscriberRow);

type SubscriberRow = {
  subscription_guid: string;
  client_id: string;
  generation: number;
  audit_field_set: string[] | null;
  feature_on: boolean;
};

const SUBSCRIPTIONS = {
  name: 'subscription-targets',
  // At least one row for each known account.
  text: `select place::int, subscription_guid, client_id, generation, audit_field_set, feature_on
         from unnest($1::text[], $2::text[], $3::uuid[]) with ordinality wanted(interface, action, account_guid, place)
         join waybell.known_accounts using (account_guid)
         left join waybell.subscription_targets using (interface, action, account_guid)`,
};

export function findSubscriptionsIn(postgres: Postgres): FindSubscriptions {
  const find = microBatch<SubscriptionQuery, ActiveSubscription[] | undefined>(
    async (wanted) => {
      const values = columnsOf(wanted);
      const { rows } = await whenAvailable(postgres, () =>
        postgres.query<FoundSubscriptionRow>({ ...SUBSCRIPTIONS, values }),
      );
      const found = wanted.map((): ActiveSubscription[] | undefined => undefined);
      for (const row of rows) {
        const of = (found[row.place - 1] ??= []);
        if (row.subscription_guid !== null) of.push(readSubscription(row));
      }
      return found;
    },
    // One query at a time: look-ups that come meanwhile share the next one, and then a batch.
    { concurrency: 1, nameOf: ({ action, account }) => `${action.interface} ${action.name} ${account}` },
  );
  return (action, account) => find({ action, account });
}

/** Writes Postgres arrays: names and guids need no quotes, and the driver would search each for characters to escape. */
function columnsOf(wanted: SubscriptionQuery[]): string[] {
  return [
    `{${wanted.map(({ action }) => action.interface).join(',')}}`,
    `{${wanted.map(({ action }) => action.name).join(',')}}`,
    `{${wanted.map(({ account }) => account).join(',')}}`,
  ];
}

function readSubscription(row: SubscriberRow): ActiveSubscription {
  return {
    guid: row.subscription_guid,
    client: row.client_id,
    generation: row.generation,
    auditFieldSet: row.audit_field_set,
    isFeatureOn: row.feature_on,
  };
}
