import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What people call an account: shown beside its guid, and noted when it changes. */
export class AccountNames implements MigrationInterface {
  readonly name = 'AccountNames1795219200023';

  async up(database: QueryRunner): Promise<void> {
    await database.query(`
      alter table waybell.accounts add column name text check (name <> '');
      drop trigger noted_made on waybell.accounts;
      drop trigger noted_changed on waybell.accounts;
      create trigger noted_made after insert or delete on waybell.accounts for each row
        execute function waybell.note_change('account', 'guid', 'interface', 'features', 'name');
      create trigger noted_changed after update on waybell.accounts for each row
        when ((old.interface, old.features, old.name) is distinct from (new.interface, new.features, new.name))
        execute function waybell.note_change('account', 'guid', 'interface', 'features', 'name')`);
  }

  async down(database: QueryRunner): Promise<void> {
    await database.query(`
      drop trigger noted_made on waybell.accounts;
      drop trigger noted_changed on waybell.accounts;
      alter table waybell.accounts drop column name;
      create trigger noted_made after insert or delete on waybell.accounts for each row
        execute function waybell.note_change('account', 'guid', 'interface', 'features');
      create trigger noted_changed after update on waybell.accounts for each row
        when ((old.interface, old.features) is distinct from (new.interface, new.features))
        execute function waybell.note_change('account', 'guid', 'interface', 'features')`);
  }
}
