import { describe, expect, test } from '@jest/globals';
import { until } from '@waybell/runtime/testing/until';
import { createAccount, updateAccount } from './accounts.ts';
import { readAuditLog, startPruning, type NoteSelection } from './audit-log.ts';
import { openDatabase } from './database.ts';
import { signUp, startApi } from './testing/api.ts';
import { createTestDatabase } from '@waybell/runtime/testing/database';
import { PATIENT_MS, silentLog as log } from '@waybell/runtime/testing/patience';
import { createToken, hashToken, listTokens, revokeToken } from './tokens.ts';
import { shared } from '@waybell/runtime/testing/shared';

const base = '/v1/public/webhooks';
const body = { callback_url: 'https://hooks.test/secret-path?key=secret-key' };
const guidPattern = /^[0-9a-f-]{36}$/;

const api = shared(() => startApi());

/** Returns the account's notes in the audit log, oldest first. */
async function notesOf(guid: string): Promise<Record<string, unknown>[]> {
  const sql =
    'select who, origin, request_id, what, subject_guid, details from waybell.audit_log where account_guid = $1';
  return (await api.store.postgres.query(`${sql} order by id`, [guid])).rows;
}

const about = (subject: string, notes: Record<string, unknown>[]) =>
  notes.filter(({ what }) => String(what).startsWith(`${subject}.`));

const whatOf = async (guid: string) => (await notesOf(guid)).map(({ what }) => what);

