import type { Action } from '@waybell/catalog/action';
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

/** The subscriptions of each account that receives an event, in their order; undefined for one that Waybell does not know. */
export type FoundSubscriptions = readonly (readonly ActiveSubscription[] | undefined)[];

/**
 * Finds the subscriptions to many events, in their order, by one query; equal accounts and actions are asked for once. Queries
 * Postgres every time, so that a subscribe counts for the next event. Throws `Unavailable`.
 */
export type FindSubscriptions = (
  events: readonly { action: Action; receivers: readonly string[] }[],
) => Promise<readonly FoundSubscriptions[]>;

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
  return async (events) => {
    const wanted = new Map<string, SubscriptionQuery & { place: number }>();
    for (const { action, receivers } of events) {
      for (const account of receivers) {
        const name = nameOf({ action, account });
        if (!wanted.has(name)) wanted.set(name, { action, account, place: wanted.size });
      }
    }
    const values = columnsOf([...wanted.values()]);
    const ask = () => postgres.query<FoundSubscriptionRow>({ ...SUBSCRIPTIONS, values });
    const { rows } = await whenAvailable(postgres, ask);
    const found: (ActiveSubscription[] | undefined)[] = [];
    for (const row of rows) {
      const of = (found[row.place - 1] ??= []);
      if (row.subscription_guid !== null) of.push(readSubscription(row));
    }
    return events.map(({ action, receivers }) =>
      receivers.map((account) => found[wanted.get(nameOf({ action, account }))?.place ?? -1]),
    );
  };
}

const nameOf = ({ action, account }: SubscriptionQuery): string => `${action.interface} ${action.name} ${account}`;

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
