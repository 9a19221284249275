import { randomUUID } from 'node:crypto';
import type { Interface } from '@waybell/catalog/action';
import { STOP, type Stop } from '@waybell/delivery-log/read/subscriptions';
import type { Queryable } from '@waybell/runtime/postgres';
import type { KeyRing } from '@waybell/runtime/secrets';
import type { Actor } from './actor.ts';
import { NOTED_MISSED, type NotedMissed } from './by-hand/missed.ts';
import type { Database } from './database.ts';
import { newVerificationToken } from './sealed-rows.ts';
import { ensureSecret, newSecret } from './signing-secrets.ts';
import type { Subscription } from './tables.ts';

/** The client that owns subscriptions: clients of one account do not see or replace each other's. */
export type Client = { interface: Interface; accountGuid: string; clientId: string };

/** A client that changes something, and who is to be named for it. */
export type ChangingClient = Client & { actor: Actor };

/** A client's request to subscribe. `auditFieldSet` null is the plain form; given, even empty, it is the revision form. */
export type SubscriptionRequest = { action: string; callbackUrl: string; auditFieldSet: string[] | null };

/** Members that are left out stay as they are; only `isActive` switches on what is off. */
export type SubscriptionChange = Partial<Omit<SubscriptionRequest, 'action'>> & { isActive: boolean };

export type ShownSubscription = Subscription & {
  stop: Stop | null;
  /** `count`: how many it lacks, where they were counted. */
  missed: (NotedMissed & { count?: number }) | null;
};

export type PutResult = { result: 'created' | 'changed' | 'unchanged'; subscription: ShownSubscription };

export type Subscriptions = {
  /** Makes the subscription, or replaces what the current one says, switches it on and ends its pause; its guid and token stay. */
  subscribeOrReplace(client: ChangingClient, wanted: SubscriptionRequest): Promise<ShownSubscription>;
  /** Makes the subscription; undefined where there is a current one, active or deactivated. */
  subscribeOnce(client: ChangingClient, wanted: SubscriptionRequest): Promise<ShownSubscription | undefined>;
  /** Makes each, or changes the current one in place; by action. `isActive`: what was switched off is on again. */
  put(client: ChangingClient, wanted: SubscriptionRequest[], how: { isActive: boolean }): Promise<PutResult[]>;
  /** Changes a current subscription, if the change makes a difference; undefined if there is none. */
  change(client: ChangingClient, guid: string, change: SubscriptionChange): Promise<ShownSubscription | undefined>;
  /** Makes the deliveries of a current subscription that is on wait until then; null: no longer. Undefined if there is none. */
  pause(client: ChangingClient, guid: string, until: Date | null): Promise<ShownSubscription | undefined>;
  /** Ends the current subscription and returns it as it ended; undefined where there is none. */
  end(client: ChangingClient, action: string): Promise<ShownSubscription | undefined>;
  /** Lists the client's current subscriptions, by action. */
  list(client: Client): Promise<ShownSubscription[]>;
  /** Finds a current subscription. */
  find(client: Client, by: { action: string } | { guid: string }): Promise<ShownSubscription | undefined>;
  verificationToken(subscription: Subscription): string;
};

const SHOWN = `s.*, ${STOP} as stop, ${NOTED_MISSED} as missed`;
const OF_CLIENT = 's.interface = $1 and s.account_guid = $2 and s.client_id = $3 and s.ended_at is null';
const CURRENT = `select ${SHOWN} from waybell.subscriptions s where ${OF_CLIENT}`;

// Each is one statement: the unique index on current subscriptions decides between concurrent requests.
// The client's first signing secret comes with it, so that the first notification is signed already.
const INSERT = `
  with signing_secret as (${ensureSecret(2, 4)})
  insert into waybell.subscriptions as s (interface, account_guid, client_id, guid, action, callback_url, audit_field_set,
    verification_token_sealed, verification_token_key_id)
  select $1::text, $2::uuid, $3::text, wanted.*
  from json_to_recordset($7) as wanted (
    guid uuid, action text, callback_url text, audit_field_set text[], sealed bytea, key_id text)
  on conflict (account_guid, action, interface, client_id) where ended_at is null`;

