import { createHash, randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { listenerClient } from '@waybell/delivery-log/listener-client';
import { inTransaction, type Queryable } from '@waybell/runtime/postgres';
import { until } from '@waybell/runtime/testing/until';
import { createAccount, updateAccount } from './accounts.ts';
import { SET_ACTOR } from './actor.ts';
import { closeAccount, openAccount } from './close-account.ts';
import { createConsoleLink } from './console-links.ts';
import { isOfClosedAccount } from './refusal.ts';
import { subscribeIn } from './subscriptions.ts';
import { keyRing } from './testing/api.ts';
import { createTestDatabase } from '@waybell/runtime/testing/database';
import { shared } from '@waybell/runtime/testing/shared';
import { createToken, listTokens, revokeToken } from './tokens.ts';

const store = shared(() => createTestDatabase());

describe('createAccount', () => {
  test('makes an account, with a guid of its own or the one given', async () => {
    const guid = randomUUID();
    const given = { interface: 'carrier', guid: guid.toUpperCase(), features: [] };
    expect(await createAccount(store.postgres, given)).toEqual({
      guid,
      interface: 'carrier',
      name: null,
      features: [],
      closed_at: null,
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

  test('says what goes on once the last of a client, or of an account, has ended', async () => {
    const { account, client, token } = await aSubscriber();
    const more = await createToken(store.postgres, { accountGuid: account });
    expect(await revokeToken(store.postgres, more)).toBeUndefined();
    await createToken(store.postgres, { accountGuid: account, clientId: 'gone', expiresInMs: 1 });
    const other = await createToken(store.postgres, { accountGuid: account, clientId: 'other' });
    const goingOn = { account, client: 'default', subscriptions: 2 };
    expect(await revokeToken(store.postgres, token)).toEqual({ ...goingOn, ofAccount: 0 });
    expect(await revokeToken(store.postgres, other)).toEqual({
      account,
      client: 'other',
      subscriptions: 0,
      ofAccount: 2,
    });
    expect(await revokeToken(store.postgres, token)).toEqual({ ...goingOn, ofAccount: 2 });
    await inTransaction(store.postgres, (postgres) => client.end(postgres));
    expect(await revokeToken(store.postgres, token)).toBeUndefined();
  });

  test('refuses a token that does not exist', async () => {
    await expect(revokeToken(store.postgres, 'wbl_x')).rejects.toThrow('no such token');
    await expect(revokeToken(store.postgres, randomUUID())).rejects.toThrow('no such token');
  });
});

const ACTIONS = ['order.created', 'order.cancelled'];

/** A client of a new account with two subscriptions, a listener with one, credentials, a secret, a link and a token. */
async function aSubscriber() {
  const { guid: account } = await createAccount(store.postgres, { interface: 'carrier' });
  const client = { interface: 'carrier', accountGuid: account, clientId: 'default' } as const;
  const subscribe = (postgres: Queryable, action: string, clientId = 'default') =>
    subscribeIn(
      postgres,
      { ...client, clientId },
      { action, callbackUrl: 'https://a.test/', auditFieldSet: null },
      keyRing,
    );
  for (const action of ACTIONS) await subscribe(store.postgres, action);
  const listener = listenerClient('default', 'laptop');
  await subscribe(store.postgres, 'order.created', listener);
  await store.postgres.query(
    `insert into waybell.listeners (guid, interface, account_guid, client_id, alive_until) values ($1, 'carrier', $2, $3, now())`,
    [randomUUID(), account, listener],
  );
  await store.postgres.query(
    `insert into waybell.credentials (guid, account_guid, client_id, host, kinds, shown, sealed, key_id)
     values ($1, $2, 'default', 'a.test', '{}', '{}', '', 'test')`,
    [randomUUID(), account],
  );
  await createConsoleLink(store.postgres, { accountGuid: account });
  const token = await createToken(store.postgres, { accountGuid: account });
  const end = (postgres: Queryable) => closeAccount(postgres, { account, isDry: false });
  return { account, token, client: { subscribe, end } };
}

/** How much of an account goes on. */
async function left(account: string) {
  const { rows } = await store.postgres.query(
    `select (select count(*)::int from waybell.subscriptions where account_guid = $1 and ended_at is null) as subscriptions,
       (select count(*)::int from waybell.listeners where account_guid = $1 and ended_at is null) as listeners,
       (select count(*)::int from waybell.access_tokens where account_guid = $1 and revoked_at is null) as tokens,
       (select count(*)::int from waybell.credentials where account_guid = $1) as credentials,
       (select count(*)::int from waybell.signing_secrets where account_guid = $1) as secrets`,
    [account],
  );
  return rows[0];
}

describe('closeAccount', () => {
  const nothing = { subscriptions: 0, listeners: 0, tokens: 0, credentials: 0, secrets: 0 };
  const close = (account: string, isDry = false) =>
    inTransaction(store.postgres, (postgres) => closeAccount(postgres, { account, isDry }));

  test('says what would end, ends all of it, once, and lets nothing new begin until it is open again', async () => {
    const { account, client } = await aSubscriber();
    const ends = { subscriptions: 2, waiting: 0, tokens: 1, console_links: 1, credentials: 1, listeners: 1 };
    expect(await close(account, true)).toMatchObject({ ...ends, signing_secrets: 2, account: { closed_at: null } });
    expect(await left(account)).toMatchObject({ subscriptions: 3, tokens: 2 });
    const closed = await close(account);
    expect(closed).toMatchObject({ ...ends, account: { closed_at: expect.any(Date) } });
    expect(await left(account)).toEqual(nothing);
    const { rows } = await store.postgres.query(
      'select distinct ended_reason, is_active from waybell.subscriptions where account_guid = $1',
      [account],
    );
    expect(rows).toEqual([{ ended_reason: 'closed', is_active: false }]);
    const again = await close(account);
    expect(again).toMatchObject({ subscriptions: 0, tokens: 0, account: closed.account });

    for (const make of [
      () => client.subscribe(store.postgres, 'order.created'),
      () => createToken(store.postgres, { accountGuid: account }),
      () => createConsoleLink(store.postgres, { accountGuid: account }),
    ])
      await expect(make()).rejects.toThrow(`account ${account} is closed`);
    expect(await openAccount(store.postgres, account)).toMatchObject({ closed_at: null });
    await openAccount(store.postgres, account);
    expect(await left(account)).toEqual(nothing);
    await client.subscribe(store.postgres, 'order.created');
    await createToken(store.postgres, { accountGuid: account });
    expect(await left(account)).toMatchObject({ subscriptions: 1, tokens: 1 });
  });

  test('leaves nothing that was subscribed at the same time', async () => {
    const { account, client } = await aSubscriber();
    const wanted = Array.from({ length: 24 }, (_, place) => `action ${place % 8}`);
    const subscribing = wanted.map(
      (action, place) => () =>
        inTransaction(store.postgres, (postgres) => client.subscribe(postgres, action, `client ${place}`)),
    );
    const all = [...subscribing.slice(0, 12), () => close(account), ...subscribing.slice(12)];
    const ended = await Promise.allSettled(all.map((work) => work()));
    const refused = ended.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []));
    expect(refused.filter((error) => !isOfClosedAccount(error))).toEqual([]);
    expect(await left(account)).toEqual(nothing);
  });

  test('waits for a subscribing that is under way, and ends it', async () => {
    const { account, client } = await aSubscriber();
    const closing = await inTransaction(store.postgres, async (postgres) => {
      await client.subscribe(postgres, 'order.updated');
      const waits = close(account);
      await until('it waits', async () => {
        const blocked = `select from pg_stat_activity where wait_event_type = 'Lock' and query like '%for update' and datname = $1`;
        return (await store.postgres.query(blocked, [store.name])).rowCount === 1;
      });
      return { waits };
    });
    expect(await closing.waits).toMatchObject({ subscriptions: 3 });
    expect(await left(account)).toEqual(nothing);
  });

  test('is in the audit log, with what it ended and who did it, for good', async () => {
    const { account, client } = await aSubscriber();
    await inTransaction(store.postgres, async (postgres) => {
      await postgres.query(SET_ACTOR, [JSON.stringify({ who: 'token x', origin: 'o', requestId: null })]);
      await client.end(postgres);
    });
    const { rows } = await store.postgres.query(
      `select what, count(*)::int from waybell.audit_log where account_guid = $1 and who = 'token x' group by what order by what`,
      [account],
    );
    expect(rows).toEqual([
      { what: 'account.changed', count: 1 },
      { what: 'credentials.deleted', count: 1 },
      { what: 'signing-secret.deleted', count: 2 },
      { what: 'subscription.changed', count: 3 },
      { what: 'token.changed', count: 2 },
    ]);
  });
});
