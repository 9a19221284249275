import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Which accounts Waybell knows: what happened to them is kept, so that it can be sent later. */
export class KnownAccounts implements MigrationInterface {
  readonly name = 'KnownAccounts1795219200020';

  async up(database: QueryRunner): Promise<void> {
    await database.query(`
      create view waybell.known_accounts as select guid as account_guid from waybell.accounts;
      grant select on waybell.known_accounts to waybell_router`);
  }

  async down(database: QueryRunner): Promise<void> {
    await database.query('drop view waybell.known_accounts');
  }
}
