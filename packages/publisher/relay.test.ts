import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { until } from '@waybell/runtime/testing/until';
import { shared } from '@waybell/runtime/testing/shared';
import pg from 'pg';
import { outboxEvent, readOutboxFigures } from './outbox.ts';
import { outboxMigration } from './outbox-migration.ts';
import { createPublisher, type Publisher } from './publisher.ts';
import { relayBatch, type RelayBatch } from './relay-batch.ts';
import { createRelay, OutboxRelay, SkippedKeys, type Relay, type RelayOptions } from './relay.ts';
import { anEvent } from './testing/an-event.ts';
import { put, startOutboxStand } from './testing/outbox-stand.ts';
import { overheard } from './testing/overheard.ts';

const stand = shared(() => startOutboxStand());
let publisher: Publisher;
const relays: Relay[] = [];

beforeEach(async () => {
  await stand.broker.take(stand.queue);
  publisher = createPublisher({ url: stand.broker.detour.url, heartbeatSeconds: 600, confirmTimeoutMs: 600_000 });
});
afterEach(async () => {
  stand.broker.detour.flow();
  await Promise.all(relays.splice(0).map((relay) => relay.close()));
  await publisher.close({ withinMs: 0 });
  await stand.postgres.query('truncate waybell_outbox');
});
const aRelay = (options: Partial<RelayOptions> = {}) => {
  const relay = createRelay({ pool: stand.postgres, publisher, ...options });
  relays.push(relay);
  return relay;
};
/** Relays one event, by a connection that waits for no lock. `send`: what becomes of it. */
async function relayOne(send: Publisher['send']): Promise<RelayBatch> {
  const postgres = await stand.postgres.connect();
  try {
    await postgres.query("set lock_timeout = '1ms'");
    const of = { table: 'waybell_outbox', most: 1, skippedKeys: [], confirmLimitMs: 60_000 };
    return await relayBatch({ postgres, publisher: { send }, ...of });
  } finally {
    postgres.release(true);
  }
}

const published = (count: number) => stand.broker.takeBodies(stand.queue, count);
const untilEmpty = () =>
  until('the outbox is empty', async () => (await readOutboxFigures(stand.postgres)).waiting === 0);
/** Whether a relay sleeps: it then holds a lock that everybody may see. */
const isAsleep = async () => {
  const held = `select 1 from pg_locks where locktype = 'advisory' and mode = 'ExclusiveLock' and granted
    and database = (select oid from pg_database where datname = current_database())`;
  return (await stand.postgres.query(held)).rows.length > 0;
};

async function inTransaction(
  end: 'commit' | 'rollback',
  work: (client: pg.PoolClient) => Promise<void>,
): Promise<void> {
  const client = await stand.postgres.connect();
  await client.query('begin');
  await work(client);
  await client.query(end);
  client.release();
}

/** How many notifications come while something is done. */
async function notifications(work: () => Promise<unknown>): Promise<number> {
  const listener = new pg.Client({ connectionString: stand.url });
  let heard = 0;
  await listener.connect();
  listener.on('notification', ({ payload }) => (heard += payload === '' ? 1 : 0));
  await listener.query('listen waybell_outbox');
  await work();
  // A notification that was committed before arrives before the answer.
  await listener.query('select 1');
  await listener.end();
  return heard;
}

describe('the migration', () => {
  test('may be run again, and by several at once, and leaves what is in the outbox', async () => {
    await put(stand.postgres);
    await Promise.all([1, 2, 3].map(() => stand.postgres.query(outboxMigration)));
    expect(await readOutboxFigures(stand.postgres)).toMatchObject({ waiting: 1 });
  });
});

describe('waybell_publish', () => {
  const publish = (text: string) => stand.postgres.query('select waybell_publish($1) as guid', [text]);

  test('takes an event as text from anybody, and answers with its guid', async () => {
    const { guid, values } = outboxEvent(anEvent(12345678901234567890n));
    expect((await publish(values[0])).rows).toEqual([{ guid }]);
    aRelay();
    expect(await published(1)).toEqual([values[0]]);
  });

  test.each([
    ['what is no JSON', '{', /invalid input syntax for type json/],
    ['what is no event', '[1]', /lacks guid, interface, action$/],
    ['what has no guid', '{"interface":"carrier","action":"order.created"}', /lacks guid$/],
    ['a guid that is none', '{"guid":"4711","interface":"carrier","action":"order.created"}', /guid_is_a_uuid/],
    ['what names no action', '{"guid":"6f1e2ab4-0f0c-4c1c-9a3c-0d6d0f6f3a51","interface":"carrier"}', /lacks action$/],
    [
      'what is too large',
      `{"guid":"6f1e2ab4-0f0c-4c1c-9a3c-0d6d0f6f3a51","interface":"carrier","action":"a","payload":"${'x'.repeat(2 ** 20)}"}`,
      /at_most_1_mib/,
    ],
  ])('refuses %s', async (_what, text, error) => {
    await expect(publish(text)).rejects.toThrow(error);
  });

  test('notifies where a relay sleeps, and nobody else pays for it', async () => {
    expect(await notifications(() => put(stand.postgres))).toBe(0);
    aRelay();
    await published(1);
    await until('the relay sleeps', isAsleep);
    expect(await notifications(() => put(stand.postgres))).toBe(1);
    await published(1);
  });
});

