import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { Redis } from 'ioredis';
import pg from 'pg';
import { borrowRedis } from '@waybell/runtime/testing/borrow';
import { until } from '@waybell/runtime/testing/until';
import { createTestDatabase, type TestDatabase } from '@waybell/subscription-api/testing/database';
import { inTransaction, postgresStore, receivedTable, recordOnce } from './postgres-store.ts';
import { redisStore } from './redis-store.ts';
import { sendTo } from './signed-request.ts';
import { KEEP_MS } from './store.ts';
import { openStore, type OpenStore, type StoreKind } from './testing/open-store.ts';

const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const LONG_MS = 60_000;

let database: TestDatabase;
let redisUrl: string;
let redis: Redis;
const closing: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  [database, { url: redisUrl }] = await Promise.all([createTestDatabase({ isMigrated: false }), borrowRedis()]);
  redis = new Redis(redisUrl);
  await database.postgres.query(receivedTable);
});
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});
afterAll(async () => {
  await redis?.quit();
  await database?.[Symbol.asyncDispose]();
});

const urlOf = (kind: StoreKind) => (kind === 'postgres' ? database.url : redisUrl);

async function open(kind: StoreKind, times = { leaseMs: LONG_MS, keepMs: LONG_MS }): Promise<OpenStore['store']> {
  const { store, close } = await openStore(kind, urlOf(kind), times);
  closing.push(close);
  return store;
}

/** Sets how long what is known of an id still lasts, as time that passes would. */
async function setLeftMs(kind: StoreKind, id: string, leftMs: number): Promise<void> {
  if (kind !== 'postgres') await redis.pexpire(`waybell:received:${id}`, leftMs);
  else
    await database.postgres.query(
      `update waybell_received set expires_at = clock_timestamp() + $2 * interval '1 ms' where id = $1`,
      [id, leftMs],
    );
}

async function readLeftMs(kind: StoreKind, id: string): Promise<number> {
  if (kind !== 'postgres') return redis.pttl(`waybell:received:${id}`);
  const { rows } = await database.postgres.query(
    'select extract(epoch from expires_at - clock_timestamp()) * 1000 as left from waybell_received where id = $1',
    [id],
  );
  return Number(rows[0]?.left);
}

