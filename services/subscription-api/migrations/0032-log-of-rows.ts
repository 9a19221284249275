import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Tables of 0.2.0 whose rows the log does not read any more; those that it has now are made by `libs/delivery-log/tables.ts`. */
const TABLES = ['events', 'keys', 'deliveries', 'attempts', 'bodies', 'kept_events'];

/** The delivery log begins anew: one row for each attempt, and bodies of many together in chunks. */
export class LogOfRows implements MigrationInterface {
  readonly name = 'LogOfRows1795824000032';

  async up(database: QueryRunner): Promise<void> {
    await database.query('drop view if exists delivery_log.all_attempts');
    for (const table of TABLES) await database.query(`drop table if exists delivery_log.${table}`);
  }

  async down(database: QueryRunner): Promise<void> {
    for (const table of [...TABLES, 'chunks']) await database.query(`drop table if exists delivery_log.${table}`);
  }
}
