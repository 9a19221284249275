import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Listeners: clients of clients, each a program to which callbacks go over a stream while it lives. */
export class Listeners implements MigrationInterface {
  readonly name = 'Listeners1795392000029';

  async up(database: QueryRunner): Promise<void> {
    await database.query(LISTENERS);
  }

  async down(database: QueryRunner): Promise<void> {
    await database.query('drop table waybell.listeners');
  }
}

// What each is sent, its subscriptions say: those of the same account and client.
const LISTENERS = `
create table waybell.listeners (
  guid uuid primary key,
  interface text not null,
  account_guid uuid not null,
  client_id text not null,
  created_at timestamptz not null default now(),
  alive_until timestamptz not null,
  ended_at timestamptz,
  foreign key (account_guid, interface) references waybell.accounts (guid, interface)
);
create unique index listeners_current on waybell.listeners (account_guid, client_id) where ended_at is null;
create index listeners_ended on waybell.listeners (ended_at) where ended_at is not null`;