describe('the audit log', () => {
  test('has a row for each change of an account and its tokens, by whoever made it', async () => {
    const { postgres } = api.store;
    const { guid } = await createAccount(postgres, { interface: 'shipper', features: ['insurance'] });
    await updateAccount(postgres, { guid, addFeatures: ['servicepay'] });
    await updateAccount(postgres, { guid, addFeatures: ['servicepay'] });
    await updateAccount(postgres, { guid, name: 'Acme' });
    const secret = await createToken(postgres, { accountGuid: guid, clientId: 'tms' });
    await revokeToken(postgres, secret);
    await revokeToken(postgres, secret);
    const [token] = await listTokens(postgres, guid);
    const notes = await notesOf(guid);
    expect(notes).toMatchObject([
      { what: 'account.created', subject_guid: guid, details: { interface: 'shipper', features: ['insurance'] } },
      { what: 'account.changed', subject_guid: guid, details: { features: ['insurance', 'servicepay'] } },
      { what: 'account.changed', subject_guid: guid, details: { name: 'Acme' } },
      { what: 'token.created', subject_guid: token?.guid, details: { client_id: 'tms', scopes: expect.any(Array) } },
      { what: 'token.changed', subject_guid: token?.guid, details: { revoked_at: expect.any(String) } },
    ]);
    for (const { who, request_id } of notes) expect([who, request_id]).toEqual([expect.stringMatching(/^user /), null]);
  });

  test('has the address of the client without its port, as a proxy forwards it', async () => {
    await using behind = await startApi({ beside: api, trustedProxies: ['127.0.0.0/8'] });
    const { guid, token } = await signUp(behind, { interface: 'shipper' });
    const headers = { 'x-forwarded-for': '"[2001:DB8::7]:50001"' };
    await behind.ask('POST', `${base}/order.created/subscribe`, { token, body, headers });
    const [note] = about('subscription', await notesOf(guid));
    expect(note).toMatchObject({ origin: '2001:db8::7' });
  });

  test('has a row for each change of a subscription, with the token, the address and the request', async () => {
    const { guid, token } = await signUp(api, { interface: 'shipper' });
    const [{ guid: tokenGuid } = { guid: '' }] = await listTokens(api.store.postgres, guid);
    const ids = [];
    for (const path of ['order.created/subscribe', 'order.created/subscribe', 'order.created/unsubscribe']) {
      const content = path.endsWith('/subscribe') ? body : undefined;
      const { headers, status } = await api.ask('POST', `${base}/${path}`, { token, body: content });
      expect(status).toBe(200);
      ids.push(headers.get('x-request-id'));
    }
    const by = (request_id: string | null | undefined) => ({
      who: `token ${tokenGuid}`,
      origin: '127.0.0.1',
      request_id,
    });
    const leadsTo = { callback_origin: 'https://hooks.test' };
    expect(about('subscription', await notesOf(guid))).toEqual([
      {
        ...by(ids[0]),
        what: 'subscription.created',
        subject_guid: expect.stringMatching(guidPattern),
        details: {
          interface: 'shipper',
          client_id: 'default',
          action: 'order.created',
          audit_field_set: null,
          ...leadsTo,
        },
      },
      { ...by(ids[1]), what: 'subscription.changed', subject_guid: expect.any(String), details: { generation: 2 } },
      {
        ...by(ids[2]),
        what: 'subscription.changed',
        subject_guid: expect.any(String),
        details: { is_active: false, ended_at: expect.any(String) },
      },
    ]);
  });

  test('has a row for each change of a signing secret, whoever had the first one made', async () => {
    const { guid, token } = await signUp(api, { interface: 'carrier' });
    const asks = [
      ['GET', '/v1/signing-secrets'],
      ['GET', '/v1/signing-secrets'],
      ['POST', '/v1/signing-secrets/rotate'],
      ['POST', '/v1/signing-secrets/rotate'],
    ] as const;
    const answers = [];
    const bodyOf = (method: string) => (method === 'POST' ? { force: true } : undefined);
    for (const [method, path] of asks) answers.push(await api.ask(method, path, { token, body: bodyOf(method) }));
    const [made, , rotated, again] = answers.map(({ headers }) => headers.get('x-request-id'));
    const notes = about('signing-secret', await notesOf(guid));
    const [fresh, ended] = [{ client_id: 'default', expires_at: null }, { expires_at: expect.any(String) }];
    expect(notes.map(({ request_id, what, details }) => ({ request_id, what, details }))).toEqual([
      { request_id: made, what: 'signing-secret.created', details: fresh },
      { request_id: rotated, what: 'signing-secret.changed', details: ended },
      { request_id: rotated, what: 'signing-secret.created', details: fresh },
      { request_id: again, what: 'signing-secret.deleted', details: { client_id: 'default', ...ended } },
      { request_id: again, what: 'signing-secret.changed', details: ended },
      { request_id: again, what: 'signing-secret.created', details: fresh },
    ]);
    const [first, , second] = notes.map(({ subject_guid }) => subject_guid);
    expect(notes.map(({ subject_guid }) => subject_guid)).toEqual([
      first,
      first,
      second,
      first,
      second,
      expect.any(String),
    ]);
    for (const { who, origin } of notes) expect([who, origin]).toEqual([expect.stringMatching(/^token /), '127.0.0.1']);
    const sealed = await api.store.postgres.query('select sealed from waybell.signing_secrets');
    const shown: { secret: string }[] = answers.flatMap((answer) => answer.body.objects);
    const secrets = [...shown.map(({ secret }) => secret), ...sealed.rows.map((row) => row.sealed.toString('hex'))];
    for (const secret of secrets) expect(JSON.stringify(notes)).not.toContain(secret);
  });

  test('has a row for each of credentials that was put in or is gone, and holds none of them', async () => {
    const { guid, token } = await signUp(api, { interface: 'carrier' });
    const path = '/v1/credentials/hooks.test:8443';
    const basic = { username: 'secret-user', password: 'secret-password' };
    const puts = [{ headers: { 'X-Api-Key': 'secret-key' } }, { headers: { 'X-Api-Key': 'secret-key' }, basic }];
    for (const given of puts) expect((await api.ask('PUT', path, { token, body: given })).body.host).toBeDefined();
    expect((await api.ask('PUT', path, { token, body: { basic: { username: ':', password: '' } } })).status).toBe(422);
    const { headers } = await api.ask('DELETE', path, { token });
    const notes = about('credentials', await notesOf(guid));
    const [first, , , second] = notes.map(({ subject_guid }) => subject_guid);
    const details = (kinds: string[]) => ({
      details: { client_id: 'default', host: 'hooks.test:8443', kinds, certificate_ends_at: null },
    });
    const [made, gone] = [{ what: 'credentials.created' }, { what: 'credentials.deleted' }];
    const [one, both] = [details(['headers']), details(['headers', 'basic'])];
    expect(notes).toMatchObject([
      { ...made, ...one, who: expect.stringMatching(/^token /), origin: '127.0.0.1' },
      { ...gone, ...one, subject_guid: first },
      { ...made, ...both, subject_guid: second },
      { ...gone, ...both, subject_guid: second, request_id: headers.get('x-request-id') },
    ]);
    expect(second).not.toBe(first);
    expect(JSON.stringify(notes)).not.toMatch(/secret/i);
  });

  test('says where callbacks lead to when that changes, and holds no secret of any kind', async () => {
    const { guid, token } = await signUp(api, { interface: 'shipper' });
    const { body: made } = await api.ask('POST', `${base}/order.paid/subscribe`, { token, body });
    const elsewhere = { callback_url: 'https://elsewhere.test:8443/secret-path' };
    await api.ask('POST', `${base}/order.paid/subscribe`, { token, body: elsewhere });
    const notes = await notesOf(guid);
    expect(about('subscription', notes).at(-1)).toMatchObject({
      details: { generation: 2, callback_origin: 'https://elsewhere.test:8443' },
    });
    const { rows } = await api.store.postgres.query('select verification_token_sealed s from waybell.subscriptions');
    const sealed = rows.map(({ s }: { s: Buffer }) => s.toString('hex'));
    const secrets = [
      token,
      hashToken(token).toString('hex'),
      made.data.object.verification_token,
      'secret-path',
      'secret-key',
      ...sealed,
    ];
    for (const secret of secrets) expect(JSON.stringify(notes)).not.toContain(secret);
  });

  test('has no row for what was refused, and none for health and use', async () => {
    const { guid, token } = await signUp(api, { interface: 'carrier' });
    const path = '/v1/webhooks/order.created/subscriptions';
    expect((await api.ask('DELETE', path, { token })).status).toBe(404);
    expect((await api.ask('POST', path, { token, body })).status).toBe(201);
    expect((await api.ask('POST', path, { token, body })).status).toBe(409);
    await settle(guid, { delivered: false, offOnExhausted: [] });
    await settle(guid, { delivered: true, offOnExhausted: [] });
    const subscribed = ['subscription.created', 'signing-secret.created'];
    expect(await whatOf(guid)).toEqual(['account.created', 'token.created', ...subscribed]);
  });

  test('names the role that switched a subscription off, and no other that it claims to be', async () => {
    const { guid, token } = await signUp(api, { interface: 'carrier' });
    await api.ask('POST', '/v1/webhooks/order.created/subscriptions', { token, body });
    await settle(guid, { delivered: false, offOnExhausted: ['carrier'] });
    expect((await notesOf(guid)).at(-1)).toMatchObject({
      who: 'role waybell_deactivator',
      what: 'subscription.changed',
      details: { is_active: false, deactivation_rule: 'exhausted' },
    });
  });
});

