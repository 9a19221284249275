import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Links that open the console for a client, once. A link is an access token that nothing can be asked with until it is opened: its
 * hash is that of the link's code till then.
 */
export class ConsoleLinks implements MigrationInterface {
  readonly name = 'ConsoleLinks1796256000039';

  async up(database: QueryRunner): Promise<void> {
    await database.query(LINKS);
    await database.query(TRIGGERS);
  }

  async down(database: QueryRunner): Promise<void> {
    await database.query(`
drop trigger noted_link on waybell.access_tokens;
drop trigger noted_opened on waybell.access_tokens;
drop trigger noted_deleted on waybell.access_tokens;
drop trigger noted_made on waybell.access_tokens;
drop trigger noted_changed on waybell.access_tokens;
delete from waybell.access_tokens where link_made_by is not null;
alter table waybell.access_tokens drop column link_made_by, drop column link_opened_at, drop column link_token_life;
create trigger noted_made after insert or delete on waybell.access_tokens for each row
  execute function waybell.note_change('token', 'account_guid', 'client_id', 'scopes', 'expires_at');
create trigger noted_changed after update on waybell.access_tokens for each row
  when (${CHANGED})
  execute function waybell.note_change('token', 'account_guid', 'client_id', 'scopes', 'expires_at', 'revoked_at')`);
  }
}

const CHANGED = `(old.hash, old.account_guid, old.client_id, old.scopes, old.expires_at, old.revoked_at)
    is distinct from (new.hash, new.account_guid, new.client_id, new.scopes, new.expires_at, new.revoked_at)`;

const LINKS = `
alter table waybell.access_tokens
  -- As the audit log has it: its name for the opening too. Null of tokens that no link was made for.
  add column link_made_by text,
  add column link_opened_at timestamptz,
  -- Of the token, from the opening on. Until then, expires_at is the end of the link.
  add column link_token_life interval`;

/** What was deleted after its end is not noted: a platform makes a link for each visit. */
const TRIGGERS = `
drop trigger noted_made on waybell.access_tokens;
drop trigger noted_changed on waybell.access_tokens;
create trigger noted_made after insert on waybell.access_tokens for each row when (new.link_made_by is null)
  execute function waybell.note_change('token', 'account_guid', 'client_id', 'scopes', 'expires_at');
create trigger noted_link after insert on waybell.access_tokens for each row when (new.link_made_by is not null)
  execute function waybell.note_change('console-link', 'account_guid', 'client_id', 'scopes', 'expires_at');
create trigger noted_opened after update on waybell.access_tokens for each row
  when (old.link_opened_at is distinct from new.link_opened_at)
  execute function waybell.note_change('console-link', 'account_guid', 'link_opened_at', 'expires_at');
create trigger noted_changed after update on waybell.access_tokens for each row
  when (old.link_opened_at is not distinct from new.link_opened_at and ${CHANGED})
  execute function waybell.note_change('token', 'account_guid', 'client_id', 'scopes', 'expires_at', 'revoked_at');
create trigger noted_deleted after delete on waybell.access_tokens for each row
  when (old.link_made_by is null or old.expires_at > now())
  execute function waybell.note_change('token', 'account_guid', 'client_id', 'scopes', 'expires_at')`;