describe('createRelay', () => {
  test('publishes what was committed, as it was written, and removes it', async () => {
    aRelay();
    const written: string[] = [];
    await inTransaction('commit', async (client) => {
      for (let id = 0; id < 10; id += 1) written.push(await put(client, id));
    });
    expect(await published(10)).toEqual(written);
    await untilEmpty();
  });

  test('publishes nothing of what was rolled back', async () => {
    aRelay();
    await inTransaction('rollback', async (client) => void (await put(client, 1)));
    const kept = await put(stand.postgres, 2);
    expect(await published(1)).toEqual([kept]);
  });

  test('does not fall asleep while a transaction is open that would not notify', async () => {
    const { pool, statements } = overheard(stand.postgres);
    await inTransaction('commit', async (client) => {
      await put(client);
      aRelay({ pool });
      const tries = () => statements.filter((text) => text.includes('pg_try_advisory_lock')).length;
      await until('it has tried to', () => tries() > 1);
      expect(await isAsleep()).toBe(false);
    });
    await published(1);
    await until('the relay sleeps', isAsleep);
  });

  test('waits for no other, and takes none of what another has in hand', async () => {
    await put(stand.postgres, 1);
    await put(stand.postgres, 2);
    const inHand: string[] = [];
    const confirmed = Promise.withResolvers<void>();
    const taken = relayOne(async ({ body }) => {
      inHand.push(body.toString());
      await confirmed.promise;
    });
    await until('it has one in hand', () => inHand.length === 1);
    const other = relayOne(async ({ body }) => void inHand.push(body.toString()));
    expect(await other.finally(() => confirmed.resolve())).toMatchObject({ published: 1 });
    expect(await taken).toMatchObject({ published: 1 });
    expect(new Set(inHand).size).toBe(2);
  });

  test('several share the work, and each event is published once', async () => {
    await Promise.all(Array.from({ length: 100 }, (_, id) => put(stand.postgres, id)));
    const several = [1, 2, 3].map(() => aRelay({ batch: 10 }));
    await several[0]?.close();
    aRelay({ batch: 10, listen: false });
    await untilEmpty();
    const guids = (await stand.broker.take(stand.queue)).map(({ properties }) => properties.messageId);
    expect(guids).toHaveLength(100);
    expect(new Set(guids).size).toBe(100);
  });

  test('keeps what is not confirmed, and sends the same again by a new connection', async () => {
    aRelay();
    await put(stand.postgres);
    await published(1);
    stand.broker.detour.stall('answers');
    const written = await put(stand.postgres);
    expect(await published(1)).toEqual([written]);
    expect(await readOutboxFigures(stand.postgres)).toMatchObject({ waiting: 1, failed: 0 });
    stand.broker.detour.flow();
    stand.broker.detour.cut();
    expect(await published(1)).toEqual([written]);
    await untilEmpty();
  });

  test('waits no longer than it may for a confirm, and leaves the event to be sent again', async () => {
    const said: string[] = [];
    const log = { info: () => undefined, warn: (_facts: object, message: string) => said.push(message) };
    relays.push(new OutboxRelay({ pool: stand.postgres, publisher, log }, { confirmLimitMs: 200 }));
    await put(stand.postgres);
    await untilEmpty();
    await stand.broker.take(stand.queue);
    said.length = 0;
    stand.broker.detour.stall('answers');
    const written = await put(stand.postgres);
    await until('it says so', () => said.includes('outbox.events-late'));
    expect(await readOutboxFigures(stand.postgres)).toMatchObject({ waiting: 1, failed: 0 });
    stand.broker.detour.flow();
    stand.broker.detour.cut();
    await untilEmpty();
    const copies = (await stand.broker.take(stand.queue)).map(({ content }) => content.toString());
    expect(new Set(copies)).toEqual(new Set([written]));
  });

  test('goes on when its connection to Postgres is lost', async () => {
    const said: unknown[] = [];
    aRelay({ log: { info: () => undefined, warn: (facts, message) => said.push({ ...facts, message }) } });
    await put(stand.postgres);
    await published(1);
    await until('the relay sleeps', isAsleep);
    await stand.postgres.query(`select pg_terminate_backend(pid) from pg_locks
      where locktype = 'advisory' and mode = 'ExclusiveLock' and granted
      and database = (select oid from pg_database where datname = current_database())`);
    await until('it says so', () => said.length > 0);
    // Postgres says so first, but where the relay was about to ask it something.
    const reason = expect.stringMatching(/^terminating connection due to|^Connection terminated/);
    expect(said).toEqual([{ message: 'outbox.interrupted', reason }]);
    await put(stand.postgres);
    await published(1);
  });

  test('tells how much waits, and for how long', async () => {
    await put(stand.postgres);
    await put(stand.postgres);
    const { waiting, failed, oldestMs } = await readOutboxFigures(stand.postgres);
    expect({ waiting, failed }).toEqual({ waiting: 2, failed: 0 });
    expect(oldestMs).toBeGreaterThan(0);
  });
});