describe('readAuditLog', () => {
  test('tells the last change first, of an account or a subscription, since then, and no more than asked for', async () => {
    const { postgres } = api.store;
    const [one, other] = [await signUp(api, { interface: 'carrier' }), await signUp(api, { interface: 'carrier' })];
    const path = '/v1/webhooks/order.created/subscriptions';
    for (const { token } of [one, other]) await api.ask('POST', path, { token, body });
    await api.ask('DELETE', path, { token: one.token });
    const whats = async (selection: Partial<NoteSelection>) =>
      (await readAuditLog(postgres, { limit: 100, ...selection })).map(({ what }) => what);
    const made = ['signing-secret.created', 'subscription.created', 'token.created', 'account.created'];
    const accountGuid = one.guid.toUpperCase();
    expect(await whats({ accountGuid })).toEqual(['subscription.changed', ...made]);
    expect(await whats({ accountGuid, limit: 2 })).toEqual(['subscription.changed', 'signing-secret.created']);
    const notes = await readAuditLog(postgres, { accountGuid, limit: 100 });
    const subjectGuid = notes.find(({ what }) => what === 'subscription.created')?.subject_guid ?? undefined;
    expect(await whats({ subjectGuid })).toEqual(['subscription.changed', 'subscription.created']);
    expect(await whats({ accountGuid, since: notes[0]?.at })).toEqual(['subscription.changed']);
    expect(await whats({ subjectGuid, accountGuid: other.guid })).toEqual([]);
    await expect(readAuditLog(postgres, { accountGuid: 'x', limit: 1 })).rejects.toThrow('not a guid');
  });
});

/** Does what the deactivator does for one message of the account's subscription. */
async function settle(guid: string, what: { delivered: boolean; offOnExhausted: string[] }): Promise<void> {
  const { rows } = await api.store.postgres.query('select guid from waybell.subscriptions where account_guid = $1', [
    guid,
  ]);
  const connection = await api.store.postgres.connect();
  try {
    await connection.query(`set waybell.actor = '{"who": "token forged", "origin": "elsewhere"}'`);
    await connection.query('set role waybell_deactivator');
    await connection.query(`select waybell.note_ends($1, '{1}', array[gen_random_uuid()], $2, array[now()], $3)`, [
      [rows[0].guid],
      [what.delivered],
      what.offOnExhausted,
    ]);
    await connection.query(`select waybell.switch_off('{}', '{}', '1 day', '0 s', 0, 0)`);
  } finally {
    connection.release(true);
  }
}

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
