import type { MigrationInterface, QueryRunner } from 'typeorm';

/** A deliverer that claims an open request gives it another id, by which only it can be put off or removed. */
export class ClaimedRequests implements MigrationInterface {
  readonly name = 'ClaimedRequests1795219200018';

  async up(database: QueryRunner): Promise<void> {
    await database.query('grant update (id) on waybell.open_requests to waybell_deliverer');
  }

  async down(database: QueryRunner): Promise<void> {
    await database.query('revoke update (id) on waybell.open_requests from waybell_deliverer');
  }
}
