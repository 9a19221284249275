import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import pg from 'pg';
import { createTestDatabase, type TestDatabase } from '@waybell/subscription-api/testing/database';
import { inTransaction, postgresStore, receivedTable, recordOnce } from './postgres-store.ts';
import { KEEP_MS } from './store.ts';

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase({ isMigrated: false });
  await database.postgres.query(receivedTable);
});
afterAll(async () => database?.[Symbol.asyncDispose]());

/** A pool of its own, for a test that counts or breaks connections. */
class AsyncPool extends pg.Pool {
  constructor(connectionString: string, max = 10) {
    super({ connectionString, max });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.end();
  }
}

/** Ends what is known of an id, as time that passes would. */
async function end(id: string): Promise<void> {
  await database.postgres.query('update waybell_received set expires_at = clock_timestamp() where id = $1', [id]);
}

describe('the table of Postgres', () => {
  const insertOver = async (...ids: string[]) => {
    for (const id of ids)
      await database.postgres.query(`insert into waybell_received values ($1, gen_random_uuid(), now())`, [id]);
  };
  const over = async () => {
    const { rows } = await database.postgres.query(
      `select id from waybell_received where id like 'over-%' order by id`,
    );
    return rows.map(({ id }) => id);
  };

  test('is rid of what is over, and what ends after that is recorded', async () => {
    await using pool = new AsyncPool(database.url);
    const store = postgresStore(pool);
    const late = await store.begin('over-late');
    await end('over-late');
    await insertOver('over-1', 'over-2');
    const begun = await store.begin('over-3');
    await store.finish('over-3', begun.kind === 'new' ? begun.lease : '');
    expect(await over()).toEqual(['over-3']);
    await store.finish('over-late', late.kind === 'new' ? late.lease : '');
    expect(await store.begin('over-late')).toEqual({ kind: 'done' });
  });

  test('is rid of it by inTransaction as well, which keeps what was handled as long as it is told', async () => {
    await using pool = new AsyncPool(database.url);
    await insertOver('over-4');
    await inTransaction(pool, 'over-kept', async () => undefined, { keepMs: 2 * KEEP_MS });
    expect(await over()).not.toContain('over-4');
    const { rows } = await database.postgres.query(
      'select extract(epoch from expires_at - clock_timestamp()) * 1000 as left from waybell_received where id = $1',
      ['over-kept'],
    );
    expect(Number(rows[0]?.left)).toBeGreaterThan(1.5 * KEEP_MS);
  });

  test('may be made again where it is, and by several at once where it is not', async () => {
    await expect(database.postgres.query(receivedTable)).resolves.toBeDefined();
    await using pool = new AsyncPool(database.url);
    const clients = await Promise.all(Array.from({ length: 8 }, () => pool.connect()));
    try {
      for (let round = 0; round < 5; round += 1) {
        await database.postgres.query(`drop schema if exists fresh cascade; create schema fresh`);
        for (const client of clients) await client.query('set search_path to fresh');
        await Promise.all(clients.map((client) => client.query(receivedTable)));
      }
    } finally {
      for (const client of clients) client.release(true);
    }
  });
});

describe('inTransaction', () => {
  const done = async () =>
    (await database.postgres.query('select id from work_done order by id')).rows.map(({ id }) => id);
  beforeAll(() => database.postgres.query('create table work_done (id text)'));
  const work = (id: string) => (client: { query(text: string, values: unknown[]): Promise<unknown> }) =>
    client.query('insert into work_done values ($1)', [id]);

  test('does the work and records it, both or neither, and once', async () => {
    const failing = inTransaction(database.postgres, 'tx-a', async (client: pg.PoolClient) => {
      await work('tx-a')(client);
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
    expect(await done()).toEqual([]);
    const copies = await Promise.all(
      Array.from({ length: 4 }, () => inTransaction(database.postgres, 'tx-a', work('tx-a'))),
    );
    expect(copies.filter(Boolean)).toHaveLength(1);
    expect(await done()).toEqual(['tx-a']);
  });

  test('leaves nothing of a connection that is lost in the middle, and another does it', async () => {
    const broken = inTransaction(database.postgres, 'tx-b', async (client) => {
      await work('tx-b')(client);
      await client.query('select pg_terminate_backend(pg_backend_pid())');
    });
    await expect(broken).rejects.toThrow(/terminat/);
    expect(await inTransaction(database.postgres, 'tx-b', work('tx-b'))).toBe(true);
    expect(await done()).toEqual(['tx-a', 'tx-b']);
  });

  test('rejects where Postgres had aborted the transaction and the work did not say so, and another does it', async () => {
    const swallowing = inTransaction(database.postgres, 'tx-e', async (client) => {
      await work('tx-e')(client);
      await client.query('select 1 / 0').catch(() => undefined);
    });
    await expect(swallowing).rejects.toThrow('savepoint');
    expect(await done()).not.toContain('tx-e');
    expect(await inTransaction(database.postgres, 'tx-e', work('tx-e'))).toBe(true);
    expect(await done()).toContain('tx-e');
  });

  test('leaves a store on the same pool its connections, though its row is locked and its lease over', async () => {
    await using pool = new AsyncPool(database.url, 2);
    const store = postgresStore(pool);
    const begun = await store.begin('tx-d');
    const lease = begun.kind === 'new' ? begun.lease : '';
    await end('tx-d');
    await inTransaction(pool, 'tx-d', async () => {
      await store.renew('tx-d', lease);
      expect(await store.begin('tx-d')).toEqual({ kind: 'in_progress' });
      // Deletes what is over, and passes over what is locked.
      const other = await store.begin('tx-f');
      await store.finish('tx-f', other.kind === 'new' ? other.lease : '');
    });
    await store.finish('tx-d', lease);
    expect(await store.begin('tx-d')).toEqual({ kind: 'done' });
  });

  test('goes together with a store on the same table: what it records is done, whatever becomes of the lease', async () => {
    const store = postgresStore(database.postgres);
    const begun = await store.begin('tx-c');
    expect(await recordOnce(database.postgres, 'tx-c')).toBe(true);
    await store.fail('tx-c', begun.kind === 'new' ? begun.lease : '');
    expect(await store.begin('tx-c')).toEqual({ kind: 'done' });
    expect(await recordOnce(database.postgres, 'tx-c')).toBe(false);
  });
});