const SUBSCRIBE_ONCE = `${INSERT} do nothing returning ${SHOWN}`;

const HEALTH = [
  'deactivated_at',
  'deactivation_rule',
  'deactivated_by',
  'failing_since',
  'last_success_at',
  'last_failure_at',
  'last_failed_delivery',
];

/**
 * Resets a subscription `s` that starts again, if it `isOn` then: earlier failures no longer count. If it was off, notes the
 * missed period: from a minute before until a minute after, as clocks differ and the delivery log comes later.
 */
export const resetRun = (isOn = 'true'): string => `
    generation = s.generation + 1, changed_at = now(), is_active = ${isOn},
    ${HEALTH.map((name) => `${name} = case when not (${isOn}) then s.${name} end`).join(', ')},
    missed_since = case when s.is_active or not (${isOn}) then s.missed_since
      else least(case when s.missed_replayed_at is null then s.missed_since end, least(s.failing_since, s.deactivated_at) - interval '1 minute') end,
    missed_until = case when s.is_active or not (${isOn}) then s.missed_until else now() + interval '1 minute' end,
    missed_replayed_at = case when s.is_active or not (${isOn}) then s.missed_replayed_at end`;

const SUBSCRIBE_OR_REPLACE = `${INSERT} do update set
    callback_url = excluded.callback_url, audit_field_set = excluded.audit_field_set, paused_until = null, ${resetRun()}
  returning ${SHOWN}`;

/** True if it is to be another than it is; `isOn`: whether it is to be on. */
const differs = (url: string, audited: string, isOn: string): string =>
  `(s.callback_url, s.audit_field_set, s.is_active) is distinct from (${url}, ${audited}, ${isOn})`;

const PUT_IS_ON = '(s.is_active or $8::boolean)';
const PUT = `${INSERT} do update set
    callback_url = excluded.callback_url, audit_field_set = excluded.audit_field_set, ${resetRun(PUT_IS_ON)}
  where ${differs('excluded.callback_url', 'excluded.audit_field_set', PUT_IS_ON)}
  returning s.guid`;

const OF_ACTIONS = 'and s.action = any ($4)';
/** Locks as an insert and a stop do, before rows are locked: no other subscription of the client is made meanwhile. */
const LOCK_CLIENT = 'select waybell.lock_stops($1, $2)';
/** Before rows of its account are locked that a closing of it locks after it. */
export const LOCK_ACCOUNT = 'select from waybell.accounts where guid = $1 for key share';
/** In the order of the deactivator. */
const LOCK_CURRENT = `select from waybell.subscriptions s where ${OF_CLIENT} ${OF_ACTIONS} order by s.guid for no key update`;

const CHANGE_IS_ON = '(s.is_active or $7::boolean)';
const CHANGED_URL = 'coalesce($5, s.callback_url)';
const CHANGED_AUDIT =
  'case when $6::json is null then s.audit_field_set else (select audit_field_set from json_to_record($6) as (audit_field_set text[])) end';
const CHANGE = `
  update waybell.subscriptions s set callback_url = ${CHANGED_URL}, audit_field_set = ${CHANGED_AUDIT}, ${resetRun(CHANGE_IS_ON)}
  where ${OF_CLIENT} and s.guid = $4 and ${differs(CHANGED_URL, CHANGED_AUDIT, CHANGE_IS_ON)}`;

const PAUSE = `
  update waybell.subscriptions s set paused_until = $5, changed_at = now()
  where ${OF_CLIENT} and s.guid = $4 and s.is_active and s.paused_until is distinct from $5`;

/** Ends a subscription. */
export const ENDED = 'ended_at = now(), is_active = false, changed_at = now()';

const END = `update waybell.subscriptions s set ${ENDED} where ${OF_CLIENT} and s.action = $4 returning ${SHOWN}`;

