import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The secrets that accounts' notifications are signed with; the deliverer sees the valid ones. */
export class SigningSecrets implements MigrationInterface {
  readonly name = 'SigningSecrets1795219200005';

  async up(database: QueryRunner): Promise<void> {
    await database.query(SIGNING_SECRETS);
    await database.query(VALID_SIGNING_SECRETS);
  }

  async down(database: QueryRunner): Promise<void> {
    await database.query('drop view waybell.valid_signing_secrets');
    await database.query('drop table waybell.signing_secrets');
  }
}

const SIGNING_SECRETS = `
create table waybell.signing_secrets (
  guid uuid primary key,
  account_guid uuid not null references waybell.accounts,
  sealed bytea not null,
  key_id text not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz
);
-- The current one of an account; an earlier one is valid for a while beside it.
create unique index signing_secrets_current on waybell.signing_secrets (account_guid) where expires_at is null;
create index signing_secrets_of_account on waybell.signing_secrets (account_guid)`;

const VALID_SIGNING_SECRETS = `
create view waybell.valid_signing_secrets as
select account_guid, guid, sealed, key_id, created_at from waybell.signing_secrets
where expires_at is null or expires_at > now();

grant select on waybell.valid_signing_secrets to waybell_deliverer`;
