import type { MigrationInterface, QueryRunner } from 'typeorm';
import { createIndex } from './create-index.ts';

/** Subscriptions that operators have stopped are found, of a client or all, without a look at all others. */
export class Stopped implements MigrationInterface {
  readonly name = 'Stopped1796083200036';
  readonly transaction = false;

  async up(database: QueryRunner): Promise<void> {
    await createIndex((sql, values) => database.query(sql, values), {
      name: 'waybell.subscriptions_stopped',
      table: 'waybell.subscriptions',
      columns: '(account_guid, client_id, action) where stopped_at is not null',
    });
  }

  async down(database: QueryRunner): Promise<void> {
    await database.query('drop index waybell.subscriptions_stopped');
  }
}
