import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What a rule is to switch off is due first, and held where so many are at once that the fault may be ours. */
export class DueDeactivations implements MigrationInterface {
  readonly name = 'DueDeactivations1795651200030';

  async up(database: QueryRunner): Promise<void> {
    await database.query(DUE);
  }

  async down(database: QueryRunner): Promise<void> {
    await database.query('drop table waybell.due_deactivations');
  }
}

/** What is done with it stands beside the rules, in `services/deactivator`. */
const DUE = `
create table waybell.due_deactivations (
  subscription uuid primary key,
  generation int not null,
  rule text not null,
  delivery uuid,
  -- When that delivery ended, and when the rule was found to apply for it.
  ended_at timestamptz not null,
  due_at timestamptz not null,
  -- Since when it is held, and when it was seen in a surge last; null where it never was.
  held_at timestamptz,
  surge_at timestamptz,
  -- It went off before the surge was seen, and was off until it was held.
  off_from timestamptz,
  -- An operator says that it is to go off.
  is_released boolean not null default false
)`;
