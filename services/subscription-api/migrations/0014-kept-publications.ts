import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What the broker did not take. A service keeps, sees and removes its own only, by the functions of `libs/line/kept`. */
export class KeptPublications implements MigrationInterface {
  readonly name = 'KeptPublications1795219200014';

  async up(database: QueryRunner): Promise<void> {
    await database.query(TABLES);
  }

  async down(database: QueryRunner): Promise<void> {
    await database.query(`
      drop view waybell.kept;
      drop table waybell.kept_publications, waybell.kept_destinations`);
  }
}

/**
 * Destinations have their sums, so that rows need not be counted. They stay: there are a few for each action.
 * `properties` is JSON, not looked into here: what strangers wrote may be no text for Postgres, such as a NUL.
 */
const TABLES = `
create table waybell.kept_destinations (
  id bigint generated always as identity primary key,
  kept_by name not null,
  exchange text not null,
  routing_key text not null,
  publications bigint not null,
  bytes bigint not null,
  unique (kept_by, exchange, routing_key)
) with (fillfactor = 50);

create table waybell.kept_publications (
  destination bigint not null references waybell.kept_destinations,
  id bigint generated always as identity,
  properties text not null,
  body bytea not null,
  kept_at timestamptz not null default now(),
  -- Later while a process has it under way. What is due and still here is to be sent.
  due_at timestamptz not null default now(),
  primary key (destination, id)
) with (vacuum_truncate = false, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 50000);

create view waybell.kept as
select d.kept_by, d.exchange, d.routing_key, d.publications, d.bytes,
  (select p.kept_at from waybell.kept_publications p where p.destination = d.id order by p.id limit 1) as oldest_at
from waybell.kept_destinations d where d.publications > 0`;
