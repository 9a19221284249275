import type { MigrationInterface, QueryRunner } from 'typeorm';

/** First attempts that are under way for long, so that what else came in their message need not wait for them. */
export class OpenRequests implements MigrationInterface {
  readonly name = 'OpenRequests1795219200013';

  async up(database: QueryRunner): Promise<void> {
    await database.query(TABLE);
    await database.query('grant select, insert, delete on waybell.open_requests to waybell_deliverer');
    await database.query('grant update (due_at) on waybell.open_requests to waybell_deliverer');
  }

  async down(database: QueryRunner): Promise<void> {
    await database.query('drop table waybell.open_requests');
  }
}

const TABLE = `
create table waybell.open_requests (
  id uuid primary key,
  delivery text collate "C" not null,
  -- Milliseconds since the epoch, as the delivery has it.
  created_at bigint not null,
  attempt int not null,
  -- By then its request is over. What is here later is of a process that died, and is to be attempted again.
  due_at timestamptz not null,
  action text not null,
  note text not null,
  traceparent text,
  body bytea not null
);
create index open_requests_of_delivery on waybell.open_requests (delivery);
create index open_requests_due on waybell.open_requests (due_at)`;
