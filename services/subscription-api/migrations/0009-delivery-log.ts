import type { MigrationInterface, QueryRunner } from 'typeorm';
import { ensureRole } from './0002-grants.ts';

const OWNER = 'waybell_log';

/**
 * What delivery-log writes down, in a schema that its own role owns: it creates the partitions of coming days, and drops
 * those of days that are over. A repeatable makes the tables, as `libs/delivery-log/tables.ts` says.
 */
export class DeliveryLog implements MigrationInterface {
  readonly name = 'DeliveryLog1795219200009';

  async up(database: QueryRunner): Promise<void> {
    await database.query(ensureRole(OWNER));
    await database.query('create schema delivery_log');
    // First of all: who gives a table away, and is no superuser, may give it only to one that may create in its schema.
    await database.query(`alter schema delivery_log owner to ${OWNER}`);
  }

  async down(database: QueryRunner): Promise<void> {
    await database.query('drop schema delivery_log cascade');
  }
}
