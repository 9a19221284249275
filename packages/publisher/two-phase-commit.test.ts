import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { routerQueue } from '@waybell/line/topology';
import { TestBroker } from '@waybell/line/testing/test-broker';
import { until } from '@waybell/runtime/testing/until';
import { startServers, type Servers } from '@waybell/stack/servers';
import pg from 'pg';
import { outboxMigration } from './outbox-migration.ts';
import { createPublisher, type Publisher } from './publisher.ts';
import { createRelay, type Relay } from './relay.ts';
import { put } from './testing/outbox-stand.ts';
import { overheard } from './testing/overheard.ts';
import { tapped } from './testing/tapped.ts';

let home: string;
let servers: Servers;
let broker: TestBroker;
let queue: string;
let postgres: pg.Pool;
let publisher: Publisher;
let relay: Relay;
let statements: string[];

/** A Postgres in which transactions may be prepared, which the one that tests share does not allow, and a relay that has long found nothing. */
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'waybell-two-phase-'));
  [servers, broker] = await Promise.all([
    startServers({ home, only: ['postgres'], isThrowaway: true }),
    TestBroker.start(),
  ]);
  const url = servers.url('postgres');
  const operator = new pg.Client({ connectionString: url });
  await operator.connect();
  await operator.query('alter system set max_prepared_transactions = 10');
  await operator.end();
  await servers.process('postgres').stop();
  await servers.process('postgres').start();
  postgres = new pg.Pool({ connectionString: url });
  await postgres.query(outboxMigration);
  await postgres.query('create table orders (guid text unique deferrable)');
  // Nothing takes from it here: full, it would refuse.
  await broker.delete(routerQueue);
  queue = await tapped(broker);
  publisher = createPublisher({ url: broker.url });
  const heard = overheard(postgres);
  ({ statements } = heard);
  relay = createRelay({ pool: heard.pool, publisher });
});
afterAll(async () => {
  await relay.close();
  await publisher.close();
  await postgres.end();
  await broker[Symbol.asyncDispose]();
  await servers[Symbol.asyncDispose]();
  await rm(home, { recursive: true, force: true });
});

/** A relay sleeps, where it does at all, after half a second without an event. */
async function untilIdle(): Promise<void> {
  const before = statements.length;
  // A poll is three of them: every 16 ms while it is awake, these are more than half a second's.
  await until('it has found nothing for long', () => statements.length > before + 3 * 40);
}

/** Puts an event into the outbox in a transaction that does so first, and prepares that. */
async function prepare(name: string, before: readonly string[] = ['begin']): Promise<string> {
  const client = await postgres.connect();
  try {
    for (const statement of before) await client.query(statement);
    const event = await put(client);
    await client.query(`prepare transaction '${name}'`);
    return event;
  } finally {
    // Refused transactions and temporary tables end with it.
    client.release(true);
  }
}

const published = (count: number) => broker.takeBodies(queue, count);

describe('an event in a transaction that is prepared, while the relay is idle,', () => {
  test('waits for the second phase, and holds up no other', async () => {
    await untilIdle();
    const first = await prepare('one');
    const second = await put(postgres);
    expect(await published(1)).toEqual([second]);
    await postgres.query("commit prepared 'one'");
    expect(await published(1)).toEqual([first]);
  });

  test('is not published where that is rolled back', async () => {
    await prepare('one');
    await postgres.query("rollback prepared 'one'");
    const other = await put(postgres);
    expect(await published(1)).toEqual([other]);
  });

  test.each([
    ['is serializable', ['begin isolation level serializable']],
    ['is repeatable read', ['begin isolation level repeatable read']],
    ['has the role of a replica', ['begin', 'set local session_replication_role = replica']],
    ['released a savepoint', ['begin', 'savepoint a', 'insert into orders values (1)', 'release a']],
    ['went back to a savepoint', ['begin', 'savepoint a', 'insert into orders values (2)', 'rollback to a']],
    ['defers constraints', ['begin', 'set constraints all deferred', 'insert into orders values (3)']],
    ['comes by a connection with temporary tables', ['create temporary table mine (id int)', 'begin']],
  ])('is published where that %s', async (_what, before) => {
    const written = await prepare('one', before);
    await postgres.query("commit prepared 'one'");
    expect(await published(1)).toEqual([written]);
  });
});
