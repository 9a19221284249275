import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { Redis } from 'ioredis';
import { borrowRedis } from '@waybell/runtime/testing/borrow';
import { until } from '@waybell/runtime/testing/until';
import { createTestDatabase, type TestDatabase } from '@waybell/subscription-api/testing/database';
import { postgresStore, receivedTable } from './postgres-store.ts';
import { redisStore } from './redis-store.ts';
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

  test('starts over what failed', async () => {
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

  test.each(['renew', 'finish', 'fail'] as const)(
    'does nothing for a process that has lost the lease: %s',
    async (what) => {
      const id = `${kind}-lost-${what}`;
      const { store, lease } = await begin(id);
      await setLeftMs(kind, id, 1);
      await until('the lease is over', async () => (await store.begin(id)).kind === 'new');
      const said = await store[what](id, lease).then(
        () => 'nothing',
        (error: Error) => error.message,
      );
      expect(said).toMatch(what === 'finish' ? /another process began it/ : /^nothing$/);
      expect(await store.begin(id)).toEqual({ kind: 'in_progress' });
    },
  );

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
