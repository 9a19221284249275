import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What is to be sent by hand, until delivery-log has handed it to the deliverers; and for a while afterwards. */
export class Sendings implements MigrationInterface {
  readonly name = 'Sendings1795219200010';

  async up(database: QueryRunner): Promise<void> {
    await database.query(REPLAYS);
    await database.query(SENDINGS);
    for (const table of ['replays', 'sendings'])
      await database.query(`alter table delivery_log.${table} owner to waybell_log`);
  }

  async down(database: QueryRunner): Promise<void> {
    await database.query('drop table delivery_log.sendings, delivery_log.replays');
  }
}

/** All of a subscription that did not arrive in a stretch of time, to be sent again. */
const REPLAYS = `
create table delivery_log.replays (
  guid uuid primary key,
  account uuid not null,
  client text not null,
  subscription uuid not null,
  since timestamptz not null,
  until timestamptz not null,
  per_second int not null,
  total int not null,
  requested_by text not null,
  requested_at timestamptz not null default now(),
  cancelled_at timestamptz
)`;

/**
 * One delivery, to be attempted from this attempt on. Its body is the one in the log, unless it stands here. A row is the
 * claim on its delivery: until it is published no other request may ask for the same.
 */
const SENDINGS = `
create table delivery_log.sendings (
  guid uuid primary key,
  why text not null check (why in ('resend', 'test')),
  replay uuid references delivery_log.replays,
  delivery uuid not null,
  event uuid not null,
  interface text not null,
  action text not null,
  account uuid not null,
  client text not null,
  subscription uuid not null,
  generation int not null,
  from_attempt int not null,
  body text,
  requested_by text not null,
  requested_at timestamptz not null default now(),
  due_at timestamptz not null,
  claimed_until timestamptz,
  published_at timestamptz,
  -- Nothing was left to send: the body had gone in the meantime.
  is_void boolean not null default false
);
create unique index sendings_open on delivery_log.sendings (delivery) where published_at is null;
create index sendings_due on delivery_log.sendings (due_at) where published_at is null;
create index sendings_of_delivery on delivery_log.sendings (delivery);
create index sendings_of_replay on delivery_log.sendings (replay) where replay is not null`;
