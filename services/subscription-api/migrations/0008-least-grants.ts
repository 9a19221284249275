import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Takes back what roles were granted and do not need; services/subscription-api/grants.postgres.test.ts has the whole table. */
export class LeastGrants implements MigrationInterface {
  readonly name = 'LeastGrants1795219200008';

  async up(database: QueryRunner): Promise<void> {
    await database.query(NARROWED);
  }

  async down(database: QueryRunner): Promise<void> {
    await database.query(AS_BEFORE);
  }
}

// A function may be called by everybody until that is taken back; who asks a view needs the functions in it. What names a
// row, and what was announced, never changes.
const NARROWED = `
revoke all on function waybell.needed_feature(text, text) from public;
grant execute on function waybell.needed_feature(text, text) to waybell_router, waybell_deliverer;

revoke update on waybell.tracked_vehicles, waybell.gps_deactivations from waybell_tracker;
grant update (is_active, last_seen_at, activated_by) on waybell.tracked_vehicles to waybell_tracker;
grant update (claimed_until) on waybell.gps_deactivations to waybell_tracker;`;

const AS_BEFORE = `
grant update on waybell.tracked_vehicles, waybell.gps_deactivations to waybell_tracker;
grant execute on function waybell.needed_feature(text, text) to public;
revoke execute on function waybell.needed_feature(text, text) from waybell_router, waybell_deliverer;`;
