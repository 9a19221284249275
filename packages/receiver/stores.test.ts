import { spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Redis } from 'ioredis';
import pg from 'pg';
import { borrowRedis } from '@waybell/runtime/testing/borrow';
import { until } from '@waybell/runtime/testing/until';
import { createTestDatabase, type TestDatabase } from '@waybell/runtime/testing/database';
import { memoryStore, KEEP_MS, type Store } from './store.ts';
import { inTransaction, postgresStore, receivedTable, recordOnce } from './postgres.ts';
import { redisStore } from './redis.ts';
import { sendTo } from './testing.ts';
import { kinds, openStore, type StoreKind } from './testing/open-store.ts';

const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const times = { leaseMs: 60_000, keepMs: 600_000 };

let database: TestDatabase;
let redisUrl: string;
let redis: Redis;
let stores: Record<StoreKind, Store>;
const closing = new AsyncDisposableStack();

beforeAll(async () => {
  [database, { url: redisUrl }] = await Promise.all([createTestDatabase({ isMigrated: false }), borrowRedis()]);
  closing.use(database);
  redis = new Redis(redisUrl);
  closing.defer(async () => void (await redis.quit()));
  await database.postgres.query(receivedTable);
  const opened = await Promise.all(
    kinds.map(async (kind) => {
      const { store, close } = await openStore(kind, urlOf(kind), times);
      closing.defer(async () => void (await close()));
      return [kind, store] as const;
    }),
  );
  // They are of all kinds.
  stores = Object.fromEntries(opened) as Record<StoreKind, Store>;
});
afterAll(() => closing.disposeAsync());

const urlOf = (kind: StoreKind) => (kind === 'postgres' ? database.url : redisUrl);

