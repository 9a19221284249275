import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { until } from '@waybell/runtime/testing/until';
import { shared } from '@waybell/runtime/testing/shared';
import pg from 'pg';
import type { OutboxConnection } from './outbox.ts';
import { createPublisher, type Publisher } from './publisher.ts';
import { createRelay } from './relay.ts';
import { put, startOutboxStand } from './testing/outbox-stand.ts';

const stand = shared(() => startOutboxStand());
let publisher: Publisher;

beforeEach(() => {
  publisher = createPublisher({ url: stand.broker.url });
});
afterEach(async () => {
  await publisher.close();
});
/** Hears warnings, with their facts. */
const hearing = () => {
  const said: { message: string; reason?: string }[] = [];
  return {
    said,
    info: () => undefined,
    warn: (facts: object, message: string) => void said.push({ ...facts, message }),
  };
};

/** Behaves like a pooler in transaction mode: each transaction is run by the next of several connections to Postgres. */
async function pooled(clients: pg.Client[]): Promise<OutboxConnection> {
  await Promise.all(clients.map((client) => client.connect()));
  let turn = 0;
  let isOpen = false;
  return {
    on: () => undefined,
    removeListener: () => undefined,
    release: () => undefined,
    query(text: string, values?: unknown[]) {
      if (!isOpen) turn += 1;
      if (text.includes('begin')) isOpen = true;
      if (text === 'commit') isOpen = false;
      return clients[turn % clients.length]!.query(text, values);
    },
  };
}

describe('a relay that is closed', () => {
  test('does not wait for a connection, and gives one that comes later back', async () => {
    const pool = new pg.Pool({ connectionString: stand.url, max: 1 });
    const held = await pool.connect();
    const relay = createRelay({ pool, publisher });
    await relay.close({ withinMs: 600_000 });
    expect(pool.waitingCount).toBe(1);
    held.release();
    await until('it is back', () => pool.waitingCount === 0 && pool.idleCount === 1);
    await pool.end();
  });

  test('waits no longer than it is told to for a Postgres that does not answer', async () => {
    const locking = await stand.postgres.connect();
    await locking.query('begin; lock table waybell_outbox in access exclusive mode');
    const relay = createRelay({ pool: stand.postgres, publisher });
    const waiting = 'select 1 from pg_locks where not granted and relation is not null';
    await until('it waits', async () => (await stand.postgres.query(waiting)).rows.length > 0);
    await relay.close({ withinMs: 0 });
    expect(relay.trouble()).toBe('the relay is closed');
    await locking.query('rollback');
    locking.release();
  });
});

describe('a relay', () => {
  test('says what it lacks, and goes on when it is there', async () => {
    const log = hearing();
    await stand.postgres.query('alter table waybell_outbox rename to elsewhere');
    const relay = createRelay({ pool: stand.postgres, publisher, log });
    await until('it says so', () => log.said.length > 0);
    await publisher.ready();
    expect(relay.trouble()).toBe('relation "waybell_outbox" does not exist');
    await stand.postgres.query('alter table elsewhere rename to waybell_outbox');
    await until('it has none', () => relay.trouble() === undefined);
    await relay.close();
  });

  test('that listens through a pooler of transactions says so once, and goes on without', async () => {
    // It locks by one, looks by the next, and would unlock by the third.
    const clients = [1, 2, 3].map(() => new pg.Client({ connectionString: stand.url }));
    const connection = await pooled(clients);
    const log = hearing();
    const relay = createRelay({ pool: { connect: async () => connection }, publisher, log });
    await until('it says so', () => log.said.length > 0);
    for (let count = 1; count <= 3; count += 1) {
      await put(stand.postgres);
      await until('it is published', () => relay.figures().published === count);
    }
    expect(log.said).toEqual([{ message: 'outbox.pooler', reason: expect.stringContaining('set listen to false') }]);
    await relay.close();
    await Promise.all(clients.map((client) => client.end()));
  });

  test.each([
    ['no number', { batch: NaN }, 'batch must be a number above 0'],
    ['no text', { schema: '' }, 'schema must be a text'],
  ])('is refused at once with %s', (_what, options, message) => {
    expect(() => createRelay({ pool: stand.postgres, publisher, ...options })).toThrow(message);
  });
});
