import type { MigrationInterface, QueryRunner } from 'typeorm';

/** A delivery may wait for our own way out, too. */
export class ParkedEgress implements MigrationInterface {
  readonly name = 'ParkedEgress1795219200015';

  async up(database: QueryRunner): Promise<void> {
    await database.query(allow('full', 'hung', 'blocked', 'egress'));
  }

  async down(database: QueryRunner): Promise<void> {
    await database.query(`update waybell.parked set why = 'hung' where why = 'egress'`);
    await database.query(allow('full', 'hung', 'blocked'));
  }
}

/** Not valid: what is there was checked before, and to read it all again would hold up the deliverers. */
function allow(...whys: string[]): string {
  return `
alter table waybell.parked drop constraint parked_why_check;
alter table waybell.parked add constraint parked_why_check check (why in (${whys.map((why) => `'${why}'`).join(', ')})) not valid`;
}
