import type { MigrationInterface, QueryRunner } from 'typeorm';

/** A test may have the retries of an event's delivery. */
export class RetriedTests implements MigrationInterface {
  readonly name = 'RetriedTests1795392000028';

  async up(database: QueryRunner): Promise<void> {
    await database.query('alter table delivery_log.sendings add column is_retried boolean not null default false');
  }

  async down(database: QueryRunner): Promise<void> {
    await database.query('alter table delivery_log.sendings drop column is_retried');
  }
}
