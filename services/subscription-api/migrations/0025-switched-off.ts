import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Subscriptions that are switched off are found, the latest first, without a look at all others. */
export class SwitchedOff implements MigrationInterface {
  readonly name = 'SwitchedOff1795219200025';

  async up(database: QueryRunner): Promise<void> {
    await database.query(`create index subscriptions_switched_off on waybell.subscriptions (deactivated_at desc, guid)
      where not is_active and ended_at is null and deactivated_at is not null`);
  }

  async down(database: QueryRunner): Promise<void> {
    await database.query('drop index waybell.subscriptions_switched_off');
  }
}
