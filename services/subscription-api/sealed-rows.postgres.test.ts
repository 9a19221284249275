import { randomBytes } from 'node:crypto';
import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { readCredentials } from '@waybell/notifications/receiver-credentials';
import type { Queryable } from '@waybell/runtime/postgres';
import { readKeyRing, type KeyRing } from '@waybell/runtime/secrets';
import { until } from '@waybell/runtime/testing/until';
import { createAccount } from './accounts.ts';
import { openDatabase } from './database.ts';
import { replaceSecrets, rotateSecrets, SEALED_COLUMNS } from './sealed-rows.ts';
import { keepCredentials } from './receiver-credentials.ts';
import { keepSigningSecrets } from './signing-secrets.ts';
import { keepSubscriptions } from './subscriptions.ts';
import { createTestDatabase } from '@waybell/runtime/testing/database';
import { shared } from '@waybell/runtime/testing/shared';
import { PATIENT_MS, silentLog as log } from '@waybell/runtime/testing/patience';

const [older, newer] = ['older', 'newer'].map((id) => `${id}:${randomBytes(32).toString('base64')}`);
const before = readKeyRing(`${older},${newer}`);
const during = readKeyRing(`${newer},${older}`);
const after = readKeyRing(`${newer}`);
const actor = { who: 'test', origin: 'test', requestId: null };
const wanted = { callbackUrl: 'https://a.test', auditFieldSet: null };

const store = shared(() => createTestDatabase());
const database = shared(() => openDatabase({ url: store.url, role: '', poolSize: 8, timeoutMs: PATIENT_MS, log }));
beforeAll(async () => {
  await until('the database is there', () => database.waitingFor().length === 0);
});

beforeEach(() => store.postgres.query('truncate waybell.accounts cascade'));

/** A client with so many subscriptions, as a replica of the API with these keys serves it. */
async function aClient(keyRing: KeyRing, actions: number) {
  const { guid: accountGuid } = await createAccount(store.postgres, { interface: 'shipper' });
  const client = { interface: 'shipper' as const, accountGuid, clientId: 'default', actor };
  const subscriptions = keepSubscriptions({ database, keyRing });
  const secrets = keepSigningSecrets({ database, keyRing, overlapMs: 60_000 });
  const subscribe = (action: number) =>
    subscriptions.subscribeOrReplace(client, { ...wanted, action: `action.${action}` });
  for (let action = 0; action < actions; action += 1) await subscribe(action);
  return {
    accountGuid,
    subscribe,
    putCredentials: (host: string) =>
      keepCredentials({ database, keyRing }).put(client, {
        host,
        credentials: { headers: { host } },
        shown: { headers: ['host'] },
      }),
    /** Returns its credentials, as these keys open them. */
    async credentials(keys: KeyRing) {
      const { rows } = await store.postgres.query(
        'select * from waybell.credentials where account_guid = $1 order by host',
        [accountGuid],
      );
      return rows.map(({ guid, sealed, key_id: keyId }) => readCredentials(keys.openAfresh({ sealed, keyId }, guid)));
    },
    end: (action: number) => subscriptions.end(client, `action.${action}`),
    rotate: () => secrets.rotate(client, { endsEarlier: true }),
    /** Returns its receivers' secrets, as these keys open them. */
    async known(keys: KeyRing) {
      const kept = keepSubscriptions({ database, keyRing: keys });
      const tokens = (await kept.list(client)).map((each) => [each.action, kept.verificationToken(each)]);
      const signing = await keepSigningSecrets({ database, keyRing: keys, overlapMs: 0 }).list({
        accountGuid,
        clientId: 'default',
        actor,
      });
      return { tokens, signing: signing.map(({ secret }) => secret) };
    },
  };
}

/** While somebody else has the subscriptions of an action locked. */
async function locked<T>(action: string, work: () => Promise<T>): Promise<T> {
  const holder = await store.postgres.connect();
  try {
    await holder.query('begin');
    await holder.query('select from waybell.subscriptions where action = $1 for no key update', [action]);
    const done = await work();
    // Before the connection is closed: Postgres notices that later.
    await holder.query('rollback');
    return done;
  } finally {
    holder.release(true);
  }
}