export function keepSubscriptions({ database, keyRing }: { database: Database; keyRing: KeyRing }): Subscriptions {
  async function ask(client: Client, sql: string, ...values: unknown[]): Promise<ShownSubscription[]> {
    return database.run((source) => source.query<ShownSubscription[]>(sql, [...valuesOf(client), ...values]));
  }
  async function change(client: ChangingClient, sql: string, values: unknown[]): Promise<ShownSubscription[]> {
    return database.change(client.actor, async (postgres) => {
      const { rows } = await postgres.query<ShownSubscription>(sql, values);
      return rows;
    });
  }
  /** Changes one in place, and returns it as it is then. */
  async function changeOf(client: ChangingClient, guid: string, sql: string, ...values: unknown[]) {
    return database.change(client.actor, async (postgres) => {
      const whose = [...valuesOf(client), guid];
      await postgres.query(sql, [...whose, ...values]);
      return (await postgres.query<ShownSubscription>(`${CURRENT} and s.guid = $4`, whose)).rows[0];
    });
  }

  return {
    async subscribeOrReplace(client, wanted) {
      const [subscription] = await change(
        client,
        SUBSCRIBE_OR_REPLACE,
        insertOf(client, [rowOf(wanted, keyRing)], keyRing),
      );
      if (subscription === undefined) throw new Error('an insert that replaces returned no row');
      return subscription;
    },
    async subscribeOnce(client, wanted) {
      return (await change(client, SUBSCRIBE_ONCE, insertOf(client, [rowOf(wanted, keyRing)], keyRing)))[0];
    },
    put(client, wanted, { isActive }) {
      const rows = wanted.map((each) => rowOf(each, keyRing));
      const made = new Set<string>(rows.map(({ guid }) => guid));
      return database.change(client.actor, async (postgres) => {
        await postgres.query(LOCK_ACCOUNT, [client.accountGuid]);
        await postgres.query(LOCK_CLIENT, [client.accountGuid, client.clientId]);
        const whose = [...valuesOf(client), rows.map(({ action }) => action)];
        await postgres.query(LOCK_CURRENT, whose);
        const put = await postgres.query<{ guid: string }>(PUT, [...insertOf(client, rows, keyRing), isActive]);
        const touched = new Set(put.rows.map(({ guid }) => guid));
        const now = await postgres.query<ShownSubscription>(`${CURRENT} ${OF_ACTIONS} order by s.action`, whose);
        return now.rows.map((subscription) => {
          const { guid } = subscription;
          const result = !touched.has(guid) ? 'unchanged' : made.has(guid) ? 'created' : 'changed';
          return { result, subscription };
        });
      });
    },
    change(client, guid, { callbackUrl, auditFieldSet, isActive }) {
      const audited = auditFieldSet === undefined ? null : JSON.stringify({ audit_field_set: auditFieldSet });
      return changeOf(client, guid, CHANGE, callbackUrl ?? null, audited, isActive);
    },
    pause: (client, guid, until) => changeOf(client, guid, PAUSE, until),
    async end(client, action) {
      return (await change(client, END, [...valuesOf(client), action]))[0];
    },
    list: (client) => ask(client, `${CURRENT} order by s.action`),
    async find(client, by) {
      const [column, value] = 'guid' in by ? ['guid', by.guid] : ['action', by.action];
      return (await ask(client, `${CURRENT} and s.${column} = $4`, value))[0];
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
  wanted: NewSubscription,
  keyRing: KeyRing,
): Promise<void> {
  await postgres.query(SUBSCRIBE_ONCE, insertOf(client, [rowOf(wanted, keyRing)], keyRing));
}

type NewSubscription = SubscriptionRequest & { verificationToken?: string };
type NewSubscriptionRow = ReturnType<typeof rowOf>;

function rowOf(wanted: NewSubscription, keyRing: KeyRing) {
  const { action, callbackUrl, auditFieldSet, verificationToken = newVerificationToken() } = wanted;
  const guid = randomUUID();
  const { sealed, keyId } = keyRing.seal(verificationToken, guid);
  const token = { sealed: `\\x${sealed.toString('hex')}`, key_id: keyId };
  return { guid, action, callback_url: callbackUrl, audit_field_set: auditFieldSet, ...token };
}

const valuesOf = ({ interface: interfaceName, accountGuid, clientId }: Client) => [
  interfaceName,
  accountGuid,
  clientId,
];

function insertOf(client: Client, rows: readonly NewSubscriptionRow[], keyRing: KeyRing): unknown[] {
  return [...valuesOf(client), ...newSecret(keyRing), JSON.stringify(rows)];
}
