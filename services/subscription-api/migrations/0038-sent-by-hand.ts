import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The audit log has who asked for what is sent by hand: replays, their ends, resends and tests. What a replay sends is not noted one by one. */
export class SentByHand implements MigrationInterface {
  readonly name = 'SentByHand1796256000038';

  async up(database: QueryRunner): Promise<void> {
    await database.query(NOTED);
  }

  async down(database: QueryRunner): Promise<void> {
    await database.query(`
drop trigger noted_made on delivery_log.replays;
drop trigger noted_changed on delivery_log.replays;
drop trigger noted_resend on delivery_log.sendings;
drop trigger noted_test on delivery_log.sendings`);
  }
}

const NOTED = `
create trigger noted_made after insert on delivery_log.replays for each row
  execute function waybell.note_change('replay', 'account', 'client', 'action', 'since', 'until', 'include_suppressed', 'per_second');
create trigger noted_changed after update on delivery_log.replays for each row
  when (old.cancelled_at is distinct from new.cancelled_at)
  execute function waybell.note_change('replay', 'account', 'cancelled_at');
create trigger noted_resend after insert on delivery_log.sendings for each row
  when (new.why = 'resend' and new.replay is null)
  execute function waybell.note_change('resend', 'account', 'client', 'action', 'delivery', 'subscription');
create trigger noted_test after insert on delivery_log.sendings for each row
  when (new.why = 'test' and not new.is_retried)
  execute function waybell.note_change('test', 'account', 'client', 'action', 'delivery', 'subscription')`;
