import type { MigrationInterface, QueryRunner } from 'typeorm';

/** For the vehicles that a report has switched on, others of its shipper in the same batch included. */
export class SwitchedOnTogether implements MigrationInterface {
  readonly name = 'SwitchedOnTogether1795219200019';

  async up(database: QueryRunner): Promise<void> {
    await database.query('create index tracked_vehicles_activated on waybell.tracked_vehicles (activated_by)');
  }

  async down(database: QueryRunner): Promise<void> {
    await database.query('drop index waybell.tracked_vehicles_activated');
  }
}