describe('rotateSecrets', () => {
  test('puts every secret under the newest key, and changes none', async () => {
    const client = await aClient(before, 7);
    await client.rotate();
    await client.end(3);
    for (const host of ['a.test', 'b.test', 'c.test']) await client.putCredentials(host);
    const known = await client.known(before);
    const guids = async () => (await store.postgres.query('select guid from waybell.credentials order by host')).rows;
    const guidsBefore = await guids();
    expect(await rotateSecrets(store.postgres, { keyRing: during, batchSize: 2 })).toEqual({
      rotated: 12,
      unopened: [],
      inUse: new Map([
        ['newer', 12],
        ['older', 0],
      ]),
    });
    expect(await client.known(after)).toEqual(known);
    expect(await client.credentials(after)).toEqual(
      ['a.test', 'b.test', 'c.test'].map((host) => ({ headers: { host } })),
    );
    // Deliverers' caches by guid stay valid.
    expect(await guids()).toEqual(guidsBefore);
    expect(await rotateSecrets(store.postgres, { keyRing: during })).toMatchObject({ rotated: 0 });
  });

  test('goes on beside clients that subscribe, end and rotate, replicas that have the old keys still, and itself', async () => {
    const clients = await Promise.all([1, 2, 3, 4].map((place) => aClient(place > 2 ? during : before, 25)));
    let isOver = false;
    const changing = clients.map(async (client) => {
      let round = 0;
      for (; !isOver || round < 5; round += 1) {
        const changed = [client.end(round % 25), client.subscribe((round + 7) % 25), client.rotate()];
        await Promise.all([...changed, client.putCredentials(`h${round % 3}.test`)]);
      }
    });
    const rotations = [2, 3].map((batchSize) => rotateSecrets(store.postgres, { keyRing: during, batchSize }));
    expect((await Promise.all(rotations)).flatMap(({ unopened }) => unopened)).toEqual([]);
    isOver = true;
    await Promise.all(changing);
    const known = await Promise.all(clients.map((client) => client.known(during)));
    const { inUse } = await rotateSecrets(store.postgres, { keyRing: during });
    expect(inUse.get('older')).toBe(0);
    expect(await Promise.all(clients.map((client) => client.known(after)))).toEqual(known);
    for (const client of clients) expect(await client.credentials(after)).toHaveLength(3);
  });

  test('does not overwrite what another process wrote since it was read', async () => {
    await aClient(before, 1);
    const theirs = Buffer.from('written meanwhile');
    let isWritten = false;
    const others: Queryable = {
      // The result is the same; the overloads of pg cannot be expressed here.
      query: (async (sql: string, values: unknown[]) => {
        const result = await store.postgres.query(sql, values);
        if (!isWritten)
          await store.postgres.query('update waybell.subscriptions set verification_token_sealed = $1', [theirs]);
        isWritten = true;
        return result;
      }) as Queryable['query'],
    };
    const { inUse } = await rotateSecrets(others, { keyRing: during });
    const { rows } = await store.postgres.query(
      'select verification_token_sealed as sealed from waybell.subscriptions',
    );
    expect(rows).toEqual([{ sealed: theirs }]);
    expect([...inUse]).toEqual([
      ['newer', 1],
      ['older', 1],
    ]);
  });

  test('waits for no locked row, and leaves no trace in the audit log', async () => {
    await (await aClient(before, 2)).putCredentials('a.test');
    const noted = async () => (await store.postgres.query('select count(*)::int as rows from waybell.audit_log')).rows;
    const notedBefore = await noted();
    const { inUse } = await locked('action.0', () => rotateSecrets(store.postgres, { keyRing: during }));
    expect(inUse.get('older')).toBe(1);
    expect((await rotateSecrets(store.postgres, { keyRing: during })).inUse.get('older')).toBe(0);
    expect(await noted()).toEqual(notedBefore);
  });

  test('leaves what its key does not open, and names its row', async () => {
    await aClient(before, 3);
    const { rows } = await store.postgres.query(
      `update waybell.subscriptions set verification_token_sealed = '\\x00' where action = 'action.1' returning guid`,
    );
    const { rotated, unopened } = await rotateSecrets(store.postgres, { keyRing: during, batchSize: 1 });
    expect([rotated, unopened]).toEqual([3, [rows[0].guid]]);
  });

  test('names keys that are in use and not in the ring', async () => {
    await aClient(before, 1);
    const { rotated, inUse } = await rotateSecrets(store.postgres, { keyRing: after });
    expect([rotated, ...inUse]).toEqual([0, ['newer', 0], ['older', 2]]);
  });

  test('knows every table that has secrets at rest', async () => {
    const { rows } = await store.postgres.query(
      `select table_name as table, column_name as "keyId" from information_schema.columns join information_schema.tables
         using (table_schema, table_name)
       where table_schema = 'waybell' and table_type = 'BASE TABLE' and column_name like '%key_id'`,
    );
    expect(SEALED_COLUMNS).toHaveLength(rows.length);
    expect(SEALED_COLUMNS).toEqual(expect.arrayContaining(rows.map((row) => expect.objectContaining(row))));
  });
});

