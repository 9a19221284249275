import type { MigrationInterface, QueryRunner } from 'typeorm';
import { createIndex } from './create-index.ts';

/** Subscriptions that are switched off are found, the latest first, without a look at all others. */
export class SwitchedOff implements MigrationInterface {
  readonly name = 'SwitchedOff1795219200025';
  readonly transaction = false;

  async up(database: QueryRunner): Promise<void> {
    await createIndex((sql, values) => database.query(sql, values), {
      name: 'waybell.subscriptions_switched_off',
      table: 'waybell.subscriptions',
      columns: '(deactivated_at desc, guid) where not is_active and ended_at is null and deactivated_at is not null',
    });
  }

  async down(database: QueryRunner): Promise<void> {
    await database.query('drop index waybell.subscriptions_switched_off');
  }
}
