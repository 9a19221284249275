import { describe, expect, test } from '@jest/globals';
import { until } from '@waybell/runtime/testing/until';
import { createAccount } from './accounts.ts';
import { openDatabase } from './database.ts';
import { startPruning } from './audit-log.ts';
import { createTestDatabase } from '@waybell/runtime/testing/database';
import { PATIENT_MS, silentLog as log } from '@waybell/runtime/testing/patience';

const DAY_MS = 86_400_000;

describe('startPruning', () => {
  test('forgets what is older than is kept, however much it is, and nothing else', async () => {
    await using store = await createTestDatabase();
    await using database = openDatabase({ url: store.url, role: '', poolSize: 1, timeoutMs: PATIENT_MS, log });
    const { guid } = await createAccount(store.postgres, { interface: 'shipper' });
    await store.postgres.query(
      `insert into waybell.audit_log (at, who, what, account_guid, subject_guid, details)
       select now() - age * interval '1 day', 'x', age::text, $1, $1, '{}' from unnest(array[9, 11, 12, 13, 14]) age`,
      [guid],
    );
    const kept = async () =>
      (await store.postgres.query('select what from waybell.audit_log order by id')).rows.map(({ what }) => what);
    // From the first moment, when there is no connection yet.
    await using _pruning = startPruning({ database, retentionMs: 10 * DAY_MS, log, intervalMs: 10, rowsAtOnce: 2 });
    await until('the old ones have gone', async () => (await kept()).length === 2);
    expect(await kept()).toEqual(['account.created', '9']);
  });
});
