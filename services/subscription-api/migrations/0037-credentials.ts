import type { MigrationInterface, QueryRunner } from 'typeorm';
import { NOTE_CHANGE } from './0006-audit-log.ts';

/** What a client's callbacks to a host authenticate with there. And the audit log tells of what was deleted what it was. */
export class Credentials implements MigrationInterface {
  readonly name = 'Credentials1796169600037';

  async up(database: QueryRunner): Promise<void> {
    await database.query(CREDENTIALS);
    await database.query(TARGETS);
    await database.query(NOTE_DELETED);
    await database.query(NOTED);
    await database.query(NOTICES);
  }

  async down(database: QueryRunner): Promise<void> {
    await database.query(`
delete from waybell.notices where kind = 'certificate.ending';
alter table waybell.notices drop column host, drop column ends_at;
drop view waybell.delivery_targets;
${TARGETS_BEFORE};
drop function waybell.authority_of(text);
drop table waybell.credentials;
${NOTE_CHANGE_BEFORE}`);
  }
}

const CREDENTIALS = `
create table waybell.credentials (
  -- Another with each change: what a process knows of a guid stays true.
  guid uuid primary key,
  account_guid uuid not null references waybell.accounts on delete cascade,
  client_id text not null,
  -- And port, where it is not that of the scheme.
  host text not null,
  kinds text[] not null,
  -- What is told of them: no secret.
  shown jsonb not null,
  sealed bytea not null,
  key_id text not null,
  certificate_ends_at timestamptz,
  -- The end of a certificate that the platform was told of: another is told anew.
  ending_told timestamptz,
  changed_at timestamptz not null default clock_timestamp(),
  unique (account_guid, client_id, host)
);
create index credentials_ending on waybell.credentials (certificate_ends_at) where certificate_ends_at is not null;
create index credentials_untold on waybell.credentials (certificate_ends_at)
  where certificate_ends_at is not null and ending_told is distinct from certificate_ends_at;
grant select (guid, sealed, key_id) on waybell.credentials to waybell_deliverer;

-- Host and port of a callback URL, which is stored as it was parsed.
create function waybell.authority_of(callback_url text) returns text
language sql immutable parallel safe
return substring(callback_url from '^[^/]*//([^/?]*)');
revoke all on function waybell.authority_of(text) from public;
grant execute on function waybell.authority_of(text) to waybell_deliverer`;

const TARGETS_BEFORE = `
create or replace view waybell.delivery_targets as
select s.guid as subscription_guid, s.generation,
  case when s.ended_at is not null then 'ended' when s.is_active then 'active' else 'deactivated' end as state,
  (waybell.needed_feature(s.interface, s.action) is null
   or waybell.needed_feature(s.interface, s.action) = any (a.features)) as feature_on,
  s.interface, s.action, s.account_guid, s.callback_url, s.verification_token_sealed, s.verification_token_key_id,
  s.failing_since is not null or s.last_success_at is null or s.last_success_at < now() - interval '1 hour'
    as tells_success, s.client_id,
  h.held, case h.held when 'paused' then s.paused_until end as held_until, s.ended_reason
from waybell.subscriptions s join waybell.accounts a on a.guid = s.account_guid
cross join lateral (select case
  when s.ended_at is not null then null
  when s.stopped_at is not null or exists (select from waybell.stopped_hosts)
    and waybell.host_of(s.callback_url) in (select host from waybell.stopped_hosts) then 'stopped'
  when s.is_active and s.paused_until > now() then 'paused' end as held) h;
grant select on waybell.delivery_targets to waybell_deliverer`;

/** A listener's client has none. */
const TARGETS = TARGETS_BEFORE.replace(
  's.ended_reason\n',
  `s.ended_reason,
  (select c.guid from waybell.credentials c
   where (c.account_guid, c.client_id, c.host) = (s.account_guid, s.client_id, waybell.authority_of(s.callback_url)))
    as credentials_guid\n`,
);

/** As 0017 has it. */
const NOTE_CHANGE_BEFORE = NOTE_CHANGE.replace('create function', 'create or replace function').replace(
  "actor jsonb := nullif(current_setting('waybell.actor', true), '')::jsonb;",
  `actor jsonb := case
    when pg_has_role(coalesce(nullif(current_setting('role'), 'none'), session_user), current_user, 'member')
    then nullif(current_setting('waybell.actor', true), '')::jsonb end;`,
);

const NOTE_DELETED = NOTE_CHANGE_BEFORE.replace('(name, after -> name)', '(name, subject -> name)');

/** Which kinds there are, and for which host. A change takes one row away and makes another; what is encrypted anew is none. */
const NOTED = `
create trigger noted_made after insert or delete on waybell.credentials for each row
  execute function waybell.note_change('credentials', 'account_guid', 'client_id', 'host', 'kinds', 'certificate_ends_at')`;

/** Of a certificate: the host that it is for, and when it ends. */
const NOTICES = `
alter table waybell.notices add column host text, add column ends_at timestamptz`;
