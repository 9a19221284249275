import { randomUUID } from 'node:crypto';
import { WAITING_SETTINGS, waitingIn } from '../postgres-waiting-store.ts';
import { MemoryWaiting } from './memory-waiting-store.ts';
import { aDelivery } from '../../testing/a-delivery.ts';
import type { CarriedDelivery, Publication } from '../../messages.ts';
import type { Claim, RowKey, TakenRow, WaitingRow, WaitingStore } from '../waiting-store.ts';
import type pg from 'pg';
import { connectPostgres, type Postgres } from '@waybell/runtime/postgres';
import { createTestDatabase, type TestDatabase } from '@waybell/runtime/testing/database';
import { PATIENT_MS, silentLog } from '@waybell/runtime/testing/patience';

export type KnownRoom = { isDue: boolean; isShut: boolean; changes: number; crashes: number };

/** The rows that wait for one service, and their surroundings: time, subscriptions, erasure requests. */
export type WaitingStand = AsyncDisposable & {
  /** Returns the store of another process. */
  store(): WaitingStore;
  /** Milliseconds since the epoch. */
  now(): Promise<number>;
  later(ms: number): Promise<void>;
  /** Changes a subscription whose endpoint this is. */
  changed(room: string): Promise<void>;
  forget(key: RowKey): Promise<void>;
  room(room: string): Promise<KnownRoom | undefined>;
  count(): Promise<number>;
};

export class PostgresStand implements WaitingStand {
  readonly database: TestDatabase;
  readonly postgres: Postgres;
  readonly #open = new Set<pg.PoolClient>();

  private constructor(database: TestDatabase, poolSize: number) {
    this.database = database;
    this.postgres = this.connect(poolSize, 'waybell_deliverer');
  }

  static async start(poolSize = 8): Promise<PostgresStand> {
    return new PostgresStand(await createTestDatabase(), poolSize);
  }

  connect(poolSize: number, role: string, settings: Record<string, string> = WAITING_SETTINGS): Postgres {
    return connectPostgres({ url: this.database.url, role, poolSize, settings, timeoutMs: PATIENT_MS, log: silentLog });
  }

  store(process = randomUUID()): WaitingStore {
    return waitingIn(this.postgres, { process });
  }

  async now(): Promise<number> {
    const [found] = await this.sql<{ now: number }>('select floor(1000 * extract(epoch from now()))::float8 as now');
    return found?.now ?? NaN;
  }

  async later(ms: number): Promise<void> {
    const passed = `interval '${ms} milliseconds'`;
    await this.sql(`update waybell.deliverer_waiting set due_at = due_at - ${passed} where due_at is not null`);
    await this.sql(
      `update waybell.deliverer_rooms set look_at = look_at - ${passed}, shut_since = shut_since - ${passed}`,
    );
  }

  async changed(room: string): Promise<void> {
    await this.sql(
      `update waybell.deliverer_rooms set changes = changes + 1, look_at = case when claimed_by is null then now() else look_at end
       where room = $1`,
      [room],
    );
  }

  async forget({ room, madeAt, id }: RowKey): Promise<void> {
    await this.sql('update waybell.deliverer_waiting set body = null where (room, made_at, id) = ($1, $2, $3)', [
      room,
      madeAt,
      id,
    ]);
  }

  async room(room: string): Promise<KnownRoom | undefined> {
    const [found] = await this.sql<KnownRoom>(
      `select look_at <= now() as "isDue", shut_since is not null as "isShut", changes, deaths as crashes from waybell.deliverer_rooms
       where room = $1`,
      [room],
    );
    return found;
  }

  async count(): Promise<number> {
    const [found] = await this.sql<{ count: number }>('select count(*)::int as count from waybell.deliverer_waiting');
    return found?.count ?? 0;
  }

  /** Ends transactions that a failed test has left open, too. */
  async empty(): Promise<void> {
    for (const client of this.#open) client.release(true);
    this.#open.clear();
    await this.sql('truncate waybell.deliverer_rooms, waybell.deliverer_waiting, waybell.deliverer_waiting_sums');
  }

  /** Works in a transaction that is open until it is told to commit, as \`process\`. */
  async inOpenTransaction(
    work: (store: WaitingStore, client: pg.PoolClient) => Promise<unknown>,
    process = randomUUID(),
  ): Promise<{ commit(): Promise<void> }> {
    const client = await this.postgres.connect();
    this.#open.add(client);
    await client.query('begin');
    const connect = this.postgres.connect.bind(this.postgres);
    await work(waitingIn({ query: client.query.bind(client), connect }, { process }), client);
    return {
      commit: async () => {
        await client.query('commit');
        if (this.#open.delete(client)) client.release();
      },
    };
  }

  /** Queries as the owner of the tables. */
  async sql<Row extends object>(text: string, values: unknown[] = []): Promise<Row[]> {
    return (await this.database.postgres.query<Row>(text, values)).rows;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.postgres.end();
    await this.database[Symbol.asyncDispose]();
  }
}

export function memoryStand(): WaitingStand {
  let now = Date.parse('2026-11-20T09:30:00Z');
  const waiting = new MemoryWaiting(() => now);
  return {
    store: () => waiting.storeFor(randomUUID()),
    now: async () => now,
    async later(ms) {
      now += ms;
    },
    changed: async (room) => waiting.changed(room),
    forget: async (key) => waiting.forget(key),
    async room(name) {
      const room = waiting.room(name);
      if (room === undefined) return undefined;
      const { lookAt, shutSince, changes, crashes } = room;
      return { isDue: lookAt <= now, isShut: shutSince !== undefined, changes, crashes };
    },
    count: async () => waiting.count,
    async [Symbol.asyncDispose]() {},
  };
}

/** Each with a store of its own. */
export const STANDS: [string, () => Promise<WaitingStand>][] = [
  ['in Postgres', () => PostgresStand.start()],
  ['in memory', async () => memoryStand()],
];

/** A room of an endpoint, of an account of its own. */
export type Place = { room: string; account: string; subscription: string };

export const hex = (guid: string): string => guid.replaceAll('-', '');

export function aPlace(given: Partial<Place> = {}): Place {
  return { room: hex(randomUUID()), account: randomUUID(), subscription: randomUUID(), ...given };
}

/** A row that is told by its name. */
export function aRow(
  { room, account, subscription }: Place,
  name: string,
  given: Partial<WaitingRow> = {},
): WaitingRow {
  return {
    room,
    account,
    subscription,
    madeAt: 1_000,
    id: `${name} 1`,
    why: 'full',
    delivery: weighs(`{"name":"${name}"}`),
    ...given,
  };
}

/** A delivery of which only the body matters. */
export const weighs = (body: string | number): CarriedDelivery =>
  aDelivery({ body: typeof body === 'number' ? Buffer.alloc(body, 'x') : Buffer.from(body) });

export const aPublication = (name: string): Publication => ({
  kind: 'publish',
  exchange: 'waybell.deliveries',
  routingKey: 'shipper.insurance.issued',
  messageId: name,
  body: Buffer.from(`{"name":"${name}"}`),
});

/** Returns the name that `aRow` was given. */
export const nameOf = ({ id }: RowKey): string => id.slice(0, -2);

export const ALL: Claim & { kind: 'endpoints' } = { kind: 'endpoints', open: 1_000, shut: 1_000, exceptAccounts: [] };

/** Takes the first rows of a room that are due. */
export async function takeFrom(store: WaitingStore, room: string, limit = 64): Promise<TakenRow[]> {
  return (await store.take([{ room, limit }]))[0]?.rows ?? [];
}
