import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Accounts, access tokens and subscriptions. */
export class Tables implements MigrationInterface {
  readonly name = 'Tables1795219200001';

  async up(database: QueryRunner): Promise<void> {
    await database.query(ACCOUNTS);
    await database.query(ACCESS_TOKENS);
    await database.query(SUBSCRIPTIONS);
    await database.query(INDEXES);
  }

  async down(database: QueryRunner): Promise<void> {
    await database.query('drop table waybell.subscriptions, waybell.access_tokens, waybell.accounts');
  }
}

const ACCOUNTS = `
create table waybell.accounts (
  guid uuid primary key,
  interface text not null check (interface in ('shipper', 'carrier')),
  features text[] not null default '{}',
  created_at timestamptz not null default now(),
  changed_at timestamptz not null default now(),
  unique (guid, interface)
)`;

const ACCESS_TOKENS = `
create table waybell.access_tokens (
  guid uuid primary key,
  hash bytea not null unique check (octet_length(hash) = 32),
  account_guid uuid not null references waybell.accounts,
  client_id text not null default 'default' check (client_id <> ''),
  scopes text[] not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz,
  revoked_at timestamptz,
  last_used_at timestamptz
)`;

// Health is written while deliveries run: room in each page keeps such updates off the indexes.
const SUBSCRIPTIONS = `
create table waybell.subscriptions (
  guid uuid primary key,
  interface text not null,
  account_guid uuid not null,
  client_id text not null default 'default' check (client_id <> ''),
  action text not null,
  callback_url text not null,
  audit_field_set text[],
  verification_token_sealed bytea not null,
  verification_token_key_id text not null,
  generation int not null default 1 check (generation >= 1),
  is_active boolean not null default true,
  created_at timestamptz not null default now(),
  changed_at timestamptz not null default now(),
  ended_at timestamptz,
  deactivated_at timestamptz,
  deactivation_rule text check (deactivation_rule in ('exhausted', 'window')),
  failing_since timestamptz,
  last_success_at timestamptz,
  last_failure_at timestamptz,
  foreign key (account_guid, interface) references waybell.accounts (guid, interface),
  check (not is_active or (ended_at is null and deactivated_at is null)),
  check ((deactivated_at is null) = (deactivation_rule is null))
) with (fillfactor = 85)`;

const INDEXES = `
-- One current subscription per account, client and action; the account and the action first, because events ask so.
create unique index subscriptions_current on waybell.subscriptions (account_guid, action, interface, client_id)
  where ended_at is null;
-- The few that fail: what the sweep for the window rule looks at.
create index subscriptions_failing on waybell.subscriptions (interface, failing_since)
  where is_active and ended_at is null and failing_since is not null;
-- An account's history.
create index subscriptions_of_account on waybell.subscriptions (account_guid, created_at);
create index access_tokens_of_account on waybell.access_tokens (account_guid);`;
