import type { MigrationInterface, QueryRunner } from 'typeorm';
import { ensureRole } from './0002-grants.ts';

/** The deactivator's role. What it may call stands beside the rule, in `services/deactivator`. */
export class SettleDeliveries implements MigrationInterface {
  readonly name = 'SettleDeliveries1795219200003';

  async up(database: QueryRunner): Promise<void> {
    await database.query(ensureRole('waybell_deactivator'));
    await database.query('grant usage on schema waybell to waybell_deactivator');
  }

  async down(database: QueryRunner): Promise<void> {
    await database.query('revoke usage on schema waybell from waybell_deactivator');
  }
}
