import { describe, expect, test } from '@jest/globals';
import { until } from '@waybell/runtime/testing/until';
import { shared } from '@waybell/runtime/testing/shared';
import pg from 'pg';
import { createPublisher } from './publisher.ts';
import { createRelay } from './relay.ts';
import { put, startOutboxStand } from './testing/outbox-stand.ts';

const stand = shared(() => startOutboxStand());

describe('the transaction of a relay', () => {
  test('is the same whatever the role has by default, and ends where the relay stands still', async () => {
    await stand.postgres.query(`create table seen as select '' as isolation, '' as read_only, '' as idle limit 0;
      create function see() returns trigger language plpgsql as $$ begin
        insert into seen select current_setting('transaction_isolation'), current_setting('transaction_read_only'),
          current_setting('idle_in_transaction_session_timeout');
        return old;
      end $$;
      create trigger see before delete on waybell_outbox for each row execute function see()`);
    const defaults = {
      default_transaction_isolation: 'serializable',
      default_transaction_read_only: 'on',
      idle_in_transaction_session_timeout: '1ms',
    };
    const options = Object.entries(defaults).map(([name, value]) => `-c ${name}=${value}`);
    const pool = new pg.Pool({ connectionString: stand.url, options: options.join(' ') });
    const publisher = createPublisher({ url: stand.broker.url });
    const relay = createRelay({ pool, publisher });
    await put(stand.postgres);
    await until('it is published', () => relay.figures().published > 0);
    const { rows } = await stand.postgres.query('table seen');
    expect(rows).toEqual([{ isolation: 'read committed', read_only: 'off', idle: '15s' }]);
    await relay.close();
    await publisher.close();
    await pool.end();
  });
});