describe('a relay that turns for long', () => {
  test('makes no composite signal, and leaves no listener at any', async () => {
    const any = jest.spyOn(AbortSignal, 'any');
    const added = jest.spyOn(AbortSignal.prototype, 'addEventListener');
    const removed = jest.spyOn(AbortSignal.prototype, 'removeEventListener');
    const stays = () => added.mock.calls.length - removed.mock.calls.length;
    // It never sleeps, and looks every 100 ms at most.
    const relay = aRelay({ listen: false });
    await until('it turns', () => added.mock.calls.length > 3);
    const before = stays();
    await until('it has turned twenty times', () => added.mock.calls.length > 23);
    expect(stays()).toBeLessThanOrEqual(before + 4);
    expect(any).not.toHaveBeenCalled();
    await relay.close();
    for (const spy of [any, added, removed]) spy.mockRestore();
  });
});

describe('the transaction of a relay', () => {
  test('is the same whatever the role has by default, and ends where the relay stands still', async () => {
    await stand.postgres.query(`create table seen as select '' as isolation, '' as read_only, '' as idle limit 0;
      create function see() returns trigger language plpgsql as $$ begin
        insert into seen select current_setting('transaction_isolation'), current_setting('transaction_read_only'),
          current_setting('idle_in_transaction_session_timeout');
        return old;
      end $$;
      create trigger see before delete on waybell_outbox for each row execute function see()`);
    const defaults = {
      default_transaction_isolation: 'serializable',
      default_transaction_read_only: 'on',
      idle_in_transaction_session_timeout: '1ms',
    };
    const options = Object.entries(defaults).map(([name, value]) => `-c ${name}=${value}`);
    const pool = new pg.Pool({ connectionString: stand.url, options: options.join(' ') });
    const relay = aRelay({ pool });
    await put(stand.postgres);
    await until('it is published', () => relay.figures().published > 0);
    const { rows } = await stand.postgres.query('table seen');
    expect(rows).toEqual([{ isolation: 'read committed', read_only: 'off', idle: '15s' }]);
    await relay.close();
    await pool.end();
    await stand.postgres.query('drop function see cascade; drop table seen');
  });
});

describe('an outbox in a schema of its own', () => {
  /** A name that is wrong SQL wherever it is not quoted. */
  const schema = `the "owner's" 100%`;
  const QUOTED = `"the ""owner's"" 100%"`;
  let client: pg.Client;

  beforeAll(async () => {
    client = new pg.Client({ connectionString: stand.url });
    await client.connect();
    await client.query(`create schema ${QUOTED}; set search_path = ${QUOTED}`);
    await client.query(outboxMigration);
  });
  afterAll(() => client.end());

  test('gets what its function is given, whatever the search path of who calls it, and is emptied by a relay of that schema', async () => {
    const { guid, values } = outboxEvent(anEvent());
    await client.query('set search_path = public; create temporary table waybell_outbox (like public.waybell_outbox)');
    await client.query(`select ${QUOTED}.waybell_publish($1)`, values);
    expect(await readOutboxFigures(stand.postgres, { schema })).toMatchObject({ waiting: 1 });
    expect(await readOutboxFigures(stand.postgres)).toMatchObject({ waiting: 0 });
    aRelay({ schema });
    const [body = ''] = await published(1);
    expect(JSON.parse(body)).toMatchObject({ guid });
    // It sleeps as well, and is notified.
    await until('it sleeps', isAsleep);
  });
});

test('a key whose events are late is skipped ever longer, until one is confirmed', () => {
  let now = 0;
  const skipped = new SkippedKeys(() => now);
  const late = (key: string) => skipped.note({ confirmedKeys: [], lateKeys: [key] });
  late('a');
  expect(skipped.keys).toEqual(['a']);
  now = 1_000;
  expect(skipped.keys).toEqual([]);
  late('a');
  now = 2_999;
  expect(skipped.keys).toEqual(['a']);
  for (let each = 0; each < 10; each += 1) late('a');
  now += 29_999;
  expect(skipped.keys).toEqual(['a']);
  now += 1;
  expect(skipped.keys).toEqual([]);
  skipped.note({ confirmedKeys: ['a'], lateKeys: [] });
  late('a');
  now += 1_000;
  expect(skipped.keys).toEqual([]);
});
