import type { MigrationInterface, QueryRunner } from 'typeorm';

/** A delivery may wait because its endpoint said that it was too much, too. */
export class ParkedBusy implements MigrationInterface {
  readonly name = 'ParkedBusy1795651200031';

  async up(database: QueryRunner): Promise<void> {
    await database.query(allow('full', 'hung', 'busy', 'egress'));
  }

  async down(database: QueryRunner): Promise<void> {
    await database.query(`update waybell.parked set why = 'full' where why = 'busy'`);
    await database.query(allow('full', 'hung', 'egress'));
  }
}

/** Not valid: what is there was checked before, and to read it all again would hold up the deliverers. */
function allow(...whys: string[]): string {
  return `
alter table waybell.parked drop constraint parked_why_check;
alter table waybell.parked add constraint parked_why_check check (why in (${whys.map((why) => `'${why}'`).join(', ')})) not valid`;
}
