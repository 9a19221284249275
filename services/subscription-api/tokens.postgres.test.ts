import { createHash, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createAccount, updateAccount } from './accounts.ts';
import { createTestDatabase, type TestDatabase } from './testing/database.ts';
import { createToken, listTokens, revokeToken } from './tokens.ts';

let store: TestDatabase;

beforeAll(async () => {
  store = await createTestDatabase();
});

afterAll(async () => {
  await store[Symbol.asyncDispose]();
});

describe('createAccount', () => {
  test('makes an account, with a guid of its own or the one given', async () => {
    const guid = randomUUID();
    const given = { interface: 'carrier', guid: guid.toUpperCase(), features: [] };
    expect(await createAccount(store.postgres, given)).toEqual({
      guid,
      interface: 'carrier',
      name: null,
      features: [],
    });
    const made = await createAccount(store.postgres, { interface: 'shipper', features: ['servicepay', 'insurance'] });
    expect(made).toMatchObject({ interface: 'shipper', features: ['insurance', 'servicepay'] });
    await expect(createAccount(store.postgres, { interface: 'shipper', guid })).rejects.toThrow('exists already');
  });

  test('takes a guid of any version, as the events do that name the account', async () => {
    const guid = '11111111-2222-0333-4444-555555555555';
    expect(await createAccount(store.postgres, { interface: 'shipper', guid })).toMatchObject({ guid });
  });

  test.each([
    [{ interface: 'broker' }, '"broker" is not an interface: it is shipper or carrier'],
    [{ interface: 'shipper', guid: '17' }, '"17" is not a guid'],
    [{ interface: 'shipper', features: ['gps'] }, '"gps" is not a feature: there are insurance and servicepay'],
  ])('refuses %j', async (account, reason) => {
    await expect(createAccount(store.postgres, account)).rejects.toThrow(reason);
  });
});

describe('updateAccount', () => {
  test('adds and removes features', async () => {
    const { guid } = await createAccount(store.postgres, { interface: 'shipper', features: ['insurance'] });
    const both = await updateAccount(store.postgres, { guid, addFeatures: ['servicepay', 'insurance'] });
    expect(both.features).toEqual(['insurance', 'servicepay']);
    const one = await updateAccount(store.postgres, { guid, removeFeatures: ['insurance'] });
    expect(one.features).toEqual(['servicepay']);
    // oxlint-disable-next-line fixtures/no-like-values -- this is refused
    const change = { guid, addFeatures: ['insurance'], removeFeatures: ['insurance'] };
    await expect(updateAccount(store.postgres, change)).rejects.toThrow('both added and removed');
  });

  test('refuses an account that does not exist', async () => {
    await expect(updateAccount(store.postgres, { guid: randomUUID() })).rejects.toThrow('there is no account');
  });
});

describe('createToken', () => {
  test('returns a token of which only the hash is kept', async () => {
    const { guid: accountGuid } = await createAccount(store.postgres, { interface: 'shipper' });
    const token = await createToken(store.postgres, { accountGuid });
    expect(token).toMatch(/^wbl_[\w-]{43}$/);
    const { rows } = await store.postgres.query('select * from waybell.access_tokens where account_guid = $1', [
      accountGuid,
    ]);
    expect(rows).toMatchObject([
      { client_id: 'default', scopes: ['webhooks:read', 'webhooks:write'], expires_at: null },
    ]);
    expect(rows[0].hash).toEqual(createHash('sha256').update(token).digest());
    expect(JSON.stringify(rows)).not.toContain(token);
  });

  test('refuses what it does not know, and says what there is', async () => {
    const { guid: accountGuid } = await createAccount(store.postgres, { interface: 'shipper' });
    const refused: [object, string][] = [
      [{ accountGuid: 'x' }, 'not a guid'],
      [{ accountGuid: randomUUID() }, 'there is no account'],
      [{ scopes: ['webhooks'] }, '"webhooks" is not a scope: there are webhooks:read, webhooks:write, admin'],
      [{ scopes: [] }, 'without a scope'],
      [{ clientId: 'a b' }, 'not a client name'],
      [{ expiresInMs: 0 }, 'expire before it begins'],
      [{ expiresInMs: 1e300 }, 'too far'],
    ];
    for (const [more, reason] of refused) {
      await expect(createToken(store.postgres, { accountGuid, ...more })).rejects.toThrow(reason);
    }
  });
});

describe('revokeToken', () => {
  test('ends a token, named by itself or by its guid, once and for all', async () => {
    const { guid: accountGuid } = await createAccount(store.postgres, { interface: 'shipper' });
    const token = await createToken(store.postgres, { accountGuid, clientId: 'one', expiresInMs: 60_000 });
    await createToken(store.postgres, { accountGuid, clientId: 'two', scopes: ['admin'] });
    await revokeToken(store.postgres, token);
    const [one, two] = await listTokens(store.postgres, accountGuid);
    expect([one?.revoked_at, two?.revoked_at]).toEqual([expect.any(Date), null]);
    await revokeToken(store.postgres, two?.guid ?? '');
    await revokeToken(store.postgres, token);
    const [again, other] = await listTokens(store.postgres, accountGuid);
    expect([again?.revoked_at, other?.revoked_at]).toEqual([one?.revoked_at, expect.any(Date)]);
  });

  test('refuses a token that does not exist', async () => {
    await expect(revokeToken(store.postgres, 'wbl_x')).rejects.toThrow('no such token');
    await expect(revokeToken(store.postgres, randomUUID())).rejects.toThrow('no such token');
  });
});
