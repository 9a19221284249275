import type { MigrationInterface, QueryRunner } from 'typeorm';

/** When an operator closed an account. Nothing is made for it from then on, by whichever way, until it is opened again. */
export class ClosedAccounts implements MigrationInterface {
  readonly name = 'ClosedAccounts1796342400040';

  async up(database: QueryRunner): Promise<void> {
    await database.query('alter table waybell.accounts add column closed_at timestamptz');
    await database.query(noted(', closed_at', `, 'closed_at'`));
    await database.query(OPEN_ONLY);
  }

  async down(database: QueryRunner): Promise<void> {
    for (const table of TABLES) await database.query(`drop trigger of_open_account on waybell.${table}`);
    await database.query('drop function waybell.require_open_account()');
    await database.query(noted('', ''));
    await database.query('alter table waybell.accounts drop column closed_at');
  }
}

const noted = (columns: string, names: string): string => {
  const all = (row: string) =>
    ['interface', 'features', 'name', ...columns.split(', ').slice(1)].map((each) => `${row}.${each}`);
  return `
drop trigger noted_changed on waybell.accounts;
create trigger noted_changed after update on waybell.accounts for each row
  when ((${all('old').join(', ')}) is distinct from (${all('new').join(', ')}))
  execute function waybell.note_change('account', 'guid', 'interface', 'features', 'name'${names})`;
};

const TABLES = ['subscriptions', 'access_tokens', 'signing_secrets', 'credentials', 'listeners'];

/** The lock waits for a closing that is under way, which locks the row for update; what was made before it, it ends. */
const OPEN_ONLY = `
create function waybell.require_open_account() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  perform from waybell.accounts where guid = new.account_guid for key share;
  if exists (select from waybell.accounts where guid = new.account_guid and closed_at is not null) then
    raise exception 'account % is closed: "./waybell account open %" opens it again', new.account_guid, new.account_guid
      using errcode = 'WB001';
  end if;
  return new;
end $$;
revoke all on function waybell.require_open_account() from public;
${TABLES.map(
  (table) => `
create trigger of_open_account before insert on waybell.${table} for each row
  execute function waybell.require_open_account()`,
).join(';')}`;