async function begin(store: Store, id: string): Promise<string> {
  const begun = await store.begin(id);
  return begun.kind === 'new' ? begun.lease : begun.kind;
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

/** Whether what is known of an id lasts longer than a lease. */
const isKept = async (kind: StoreKind, id: string) => (await readLeftMs(kind, id)) > times.leaseMs;

async function startProcess(how: 'stalls' | 'works') {
  const script = join(import.meta.dirname, 'testing/receiver-process.ts');
  const child = spawn(process.execPath, [script, redisUrl, database.url, secret, how], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines: string[] = [];
  createInterface(child.stdout).on('line', (line) => void lines.push(line));
  const exited = once(child, 'exit');
  const kill = async () => {
    child.kill('SIGKILL');
    await exited;
  };
  closing.defer(kill);
  const url = await until('it listens', () => lines[0]);
  const send = (kind: StoreKind, id: string) =>
    sendTo(`${url}/${kind}`, { interface: 'carrier', action: 'order.created', secret, id }).then(
      async (answer) => `${answer.status} ${((await answer.json()) as { status: string }).status}`,
      () => 'broken off',
    );
  return { send, kill, begun: () => lines.slice(1) };
}

describe('of processes that share a store', () => {
  let [dying, other]: Awaited<ReturnType<typeof startProcess>>[] = [];
  beforeAll(async () => {
    [dying, other] = await Promise.all((['stalls', 'works'] as const).map(startProcess));
  });
  const both = () => {
    if (dying === undefined || other === undefined) throw new Error('they do not run');
    return { dying, other };
  };

  test.each(kinds)('one handles a notification, whichever get copies of it at once: %s', async (kind) => {
    const processes = Object.values(both());
    const ids = Array.from({ length: 25 }, (_each, index) => `${kind}-copies-${index}`);
    const answers = await Promise.all(
      ids.flatMap((id) => [...processes, ...processes].map(({ send }) => send(kind, id))),
    );
    const begun = processes.flatMap((each) => each.begun()).filter((id) => id.startsWith(kind));
    expect(begun.toSorted()).toEqual(ids.toSorted());
    expect(answers.filter((each) => each === '200 handled')).toHaveLength(ids.length);
    expect(answers.filter((each) => !['200 handled', '200 repeated', '503 in_progress'].includes(each))).toEqual([]);
  });

  // The last, as one of them is killed.
  test('another handles what one began that died, once its lease is over and not before', async () => {
    const { dying: first, other: second } = both();
    const idOf = (kind: StoreKind) => `${kind}-stalls`;
    const answered = kinds.map((kind) => first.send(kind, idOf(kind)));
    const all = (answer: string) => kinds.map(() => answer);
    const sent = () => Promise.all(kinds.map((kind) => second.send(kind, idOf(kind))));
    await until('all have begun', () => kinds.every((kind) => first.begun().includes(idOf(kind))));
    expect(await sent()).toEqual(all('503 in_progress'));
    await first.kill();
    expect(await Promise.all(answered)).toEqual(all('broken off'));
    expect(await sent()).toEqual(all('503 in_progress'));
    for (const kind of kinds) {
      await setLeftMs(kind, idOf(kind), 1);
      await until('it is handled', async () => (await second.send(kind, idOf(kind))) === '200 handled');
    }
    expect(await sent()).toEqual(all('200 repeated'));
    expect(second.begun().filter((id) => id.endsWith('stalls'))).toEqual(kinds.map(idOf));
  });
});

describe.each(kinds)('a store of %s', (kind) => {
  test('starts over what failed', async () => {
    const { [kind]: store } = stores;
    const lease = await begin(store, `${kind}-failed`);
    expect(await store.begin(`${kind}-failed`)).toEqual({ kind: 'in_progress' });
    await store.fail(`${kind}-failed`, lease);
    expect(await store.begin(`${kind}-failed`)).toMatchObject({ kind: 'new' });
  });

  test('has a lease last while it is renewed', async () => {
    const { [kind]: store } = stores;
    const id = `${kind}-renewed`;
    const lease = await begin(store, id);
    await setLeftMs(kind, id, times.leaseMs / 2);
    await store.renew(id, lease);
    expect(await readLeftMs(kind, id)).toBeGreaterThan(times.leaseMs / 2);
  });

  test('remembers what was handled for longer than a lease lasts', async () => {
    const { [kind]: store } = stores;
    const id = `${kind}-remembered`;
    const lease = await begin(store, id);
    expect(await isKept(kind, id)).toBe(false);
    await store.renew(id, lease);
    expect(await isKept(kind, id)).toBe(false);
    await store.finish(id, lease);
    expect(await isKept(kind, id)).toBe(true);
  });

  test.each(['renew', 'finish', 'fail'] as const)(
    'does nothing for a process that has lost the lease: %s',
    async (what) => {
      const { [kind]: store } = stores;
      const id = `${kind}-lost-${what}`;
      const lease = await begin(store, id);
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
    const { [kind]: store } = stores;
    const id = `${kind}-late`;
    const lease = await begin(store, id);
    await setLeftMs(kind, id, 1);
    await until('the lease is over', async () => !((await readLeftMs(kind, id)) > 0));
    await store.finish(id, lease);
    expect(await store.begin(id)).toEqual({ kind: 'done' });
  });

  test('is content where it was recorded before', async () => {
    const { [kind]: store } = stores;
    const id = `${kind}-twice`;
    const lease = await begin(store, id);
    await store.finish(id, lease);
    await store.finish(id, lease);
    expect(await store.begin(id)).toEqual({ kind: 'done' });
  });

  test('forgets what it has kept long enough', async () => {
    const { [kind]: store } = stores;
    const id = `${kind}-kept`;
    await store.finish(id, await begin(store, id));
    expect(await store.begin(id)).toEqual({ kind: 'done' });
    await setLeftMs(kind, id, 1);
    await until('it is forgotten', async () => (await store.begin(id)).kind === 'new');
  });
});

test('redisStore throws where the command resolves with no reply, which would have all handled twice', async () => {
  const store = redisStore({ command: async () => undefined });
  await expect(store.begin('an-id')).rejects.toThrow('must resolve with the reply of Redis');
});

describe('unless it is told other times', () => {
  const said: unknown[] = [];
  const command = async (words: string[]) => {
    // It is after PX where a key is set, and the last of a script.
    said.push(Number(words.at(-1)));
    return 'OK';
  };
  const query = async (_text: string, values: unknown[] = []) => {
    said.push(values.at(-1));
    return { rows: [{ isNew: true }] };
  };
  const WEEK_MS = 7 * 24 * 3_600_000;

  test.each<[string, () => Store]>([
    ['Redis', () => redisStore({ command })],
    ['Postgres', () => postgresStore({ query })],
  ])('a store of %s has a lease last 5 s, and remembers for a week', async (_name, make) => {
    said.splice(0);
    const store = make();
    await begin(store, 'an-id');
    await store.renew('an-id', 'a-lease');
    await store.finish('an-id', 'a-lease');
    expect([store.leaseMs, ...said.slice(0, 3)]).toEqual([5_000, 5_000, 5_000, WEEK_MS]);
  });

  test('a store of Redis has parts of a millisecond last a whole one: Redis takes no others', async () => {
    said.splice(0);
    const store = redisStore({ command, leaseMs: 0.4, keepMs: 1.4 });
    await begin(store, 'an-id');
    await store.finish('an-id', 'a-lease');
    expect(said).toEqual([1, 2]);
  });

  test('recordOnce remembers for a week', async () => {
    said.splice(0);
    await recordOnce({ query }, 'an-id');
    expect(said).toEqual([WEEK_MS]);
  });

  test('memoryStore has a lease last a minute, and remembers for a week', async () => {
    const clock = { now: 0 };
    const store = memoryStore({ now: () => clock.now });
    await store.finish('handled', await begin(store, 'handled'));
    await begin(store, 'begun');
    const kindsAt = async (now: number) => {
      clock.now = now;
      return [(await store.begin('begun')).kind, (await store.begin('handled')).kind];
    };
    expect(await kindsAt(59_999)).toEqual(['in_progress', 'done']);
    expect(await kindsAt(60_000)).toEqual(['new', 'done']);
    expect(await kindsAt(WEEK_MS)).toEqual(['new', 'done']);
    expect(await kindsAt(WEEK_MS + 1)).toEqual(['in_progress', 'new']);
  });
});

test.each([NaN, Infinity, 0, -1, '5' as never])('stores cannot be had with %p for milliseconds', (timeMs) => {
  const command = async () => 'OK';
  for (const given of [{ leaseMs: timeMs }, { keepMs: timeMs }])
    for (const make of [() => redisStore({ command, ...given }), () => postgresStore(database.postgres, given)])
      expect(make).toThrow(/"(lease|keep)Ms" must be a number above 0/);
});

describe('memoryStore', () => {
  const aStore = (what = {}) => {
    const clock = { now: 0 };
    return { clock, store: memoryStore({ leaseMs: 5, keepMs: 10, now: () => clock.now, ...what }) };
  };
  test('forgets the oldest beyond its limit, and what is older than it keeps', async () => {
    const { clock, store } = aStore({ limit: 2 });
    for (const id of ['a', 'b', 'c']) await store.finish(id, await begin(store, id));
    expect(await store.begin('b')).toEqual({ kind: 'done' });
    expect(await store.begin('a')).toMatchObject({ kind: 'new' });
    clock.now = 11;
    expect(await store.begin('c')).toMatchObject({ kind: 'new' });
  });

  test('ends a lease that is not renewed, and takes nothing from its last owner', async () => {
    const { clock, store } = aStore();
    const lost = await begin(store, 'a');
    clock.now = 4;
    await store.renew('a', lost);
    clock.now = 8;
    expect(await begin(store, 'a')).toBe('in_progress');
    clock.now = 9;
    const lease = await begin(store, 'a');
    await expect(store.finish('a', lost)).rejects.toThrow('another process began it');
    for (const what of ['renew', 'fail'] as const) await store[what]('a', lost);
    expect(await begin(store, 'a')).toBe('in_progress');
    await store.finish('a', lease);
    expect(await begin(store, 'a')).toBe('done');
  });

  test('records what ended after its lease was over, where nobody else began it', async () => {
    const { clock, store } = aStore();
    const lease = await begin(store, 'a');
    clock.now = 6;
    await store.finish('a', lease);
    expect(await begin(store, 'a')).toBe('done');
  });

  test('counts leases, and forgets those that are over', async () => {
    const { clock, store } = aStore({ limit: 2 });
    for (const id of ['a', 'b']) await store.finish(id, await begin(store, id));
    for (const id of ['c', 'd']) await begin(store, id);
    expect(await store.begin('b')).toMatchObject({ kind: 'new' });
    clock.now = 6;
    await store.finish('e', await begin(store, 'e'));
    expect(await store.begin('e')).toEqual({ kind: 'done' });
  });

  test.each([{ limit: NaN }, { keepMs: 0 }, { leaseMs: Infinity }])('is not to be had with %o', (what) => {
    expect(() => aStore(what)).toThrow('must be a number above 0');
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

describe('the table of Postgres', () => {
  const insertOver = async (...ids: string[]) => {
    await database.postgres.query(`insert into waybell_received select unnest($1::text[]), gen_random_uuid(), now()`, [
      ids,
    ]);
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
    const late = await begin(store, 'over-late');
    await setLeftMs('postgres', 'over-late', 0);
    await insertOver('over-1', 'over-2');
    const lease = await begin(store, 'over-3');
    await store.finish('over-3', lease);
    expect(await over()).toEqual(['over-3']);
    await store.finish('over-late', late);
    expect(await store.begin('over-late')).toEqual({ kind: 'done' });
  });

  test('is rid of it by inTransaction as well, which keeps what was handled as long as it is told', async () => {
    await using pool = new AsyncPool(database.url);
    await insertOver('over-4');
    await inTransaction(pool, 'over-kept', async () => undefined, { keepMs: 2 * KEEP_MS });
    expect(await over()).not.toContain('over-4');
    expect(await readLeftMs('postgres', 'over-kept')).toBeGreaterThan(1.5 * KEEP_MS);
  });

  test('is rid of it at intervals, and at once of what is more than a statement deletes', async () => {
    await using pool = new AsyncPool(database.url, 1);
    const store = postgresStore(pool);
    const finish = (id: string) => store.finish(id, 'a1a1a1a1-a1a1-4a1a-8a1a-a1a1a1a1a1a1');
    await insertOver(...Array.from({ length: 1_001 }, (_, place) => `over-many-${place}`));
    for (const id of ['first', 'second']) await finish(id);
    expect((await over()).filter((id) => id.startsWith('over-many'))).toEqual([]);
    await insertOver('over-many-more');
    await finish('third');
    expect(await over()).toContain('over-many-more');
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

  test('gives a client back as it was, and as broken where it cannot even roll back', async () => {
    const released: unknown[] = [];
    const release = (isBroken?: boolean) => void released.push(isBroken);
    const query = async () => ({ rows: [], command: 'COMMIT' });
    const client = Object.assign(new EventEmitter(), { query, release });
    const pool = { connect: async () => client };
    expect(await inTransaction(pool, 'tx-f', async () => undefined)).toBe(false);
    client.query = () => Promise.reject(new Error('lost'));
    await expect(inTransaction(pool, 'tx-f', async () => undefined)).rejects.toThrow('lost');
    expect([released, client.listenerCount('error')]).toEqual([[false, true], 0]);
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
    const lease = await begin(store, 'tx-d');
    await setLeftMs('postgres', 'tx-d', 0);
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
    const lease = await begin(store, 'tx-c');
    expect(await recordOnce(database.postgres, 'tx-c')).toBe(true);
    await store.fail('tx-c', lease);
    expect(await store.begin('tx-c')).toEqual({ kind: 'done' });
    expect(await recordOnce(database.postgres, 'tx-c')).toBe(false);
  });
});
