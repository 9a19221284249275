import type { MigrationInterface, QueryRunner } from 'typeorm';
import { createIndex } from './create-index.ts';

const INDEXES = [
  { name: 'waybell.subscriptions_stopped', columns: '(account_guid, client_id, action) where stopped_at is not null' },
  { name: 'waybell.subscriptions_of_host', columns: '(waybell.host_of(callback_url)) where ended_at is null' },
  {
    name: 'waybell.subscriptions_interrupted',
    columns: `(guid) where ended_at is null
      and (not is_active or stopped_at is not null or paused_until is not null or missed_since is not null)`,
  },
];

/** Subscriptions that get nothing, that operators have stopped, or of one host are found without a look at all others. */
export class Stopped implements MigrationInterface {
  readonly name = 'Stopped1796083200036';
  readonly transaction = false;

  async up(database: QueryRunner): Promise<void> {
    for (const index of INDEXES)
      await createIndex((sql, values) => database.query(sql, values), { table: 'waybell.subscriptions', ...index });
  }

  async down(database: QueryRunner): Promise<void> {
    for (const { name } of INDEXES) await database.query(`drop index ${name}`);
  }
}
