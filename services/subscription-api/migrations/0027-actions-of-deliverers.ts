import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Deliverers say which actions they deliver, so that each knows with how many it shares an endpoint. */
export class ActionsOfDeliverers implements MigrationInterface {
  readonly name = 'ActionsOfDeliverers1795392000027';

  async up(database: QueryRunner): Promise<void> {
    await database.query('alter table waybell.parked_owners add actions text[]');
  }

  async down(database: QueryRunner): Promise<void> {
    await database.query('alter table waybell.parked_owners drop actions');
  }
}
