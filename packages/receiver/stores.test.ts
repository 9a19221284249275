import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { Redis } from 'ioredis';
import type pg from 'pg';
import { borrowRedis } from '@waybell/runtime/testing/borrow';
import { until } from '@waybell/runtime/testing/until';
import { createTestDatabase, type TestDatabase } from '@waybell/subscription-api/testing/database';
import { inTransaction, postgresStore, receivedTable, recordOnce } from './postgres-store.ts';
import { sendTo } from './signed-request.ts';
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
    await store[what](id, lease);
    expect(await store.begin(id)).toEqual({ kind: 'in_progress' });
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

describe('the table of Postgres', () => {
  test('is rid of what is over', async () => {
    const store = postgresStore(database.postgres, { keepMs: 0 });
    for (const id of ['over-1', 'over-2'])
      await database.postgres.query(`insert into waybell_received values ($1, null, now())`, [id]);
    const begun = await store.begin('over-3');
    await store.finish('over-3', begun.kind === 'new' ? begun.lease : '');
    const { rows } = await database.postgres.query(`select id from waybell_received where id like 'over-%'`);
    expect(rows).toEqual([]);
  });

  test('may be made again where it is', async () => {
    await expect(database.postgres.query(receivedTable)).resolves.toBeDefined();
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

  test('goes together with a store on the same table: what it records is done, whatever becomes of the lease', async () => {
    const store = postgresStore(database.postgres);
    const begun = await store.begin('tx-c');
    expect(await recordOnce(database.postgres, 'tx-c')).toBe(true);
    await store.fail('tx-c', begun.kind === 'new' ? begun.lease : '');
    expect(await store.begin('tx-c')).toEqual({ kind: 'done' });
    expect(await recordOnce(database.postgres, 'tx-c')).toBe(false);
  });
});
