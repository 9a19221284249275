import { createHash, randomUUID } from 'node:crypto';
import { endpointKey } from '@waybell/deliverer/endpoints/endpoint';
import type { ParkingStore, RowKey } from '@waybell/deliverer/parking/parking-store';
import { PARKING_SETTINGS, parkInPostgres } from '@waybell/deliverer/parking/postgres-parking';
import { MemoryParking } from '@waybell/deliverer/parking/testing/memory-parking';
import type { ParkedRow } from '@waybell/line/messages';
import { connectPostgres, type Postgres } from '@waybell/runtime/postgres';
import { createTestDatabase, silentLog, type TestDatabase } from '@waybell/subscription-api/testing/database';

export type Subscribed = { subscription: string; account: string; callbackUrl: string };

/** A store, and what lies outside of it: subscriptions, and time. */
export type ParkingStand = AsyncDisposable & {
  store: ParkingStore;
  /** At a URL of its own, for an account of its own, unless it is said. */
  subscribe(given?: Partial<Omit<Subscribed, 'subscription'>>): Promise<Subscribed>;
  changeUrl(subscribed: Subscribed, callbackUrl: string): Promise<void>;
  /** Lets time pass. */
  later(ms: number): Promise<void>;
  forget(key: RowKey): Promise<void>;
  /** One where nothing is parked or leased. */
  empty(): Promise<ParkingStand>;
};

export class PostgresStand implements ParkingStand {
  readonly database: TestDatabase;
  readonly postgres: Postgres;
  readonly store: ParkingStore;

  private constructor(database: TestDatabase, poolSize: number) {
    this.database = database;
    this.postgres = connectPostgres({
      url: database.url,
      role: 'waybell_deliverer',
      poolSize,
      settings: PARKING_SETTINGS,
      // A limit long enough for all that these tests make it wait for: they are not about it.
      timeoutMs: 60_000,
      log: silentLog,
    });
    this.store = this.storeOf(['shipper.insurance.issued']);
  }

  /** The store of a deliverer of these actions, on the same tables. */
  storeOf(actions: readonly string[]): ParkingStore {
    return parkInPostgres(this.postgres, actions);
  }

  static async start(poolSize = 2): Promise<PostgresStand> {
    return new PostgresStand(await createTestDatabase(), poolSize);
  }

  async subscribe({ account = randomUUID(), callbackUrl = aUrl() }: Partial<Subscribed> = {}): Promise<Subscribed> {
    const subscription = randomUUID();
    await this.sql(`insert into waybell.accounts (guid, interface) values ($1, 'shipper') on conflict do nothing`, [
      account,
    ]);
    await this.sql(
      `insert into waybell.subscriptions (guid, interface, account_guid, client_id, action, callback_url,
         verification_token_sealed, verification_token_key_id)
       values ($1, 'shipper', $2, $3, 'insurance.issued', $4, '\\x00', 'k')`,
      [subscription, account, subscription, callbackUrl],
    );
    return { subscription, account, callbackUrl };
  }

  async changeUrl({ subscription }: Subscribed, callbackUrl: string): Promise<void> {
    await this.sql('update waybell.subscriptions set callback_url = $2 where guid = $1', [subscription, callbackUrl]);
  }

  async later(ms: number): Promise<void> {
    const passed = `interval '${ms} milliseconds'`;
    await this.sql(`update waybell.parked set not_before = not_before - ${passed}`);
    await this.sql(`update waybell.parked_shards set leased_until = leased_until - ${passed}`);
    await this.sql(`update waybell.parked_owners set seen_at = seen_at - ${passed}`);
  }

  async forget(key: RowKey): Promise<void> {
    await this.sql('update waybell.parked set body = null where subscription = $1 and delivery = $2', [
      key.subscription,
      key.delivery,
    ]);
  }

  async empty(): Promise<this> {
    await this.sql('truncate waybell.parked, waybell.parked_heads, waybell.parked_sums, waybell.parked_owners');
    await this.sql('update waybell.parked_shards set owner = null, leased_until = null');
    return this;
  }

  /** As the owner of the tables. */
  async sql<Row extends object>(text: string, values: unknown[] = []): Promise<Row[]> {
    return (await this.database.postgres.query<Row>(text, values)).rows;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.postgres.end();
    await this.database[Symbol.asyncDispose]();
  }
}

export function memoryStand(): ParkingStand {
  const subscribed = new Map<string, Subscribed>();
  let now = Date.parse('2026-11-20T09:30:00Z');
  const endpointOf = (one: Subscribed) => endpointKey(one).endpoint;
  const store = new MemoryParking({
    now: () => now,
    whose: (subscription) => {
      const one = subscribed.get(subscription);
      return one && { account: one.account, endpoint: endpointOf(one) };
    },
  });
  return {
    store,
    async subscribe({ account = randomUUID(), callbackUrl = aUrl() }: Partial<Subscribed> = {}) {
      const one = { subscription: randomUUID(), account, callbackUrl };
      subscribed.set(one.subscription, one);
      return one;
    },
    async changeUrl({ subscription, account }, callbackUrl) {
      const one = { subscription, account, callbackUrl };
      store.changed({ subscription, account, endpoint: endpointOf(one) });
    },
    async later(ms) {
      now += ms;
    },
    async forget(key) {
      store.forget(key);
    },
    empty: async () => memoryStand(),
    async [Symbol.asyncDispose]() {},
  };
}

/** Each with a store of its own. */
export const STANDS: [string, () => Promise<ParkingStand>][] = [
  ['in Postgres', () => PostgresStand.start(10)],
  ['in memory', async () => memoryStand()],
];

const aUrl = (): string => `https://${randomUUID()}.test/hook`;

/** A row whose guids, unless it is said, are those of `name`. */
export function aRow({ subscription }: Subscribed, name: string, given: Partial<ParkedRow> = {}): ParkedRow {
  return {
    subscription,
    createdAt: 1_000,
    delivery: `${createHash('md5').update(name).digest('hex')} ${name}`,
    attempt: 1,
    hop: 1,
    why: 'full',
    action: 'shipper.insurance.issued',
    note: `note of ${name}`,
    body: Buffer.from(`{"name":"${name}"}`),
    ...given,
  };
}

/** What `aRow` called it. */
export const nameOf = ({ delivery }: RowKey): string => delivery.slice(33);
export const ALL_SHARDS = Array.from({ length: 32 }, (_, shard) => shard);
