import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Notes who made, retired or deleted a signing secret, as of what else 0006 notes. Never the secret, not even sealed. */
export class AuditSigningSecrets implements MigrationInterface {
  readonly name = 'AuditSigningSecrets1795219200007';

  async up(database: QueryRunner): Promise<void> {
    await database.query(TRIGGERS);
  }

  async down(database: QueryRunner): Promise<void> {
    await database.query('drop trigger noted_made on waybell.signing_secrets');
    await database.query('drop trigger noted_changed on waybell.signing_secrets');
  }
}

// The same secret encrypted by another key is no change: it costs no look at the audit log.
const TRIGGERS = `
create trigger noted_made after insert or delete on waybell.signing_secrets for each row
  execute function waybell.note_change('signing-secret', 'account_guid', 'expires_at');
create trigger noted_changed after update on waybell.signing_secrets for each row
  when ((old.guid, old.account_guid, old.expires_at) is distinct from (new.guid, new.account_guid, new.expires_at))
  execute function waybell.note_change('signing-secret', 'account_guid', 'expires_at');`;
