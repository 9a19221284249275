import type { MigrationInterface, QueryRunner } from 'typeorm';

const SERVICES = ['deliverer', 'router'] as const;

/** What RabbitMQ does not take now waits in one table of its service, and no longer in rooms for each destination. */
export class Outboxes implements MigrationInterface {
  readonly name = 'Outboxes1796515200041';

  async up(database: QueryRunner): Promise<void> {
    for (const service of SERVICES) await database.query(table(service));
    await database.query(VIEW);
  }

  /** Only where nothing waits: release 0.3.0 does not read these tables. */
  async down(database: QueryRunner): Promise<void> {
    await database.query(REFUSE_IF_ANY_WAITS);
    await database.query('drop view waybell.outbox; drop table waybell.deliverer_outbox, waybell.router_outbox');
  }
}

const table = (service: string): string => `
create table waybell.${service}_outbox (
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
) with (vacuum_truncate = false, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 50000);
create index ${service}_outbox_due on waybell.${service}_outbox (destination, due_at);
grant select, insert, delete on waybell.${service}_outbox to waybell_${service};
grant update (due_at, refused_at) on waybell.${service}_outbox to waybell_${service}`;

/** All of it, for people. */
const VIEW = `create view waybell.outbox as ${SERVICES.map(
  (service) => `select '${service}' as service, o.* from waybell.${service}_outbox o`,
).join(' union all ')}`;

const REFUSE_IF_ANY_WAITS = `
do $$ begin
  if exists (select from waybell.outbox) then
    raise exception 'publications wait, and the tables from before have no place for them: start the services until none does';
  end if;
end $$`;
