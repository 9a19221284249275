import type { MigrationInterface, QueryRunner } from 'typeorm';

/** A replay is of an action, whichever subscription missed it; and what was never made can be made from its event. */
export class MadeAgain implements MigrationInterface {
  readonly name = 'MadeAgain1795219200024';

  async up(database: QueryRunner): Promise<void> {
    await database.query(`
      alter table delivery_log.replays add column action text, add column include_suppressed boolean not null default false;
      update delivery_log.replays r set action = s.action from waybell.subscriptions s where s.guid = r.subscription;
      alter table delivery_log.replays alter column action set not null, drop column subscription;
      -- When the event was kept of which the body is made, and for which fields; null where the body is in the log.
      alter table delivery_log.sendings add column kept_at timestamptz, add column audit_field_set text[]`);
  }

  async down(database: QueryRunner): Promise<void> {
    await database.query(`
      alter table delivery_log.sendings drop column kept_at, drop column audit_field_set;
      delete from delivery_log.sendings;
      delete from delivery_log.replays;
      alter table delivery_log.replays drop column action, drop column include_suppressed, add column subscription uuid not null`);
  }
}