describe('replaceSecrets', () => {
  const lost = async () => (await rotateSecrets(store.postgres, { keyRing: after })).inUse.get('older');
  const noted = async () =>
    (await store.postgres.query(`select what from waybell.audit_log where details ? 'secret' order by id`)).rows;

  test('makes again what no key opens, says whose it is, and leaves the rest', async () => {
    const well = await aClient(after, 2);
    const client = await aClient(before, 3);
    await client.end(2);
    await store.postgres.query(
      `update waybell.subscriptions set verification_token_sealed = '\\x00', verification_token_key_id = 'newer'
       where action = 'action.1' and verification_token_key_id = 'older'`,
    );
    const known = await well.known(after);
    const { replaced, left } = await replaceSecrets(store.postgres, { keyRing: after, batchSize: 2 });
    expect(left).toBe(0);
    const inOrder = replaced.map(({ what, action, isCurrent }) => [what, action, isCurrent].join(' ')).toSorted();
    expect(inOrder).toEqual([
      'signing-secret  true',
      'subscription action.0 true',
      'subscription action.1 true',
      'subscription action.2 false',
    ]);
    expect(await lost()).toBeUndefined();
    expect(await well.known(after)).toEqual(known);
    const { tokens, signing } = await client.known(after);
    expect(tokens.map(([, token]) => token)).toEqual(Array(2).fill(expect.stringMatching(/^[\w-]{43}$/)));
    expect(signing).toEqual([expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/)]);
    const subscriptions = [1, 2, 3].map(() => ({ what: 'subscription.changed' }));
    expect(await noted()).toEqual([...subscriptions, { what: 'signing-secret.changed' }]);
    expect(await replaceSecrets(store.postgres, { keyRing: after })).toEqual({ replaced: [], left: 0, lost: [] });
  });

  test('names the credentials that no key opens, and leaves them: only their client has others', async () => {
    const well = await aClient(after, 0);
    const client = await aClient(before, 0);
    for (const host of ['a.test', 'b.test:8443', 'c.test']) {
      await client.putCredentials(host);
      await well.putCredentials(host);
    }
    const sealed = async () => (await store.postgres.query('select * from waybell.credentials order by guid')).rows;
    const [sealedBefore, notedBefore] = [await sealed(), await noted()];
    const found = await replaceSecrets(store.postgres, { keyRing: after, batchSize: 2 });
    const lostOf = (host: string) => ({ account_guid: client.accountGuid, client_id: 'default', host });
    expect(found).toEqual({ replaced: [], left: 0, lost: ['a.test', 'b.test:8443', 'c.test'].map(lostOf) });
    expect([await sealed(), await noted()]).toEqual([sealedBefore, notedBefore]);
    expect(await client.credentials(before)).toHaveLength(3);
    // Put in again, they are as others are.
    const again = keepCredentials({ database, keyRing: after });
    const owner = { accountGuid: client.accountGuid, clientId: 'default', actor };
    await again.put(owner, { host: 'a.test', credentials: { headers: { a: 'b' } }, shown: { headers: ['a'] } });
    expect((await replaceSecrets(store.postgres, { keyRing: after })).lost).toHaveLength(2);
  });

  test('counts what it leaves because somebody has it locked', async () => {
    await aClient(before, 2);
    const { replaced, left } = await locked('action.1', () => replaceSecrets(store.postgres, { keyRing: after }));
    expect(replaced.map(({ what, action }) => [what, action])).toEqual([
      ['subscription', 'action.0'],
      ['signing-secret', null],
    ]);
    expect(left).toBe(1);
    expect(await replaceSecrets(store.postgres, { keyRing: after })).toMatchObject({
      replaced: [{ action: 'action.1' }],
      left: 0,
    });
  });
});
