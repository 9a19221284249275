import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Which version the tables are of, for every service: told once its migrations, and all that is made anew after them, are there. */
export class SchemaVersion implements MigrationInterface {
  readonly name = 'SchemaVersion1795219200026';

  async up(database: QueryRunner): Promise<void> {
    await database.query(`
      create view waybell.schema_version as
      select coalesce(max(hash::int), 0) as version from waybell.repeatables where name = 'migrations';
      grant usage on schema waybell to waybell_log;
      grant select on waybell.schema_version
        to waybell_router, waybell_deliverer, waybell_deactivator, waybell_tracker, waybell_log`);
  }

  async down(database: QueryRunner): Promise<void> {
    await database.query('drop view waybell.schema_version; revoke usage on schema waybell from waybell_log');
  }
}
