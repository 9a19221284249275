import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What RabbitMQ does not take now waits in one table of its service, and no longer in rooms for each destination. */
export class Outboxes implements MigrationInterface {
  readonly name = 'Outboxes1796515200041';

  async up(database: QueryRunner): Promise<void> {
    await database.query(TABLES);
  }

  /** Only where nothing waits: release 0.3.0 does not read these tables. */
  async down(database: QueryRunner): Promise<void> {
    await database.query(REFUSE_IF_ANY_WAITS);
    await database.query('drop view waybell.outbox; drop table waybell.deliverer_outbox, waybell.router_outbox');
  }
}

const VACUUMED = 'vacuum_truncate = false, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 50000';

/** The view has all of it, for people. */
const TABLES = `
create table waybell.router_outbox (
  id uuid primary key,
  -- '<exchange> <routing key>'
  destination text collate "C" not null,
  put_at timestamptz not null default now(),
  -- While a row is claimed, the end of the claim.
  due_at timestamptz not null,
  -- When its destination first did not take it.
  refused_at timestamptz,
  -- The publication but its body, as JSON: what strangers wrote may be no text for Postgres, such as a NUL.
  properties text not null,
  body bytea not null
) with (${VACUUMED});
create index router_outbox_due on waybell.router_outbox (destination, due_at);
create table waybell.deliverer_outbox (like waybell.router_outbox including all) with (${VACUUMED});
grant select, insert, delete, update (due_at, refused_at) on waybell.router_outbox to waybell_router;
grant select, insert, delete, update (due_at, refused_at) on waybell.deliverer_outbox to waybell_deliverer;
create view waybell.outbox as
select 'router' as service, o.* from waybell.router_outbox o
union all select 'deliverer' as service, o.* from waybell.deliverer_outbox o`;

const REFUSE_IF_ANY_WAITS = `
do $$ begin
  if exists (select from waybell.outbox) then
    raise exception 'publications wait, and the tables from before have no place for them: start the services until none does';
  end if;
end $$`;
