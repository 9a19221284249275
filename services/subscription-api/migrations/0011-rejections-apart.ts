import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Two deliveries of one event can be rejected in the same millisecond: each is a row of its own. What is there already is
 * indexed anew: until that is done the log can be read, and what it is to write down waits in its queue.
 */
export class RejectionsApart implements MigrationInterface {
  readonly name = 'RejectionsApart1795219200011';

  async up(database: QueryRunner): Promise<void> {
    await database.query(APART);
  }

  async down(database: QueryRunner): Promise<void> {
    await database.query(TOGETHER);
  }
}

// First the index, for the time that takes; only then what keeps readers out.
const APART = `
create unique index events_once on delivery_log.events
  (event, at, interface, action, coalesce(rejected_delivery, event));
alter table delivery_log.events drop constraint events_pkey`;

const TOGETHER = `
delete from delivery_log.events later using delivery_log.events first
where (later.event, later.at, later.interface, later.action) = (first.event, first.at, first.interface, first.action)
  and coalesce(later.rejected_delivery, later.event) > coalesce(first.rejected_delivery, first.event);
alter table delivery_log.events add primary key (event, at, interface, action);
drop index delivery_log.events_once`;
