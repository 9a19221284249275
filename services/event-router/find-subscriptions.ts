import type { Action } from '@waybell/catalog/action';
import { actionKey } from '@waybell/catalog/actions';
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

/** `place`: index of the account among those queried, from 1. */
type FoundSubscriptionRow = { place: number } & ({ guid: null } | ActiveSubscription);

const SUBSCRIPTIONS = {
  name: 'subscription-targets',
  // At least one row for each known account.
  text: `select place::int, subscription_guid as guid, client_id as client, generation,
                audit_field_set as "auditFieldSet", feature_on as "isFeatureOn"
         from unnest($1::text[], $2::text[], $3::uuid[]) with ordinality wanted(interface, action, account_guid, place)
         join waybell.known_accounts using (account_guid)
         left join waybell.subscription_targets using (interface, action, account_guid)`,
};

export function findSubscriptionsIn(postgres: Postgres): FindSubscriptions {
  return async (events) => {
    const wanted = new Wanted();
    // Places of each account of each event, in order.
    const places: number[] = [];
    for (const { action, receivers } of events)
      for (const account of receivers) places.push(wanted.add(action, account));
    const ask = () => postgres.query<FoundSubscriptionRow>({ ...SUBSCRIPTIONS, values: wanted.columns() });
    const { rows } = await whenAvailable(postgres, ask);
    const found: (ActiveSubscription[] | undefined)[] = [];
    for (const row of rows) {
      const of = found[row.place - 1];
      if (of === undefined) found[row.place - 1] = row.guid === null ? [] : [row];
      else if (row.guid !== null) of.push(row);
    }
    let next = 0;
    return events.map(({ receivers }) => receivers.map(() => found[places[next++] ?? -1]));
  };
}

/** The accounts and actions that are queried, each pair once. */
class Wanted {
  readonly #places = new Map<string, number>();
  readonly #interfaces: string[] = [];
  readonly #names: string[] = [];
  readonly #accounts: string[] = [];

  /** Returns the place of the pair, from 0. */
  add(action: Action, account: string): number {
    const pair = `${actionKey(action)} ${account}`;
    const known = this.#places.get(pair);
    if (known !== undefined) return known;
    this.#places.set(pair, this.#accounts.length);
    this.#interfaces.push(action.interface);
    this.#names.push(action.name);
    return this.#accounts.push(account) - 1;
  }

  /** Writes Postgres arrays: names and guids need no quotes, and the driver would search each for characters to escape. */
  columns(): string[] {
    return [`{${this.#interfaces.join(',')}}`, `{${this.#names.join(',')}}`, `{${this.#accounts.join(',')}}`];
  }
}
