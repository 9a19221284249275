import { describe, expect, test } from '@jest/globals';
import { createAccount } from '@waybell/subscription-api/accounts';
import { createTestDatabase } from '@waybell/runtime/testing/database';
import { withDatabase } from './with-database.ts';

describe('withDatabase', () => {
  test('tells the audit log that a command changed something, and whose', async () => {
    await using store = await createTestDatabase();
    await withDatabase({ DATABASE_URL: store.url }, (postgres) => createAccount(postgres, { interface: 'shipper' }));
    const { rows } = await store.postgres.query('select who, origin, what from waybell.audit_log');
    expect(rows).toEqual([{ who: 'command line', origin: expect.stringMatching(/.@./), what: 'account.created' }]);
  });
});
