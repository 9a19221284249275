import type { MigrationInterface, QueryRunner } from 'typeorm';
import { NOTE_CHANGE } from './0006-audit-log.ts';
import { TARGETS } from './0012-parked.ts';

/**
 * Signing secrets are of a client, as subscriptions are: one does not see or replace another's. And the audit log heeds
 * who is said to make a change only where the owner of the tables, or who may act for it, says so.
 */
export class SecretsOfClients implements MigrationInterface {
  readonly name = 'SecretsOfClients1795219200017';

  async up(database: QueryRunner): Promise<void> {
    await database.query(OF_CLIENTS);
    await database.query(TARGETS_AND_CLIENT);
    await database.query(noted("'account_guid', 'client_id', 'expires_at'"));
    await database.query(NOTE_CHANGE_OF_OWNER);
  }

  async down(database: QueryRunner): Promise<void> {
    await database.query(NOTE_CHANGE.replace('create function', 'create or replace function'));
    await database.query(noted("'account_guid', 'expires_at'"));
    await database.query('drop view waybell.delivery_targets');
    await database.query(`${TARGETS}; grant select on waybell.delivery_targets to waybell_deliverer`);
    await database.query(OF_ACCOUNTS);
  }
}

// An account's secrets before go to the client that has subscribed longest; others get theirs with the next request.
const FIRST_CLIENT = `coalesce(
  (select x.client_id from waybell.subscriptions x where x.account_guid = s.account_guid
   order by x.ended_at is not null, x.created_at, x.client_id limit 1), 'default')`;

const OF_CLIENTS = `
alter table waybell.signing_secrets add client_id text;
update waybell.signing_secrets s set client_id = ${FIRST_CLIENT};
alter table waybell.signing_secrets alter client_id set not null;
drop index waybell.signing_secrets_current, waybell.signing_secrets_of_account;
create unique index signing_secrets_current on waybell.signing_secrets (account_guid, client_id) where expires_at is null;
create index signing_secrets_of_client on waybell.signing_secrets (account_guid, client_id);

create or replace view waybell.valid_signing_secrets as
select account_guid, guid, sealed, key_id, created_at, client_id from waybell.signing_secrets
where expires_at is null or expires_at > now()`;

const OF_ACCOUNTS = `
drop view waybell.valid_signing_secrets;
create view waybell.valid_signing_secrets as
select account_guid, guid, sealed, key_id, created_at from waybell.signing_secrets
where expires_at is null or expires_at > now();
grant select on waybell.valid_signing_secrets to waybell_deliverer;

delete from waybell.signing_secrets s where client_id <> ${FIRST_CLIENT};
alter table waybell.signing_secrets drop client_id;
create unique index signing_secrets_current on waybell.signing_secrets (account_guid) where expires_at is null;
create index signing_secrets_of_account on waybell.signing_secrets (account_guid)`;

const TARGETS_AND_CLIENT = TARGETS.replace('as tells_success', 'as tells_success, s.client_id');

const noted = (columns: string): string => `
create or replace trigger noted_made after insert or delete on waybell.signing_secrets for each row
  execute function waybell.note_change('signing-secret', ${columns});
create or replace trigger noted_changed after update on waybell.signing_secrets for each row
  when ((old.guid, old.account_guid, old.expires_at) is distinct from (new.guid, new.account_guid, new.expires_at))
  execute function waybell.note_change('signing-secret', ${columns});`;

/** In it, current_user is the owner: who calls has taken on a role, or is whom it logged in as. */
const NOTE_CHANGE_OF_OWNER = NOTE_CHANGE.replace('create function', 'create or replace function').replace(
  "actor jsonb := nullif(current_setting('waybell.actor', true), '')::jsonb;",
  `actor jsonb := case
    when pg_has_role(coalesce(nullif(current_setting('role'), 'none'), session_user), current_user, 'member')
    then nullif(current_setting('waybell.actor', true), '')::jsonb end;`,
);
