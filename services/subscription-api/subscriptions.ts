import { randomUUID } from 'node:crypto';
import type { Interface } from '@waybell/catalog/action';
import type { KeyRing } from '@waybell/runtime/secrets';
import { IsNull } from 'typeorm';
import type { Actor } from './actor.ts';
import type { Queryable } from '@waybell/runtime/postgres';
import type { Database } from './database.ts';
import { newVerificationToken } from './sealed-rows.ts';
import { ensureSecret, newSecret } from './signing-secrets.ts';
import { subscriptionTable, type Subscription } from './tables/subscription.ts';

/** The client that owns subscriptions: clients of one account do not see or replace each other's. */
export type Client = { interface: Interface; accountGuid: string; clientId: string };

/** A client that changes something, and who is to be named for it. */
export type ChangingClient = Client & { actor: Actor };

/** A client's request to subscribe. `auditFieldSet` null is the plain form; given, even empty, it is the revision form. */
export type SubscriptionRequest = { action: string; callbackUrl: string; auditFieldSet: string[] | null };

export type Subscriptions = {
  /** Makes the subscription, or replaces what the current one says and switches it on; its guid and token stay. */
  subscribeOrReplace(client: ChangingClient, wish: SubscriptionRequest): Promise<Subscription>;
  /** Makes the subscription; undefined where there is a current one, active or deactivated. */
  subscribeOnce(client: ChangingClient, wish: SubscriptionRequest): Promise<Subscription | undefined>;
  /** Ends the current subscription and returns it as it ended; undefined where there is none. */
  end(client: ChangingClient, action: string): Promise<Subscription | undefined>;
  /** The client's current subscriptions, by action. */
  list(client: Client): Promise<Subscription[]>;
  find(client: Client, action: string): Promise<Subscription | null>;
  verificationToken(subscription: Subscription): string;
};

// Each is one statement: the unique index on current subscriptions decides between concurrent requests.
// The client's first signing secret comes with it, so that the first notification is signed already.
const INSERT = `
  with signing_secret as (${ensureSecret(3, 10)})
  insert into waybell.subscriptions as s (guid, interface, account_guid, client_id, action, callback_url,
    audit_field_set, verification_token_sealed, verification_token_key_id)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
  on conflict (account_guid, action, interface, client_id) where ended_at is null`;

const SUBSCRIBE_ONCE = `${INSERT} do nothing returning *`;

/** Resets a subscription `s` that begins anew: earlier failures no longer count. */
export const BEGUN_ANEW = `
    generation = s.generation + 1, is_active = true, changed_at = now(),
    deactivated_at = null, deactivation_rule = null, deactivated_by = null,
    failing_since = null, last_success_at = null, last_failure_at = null, last_failed_delivery = null`;

const SUBSCRIBE_OR_REPLACE = `${INSERT} do update set
    callback_url = excluded.callback_url, audit_field_set = excluded.audit_field_set, ${BEGUN_ANEW}
  returning *`;

/** Ends a subscription. */
export const ENDED = 'ended_at = now(), is_active = false, changed_at = now()';

const END = `
  update waybell.subscriptions set ${ENDED}
  where interface = $1 and account_guid = $2 and client_id = $3 and action = $4 and ended_at is null
  returning *`;

export function keepSubscriptions({ database, keyRing }: { database: Database; keyRing: KeyRing }): Subscriptions {
  async function change({ actor }: ChangingClient, sql: string, values: unknown[]): Promise<Subscription | undefined> {
    const { rows } = await database.change(actor, (postgres) => postgres.query<Subscription>(sql, values));
    return rows[0];
  }

  return {
    async subscribeOrReplace(client, wish) {
      const subscription = await change(client, SUBSCRIBE_OR_REPLACE, rowOf(client, wish, keyRing));
      if (subscription === undefined) throw new Error('an insert that replaces returned no row');
      return subscription;
    },
    subscribeOnce: (client, wish) => change(client, SUBSCRIBE_ONCE, rowOf(client, wish, keyRing)),
    end: (client, action) => change(client, END, [client.interface, client.accountGuid, client.clientId, action]),
    list(client) {
      const where = currentOf(client);
      return database.run((source) =>
        source.getRepository(subscriptionTable).find({ where, order: { action: 'asc' } }),
      );
    },
    find(client, action) {
      const where = { ...currentOf(client), action };
      return database.run((source) => source.getRepository(subscriptionTable).findOneBy(where));
    },
    verificationToken({ guid, verification_token_sealed: sealed, verification_token_key_id: keyId }) {
      return keyRing.open({ sealed, keyId }, guid);
    },
  };
}

/** Makes a subscription that its client does not have yet, with this verification token, in a transaction of the caller's. */
export async function subscribeIn(
  postgres: Queryable,
  client: Client,
  wish: SubscriptionRequest & { verificationToken: string },
  keyRing: KeyRing,
): Promise<void> {
  await postgres.query(SUBSCRIBE_ONCE, rowOf(client, wish, keyRing));
}

function rowOf(
  client: Client,
  { verificationToken = newVerificationToken(), ...wish }: SubscriptionRequest & { verificationToken?: string },
  keyRing: KeyRing,
): unknown[] {
  const guid = randomUUID();
  const { sealed, keyId } = keyRing.seal(verificationToken, guid);
  const { accountGuid, clientId } = client;
  const { action, callbackUrl, auditFieldSet } = wish;
  const subscription = [guid, client.interface, accountGuid, clientId, action, callbackUrl, auditFieldSet];
  return [...subscription, sealed, keyId, ...newSecret(keyRing)];
}

function currentOf({ interface: interfaceName, accountGuid, clientId }: Client) {
  return { interface: interfaceName, account_guid: accountGuid, client_id: clientId, ended_at: IsNull() };
}
