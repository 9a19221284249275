import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What the broker does not take is kept as it is, and no longer parked with the record that is owed. */
export class ParkedWithoutRecords implements MigrationInterface {
  readonly name = 'ParkedWithoutRecords1795219200016';

  async up(database: QueryRunner): Promise<void> {
    await database.query(`
      update waybell.parked set why = 'full' where why = 'blocked';
      alter table waybell.parked drop constraint parked_why_check, drop column owed,
        add constraint parked_why_check check (why in ('full', 'hung', 'egress')) not valid`);
  }

  async down(database: QueryRunner): Promise<void> {
    await database.query(`
      alter table waybell.parked drop constraint parked_why_check, add column owed text,
        add constraint parked_why_check check (why in ('full', 'hung', 'blocked', 'egress')) not valid`);
  }
}