async function startProcess(kind: StoreKind, how: 'stalls' | 'works') {
  const script = join(import.meta.dirname, 'testing/receiver-process.ts');
  const child = spawn(process.execPath, [script, kind, urlOf(kind), secret, how], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines: string[] = [];
  createInterface(child.stdout).on('line', (line) => void lines.push(line));
  const exited = once(child, 'exit');
  const kill = async () => {
    child.kill('SIGKILL');
    await exited;
  };
  closing.push(kill);
  const url = await until('it listens', () => lines[0]);
  return { url, kill, begun: () => lines.slice(1) };
}

const send = (url: string, id: string) =>
  sendTo(url, { interface: 'carrier', action: 'order.created', secret, id }).then(
    async (answer) => `${answer.status} ${((await answer.json()) as { status: string }).status}`,
    () => 'broken off',
  );

describe.each(['ioredis', 'node-redis', 'postgres'] as const)('of processes that share a store (%s)', (kind) => {
  test('one handles a notification, whichever get copies of it at once', async () => {
    const processes = await Promise.all(['works', 'works'].map(() => startProcess(kind, 'works')));
    const ids = Array.from({ length: 50 }, (_each, index) => `${kind}-copies-${index}`);
    const answers = await Promise.all(
      ids.flatMap((id) => [...processes, ...processes].map(({ url }) => send(url, id))),
    );
    expect(processes.flatMap(({ begun }) => begun()).toSorted()).toEqual(ids.toSorted());
    expect(answers.filter((each) => each === '200 handled')).toHaveLength(ids.length);
    expect(answers.filter((each) => !['200 handled', '200 repeated', '503 in_progress'].includes(each))).toEqual([]);
  });

  test('another handles what one began that died, once its lease is over and not before', async () => {
    const id = `${kind}-killed`;
    const [dying, other] = await Promise.all([startProcess(kind, 'stalls'), startProcess(kind, 'works')]);
    const answered = send(dying.url, id);
    await until('it has begun', () => dying.begun().length > 0);
    expect(await send(other.url, id)).toBe('503 in_progress');
    await dying.kill();
    expect(await answered).toBe('broken off');
    expect(await send(other.url, id)).toBe('503 in_progress');
    await setLeftMs(kind, id, 1);
    await until('it is handled', async () => (await send(other.url, id)) === '200 handled');
    expect(await send(other.url, id)).toBe('200 repeated');
    expect(other.begun()).toEqual([id]);
  });
});

describe.each(['ioredis', 'node-redis', 'postgres'] as const)('a store of %s', (kind) => {
  const begin = async (id: string) => {
    const store = await open(kind);
    const begun = await store.begin(id);
    if (begun.kind !== 'new') throw new Error(begun.kind);
    return { store, lease: begun.lease };
  };

  test('begins anew what failed', async () => {
    const { store, lease } = await begin(`${kind}-failed`);
    expect(await store.begin(`${kind}-failed`)).toEqual({ kind: 'in_progress' });
    await store.fail(`${kind}-failed`, lease);
    expect(await store.begin(`${kind}-failed`)).toMatchObject({ kind: 'new' });
  });

  test('lets a lease last while it is renewed', async () => {
    const id = `${kind}-renewed`;
    const { store, lease } = await begin(id);
    await setLeftMs(kind, id, LONG_MS / 2);
    await store.renew(id, lease);
    expect(await readLeftMs(kind, id)).toBeGreaterThan(LONG_MS / 2);
  });

  test.each(['renew', 'finish', 'fail'] as const)('lets whoever has lost the lease do nothing: %s', async (what) => {
    const id = `${kind}-lost-${what}`;
    const { store, lease } = await begin(id);
    await setLeftMs(kind, id, 1);
    await until('the lease is over', async () => (await store.begin(id)).kind === 'new');
    const said = await store[what](id, lease).then(
      () => 'nothing',
      (error: Error) => error.message,
    );
    expect(said).toMatch(what === 'finish' ? /somebody else began it/ : /^nothing$/);
    expect(await store.begin(id)).toEqual({ kind: 'in_progress' });
  });

  test('records what ended after its lease was over, where nobody else began it', async () => {
    const id = `${kind}-late`;
    const { store, lease } = await begin(id);
    await setLeftMs(kind, id, 1);
    await until('the lease is over', async () => !((await readLeftMs(kind, id)) > 0));
    await store.finish(id, lease);
    expect(await store.begin(id)).toEqual({ kind: 'done' });
  });

  test('is content where it was recorded before', async () => {
    const id = `${kind}-twice`;
    const { store, lease } = await begin(id);
    await store.finish(id, lease);
    await store.finish(id, lease);
    expect(await store.begin(id)).toEqual({ kind: 'done' });
  });

  test('forgets what it has kept long enough', async () => {
    const id = `${kind}-kept`;
    const { store, lease } = await begin(id);
    await store.finish(id, lease);
    expect(await store.begin(id)).toEqual({ kind: 'done' });
    await setLeftMs(kind, id, 1);
    await until('it is forgotten', async () => (await store.begin(id)).kind === 'new');
  });
});

describe('redisStore', () => {
  test('throws where the command resolves with no reply, which would have all handled twice', async () => {
    const store = redisStore({ command: async () => undefined });
    await expect(store.begin('an-id')).rejects.toThrow('must resolve with the reply of Redis');
  });
});

test.each([NaN, Infinity, 0, -1, '5' as never])('stores cannot be had with %p for milliseconds', (timeMs) => {
  const command = async () => 'OK';
  for (const times of [{ leaseMs: timeMs }, { keepMs: timeMs }])
    for (const make of [() => redisStore({ command, ...times }), () => postgresStore(database.postgres, times)])
      expect(make).toThrow(/"(lease|keep)Ms" must be a number above 0/);
});

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
    const { store, close } = await openStore('postgres', database.url);
    closing.push(close);
    const late = await store.begin('over-late');
    await setLeftMs('postgres', 'over-late', 0);
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
    expect(await readLeftMs('postgres', 'over-kept')).toBeGreaterThan(1.5 * KEEP_MS);
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

/** A pool of its own, for a test that counts or breaks connections. */
class AsyncPool extends pg.Pool {
  constructor(connectionString: string, max = 10) {
    super({ connectionString, max });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.end();
  }
}

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
    await setLeftMs('postgres', 'tx-d', 0);
    await inTransaction(pool, 'tx-d', async () => {
      await store.renew('tx-d', lease);
      expect(await store.begin('tx-d')).toEqual({ kind: 'in_progress' });
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
