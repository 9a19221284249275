import { createTestDatabase, type TestDatabase } from '@waybell/runtime/testing/database';
import { routerQueue } from '@waybell/line/topology';
import { TestBroker } from '@waybell/line/testing/test-broker';
import type pg from 'pg';
import { outboxEvent } from '../outbox.ts';
import { outboxMigration } from '../outbox-migration.ts';
import { anEvent } from './an-event.ts';
import { tapped } from './tapped.ts';

/** A database with an outbox, and a broker with a queue that gets what is published. */
export type OutboxStand = AsyncDisposable & TestDatabase & { broker: TestBroker; queue: string };

export async function startOutboxStand(): Promise<OutboxStand> {
  const [database, broker] = await Promise.all([createTestDatabase({ isMigrated: false }), TestBroker.start()]);
  await database.postgres.query(outboxMigration);
  // Nothing takes from it here: full, it would refuse.
  await broker.delete(routerQueue);
  const queue = await tapped(broker);
  return {
    ...database,
    broker,
    queue,
    async [Symbol.asyncDispose]() {
      await database[Symbol.asyncDispose]();
      await broker[Symbol.asyncDispose]();
    },
  };
}

/** Puts an event into the outbox; resolves with what it will be published as. */
export async function put(postgres: pg.Pool | pg.ClientBase, id?: number): Promise<string> {
  const { text, values } = outboxEvent(anEvent(id));
  await postgres.query(text, values);
  return values[0];
}
