import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Which delivery switched a subscription off: in its row and in what is still to be told. */
export class Deactivations implements MigrationInterface {
  readonly name = 'Deactivations1795219200021';

  async up(database: QueryRunner): Promise<void> {
    await database.query('alter table waybell.subscriptions add last_failed_delivery uuid, add deactivated_by uuid');
    await database.query(TO_BE_TOLD);
  }

  async down(database: QueryRunner): Promise<void> {
    await database.query(`
      drop table waybell.deactivations;
      alter table waybell.subscriptions drop last_failed_delivery, drop deactivated_by`);
  }
}

/** Subscriptions that a rule switched off, until the deactivator has told the delivery log. A generation goes off once. */
const TO_BE_TOLD = `
create table waybell.deactivations (
  subscription uuid not null,
  generation int not null,
  account uuid not null,
  client text not null,
  interface text not null,
  action text not null,
  rule text not null,
  delivery uuid,
  at timestamptz not null,
  claimed_until timestamptz,
  primary key (subscription, generation)
);
grant select, delete on waybell.deactivations to waybell_deactivator;
grant update (claimed_until) on waybell.deactivations to waybell_deactivator`;
