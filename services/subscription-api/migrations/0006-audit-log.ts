import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Notes who changed an account, a token or a subscription, when and from where. Triggers write it, in the transaction
 * of the change: no change, by hand too, can leave it out.
 */
export class AuditLog implements MigrationInterface {
  readonly name = 'AuditLog1795219200006';

  async up(database: QueryRunner): Promise<void> {
    await database.query(AUDIT_LOG);
    await database.query(NOTE_CHANGE);
    await database.query(TRIGGERS);
  }

  async down(database: QueryRunner): Promise<void> {
    await database.query('drop function waybell.note_change() cascade');
    await database.query('drop table waybell.audit_log');
  }
}

// No reference to what it speaks of: that may go, and this stays.
const AUDIT_LOG = `
create table waybell.audit_log (
  id bigint generated always as identity primary key,
  at timestamptz not null default now(),
  who text not null,
  origin text,
  request_id uuid,
  what text not null,
  account_guid uuid not null,
  subject_guid uuid not null,
  details jsonb not null
);
create index audit_log_of_account on waybell.audit_log (account_guid, at);
create index audit_log_by_time on waybell.audit_log (at)`;

/**
 * Arguments: what the table holds, the column with the account's guid, and the columns whose new values are told where
 * they changed. A column that is not named is never told. Of a callback URL only where it leads to: what follows may be
 * a secret of the receiver. Who: the setting \`waybell.actor\`, as JSON; without it, the role or the user of the connection.
 */
export const NOTE_CHANGE = `
create function waybell.note_change() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  actor jsonb := nullif(current_setting('waybell.actor', true), '')::jsonb;
  before jsonb := case when tg_op = 'INSERT' then '{}' else to_jsonb(old) end;
  after jsonb := case when tg_op = 'DELETE' then '{}' else to_jsonb(new) end;
  subject jsonb := before || after;
begin
  insert into waybell.audit_log (who, origin, request_id, what, account_guid, subject_guid, details)
  select coalesce(actor ->> 'who', 'role ' || nullif(current_setting('role'), 'none'), 'user ' || session_user),
    coalesce(actor ->> 'origin', host(inet_client_addr())),
    (actor ->> 'requestId')::uuid,
    tg_argv[0] || case tg_op when 'INSERT' then '.created' when 'UPDATE' then '.changed' else '.deleted' end,
    (subject ->> tg_argv[1])::uuid,
    (subject ->> 'guid')::uuid,
    coalesce(jsonb_object_agg(name, after -> name) filter (where after -> name is distinct from before -> name), '{}')
      || case when after ->> 'callback_url' is distinct from before ->> 'callback_url'
        then jsonb_build_object('callback_origin', substring(after ->> 'callback_url' from '^[^:]+://[^/?#]+'))
        else '{}' end
  from unnest(tg_argv[2:]) as name;
  return null;
end $$;
revoke all on function waybell.note_change() from public;`;

// Health of a subscription and the last use of a token are no changes: they cost no look at the audit log.
const TRIGGERS = `
create trigger noted_made after insert or delete on waybell.accounts for each row
  execute function waybell.note_change('account', 'guid', 'interface', 'features');
create trigger noted_changed after update on waybell.accounts for each row
  when ((old.interface, old.features) is distinct from (new.interface, new.features))
  execute function waybell.note_change('account', 'guid', 'interface', 'features');

create trigger noted_made after insert or delete on waybell.access_tokens for each row
  execute function waybell.note_change('token', 'account_guid', 'client_id', 'scopes', 'expires_at');
create trigger noted_changed after update on waybell.access_tokens for each row
  when ((old.hash, old.account_guid, old.client_id, old.scopes, old.expires_at, old.revoked_at)
    is distinct from (new.hash, new.account_guid, new.client_id, new.scopes, new.expires_at, new.revoked_at))
  execute function waybell.note_change('token', 'account_guid', 'client_id', 'scopes', 'expires_at', 'revoked_at');

create trigger noted_made after insert or delete on waybell.subscriptions for each row
  execute function waybell.note_change('subscription', 'account_guid', 'interface', 'client_id', 'action',
    'audit_field_set');
create trigger noted_changed after update on waybell.subscriptions for each row
  when ((old.generation, old.callback_url, old.audit_field_set, old.is_active, old.ended_at)
    is distinct from (new.generation, new.callback_url, new.audit_field_set, new.is_active, new.ended_at))
  execute function waybell.note_change('subscription', 'account_guid', 'generation', 'audit_field_set', 'is_active',
    'ended_at', 'deactivation_rule');`;
