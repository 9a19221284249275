import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { createAccount } from '../accounts.ts';
import { signUp, startApi } from '../testing/api.ts';
import type { Ask } from '../testing/ask.ts';
import { documentedOperations } from '../testing/documented-operations.ts';
import { listTokens } from '../tokens.ts';
import { shared } from '@waybell/runtime/testing/shared';

const accounts = '/v1/admin/accounts';
const webhooks = '/v1/public/webhooks';
const guidPattern = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

const api = shared(() => startApi());
/** Asks the operators' interface with a token of the scope `admin`. */
let ask: Ask;
let operator: { guid: string; token: string };

beforeAll(async () => {
  operator = await signUp(api, { interface: 'carrier', scopes: ['admin'] });
  ask = (method, path, more) => api.admin.ask(method, path, { token: operator.token, ...more });
});

async function anAccount(features: string[] = []): Promise<string> {
  const { status, body } = await ask('POST', accounts, { body: { interface: 'shipper', features } });
  expect(status).toBe(201);
  return body.guid;
}

describe('accounts', () => {
  test('are made, with a guid of their own or the one given, once', async () => {
    const guid = randomUUID();
    const body = { interface: 'carrier', guid: guid.toUpperCase() };
    const made = await ask('POST', accounts, { body });
    expect([made.status, made.body]).toEqual([
      201,
      { guid, interface: 'carrier', name: null, features: [], closed_at: null },
    ]);
    const again = await ask('POST', accounts, { body });
    expect([again.status, again.body.type]).toEqual([409, 'urn:waybell:problem:account-exists']);
    expect(await anAccount(['servicepay', 'insurance'])).toMatch(guidPattern);
  });

  test('have features that are switched on and off, which the next request of the account uses', async () => {
    const guid = await anAccount(['insurance']);
    const { body: made } = await ask('POST', `${accounts}/${guid}/tokens`, { body: {} });
    const subscribe = async () => {
      const body = { callback_url: 'https://hooks.test/a' };
      return (await api.ask('POST', `${webhooks}/insurance.issued/subscribe`, { token: made.token, body })).status;
    };
    expect(await subscribe()).toBe(200);
    const body = { add_features: ['servicepay'], remove_features: ['insurance'] };
    const changed = await ask('PATCH', `${accounts}/${guid}`, { body });
    expect([changed.status, changed.body]).toEqual([
      200,
      { guid, interface: 'shipper', name: null, features: ['servicepay'], closed_at: null },
    ]);
    expect(await subscribe()).toBe(409);
  });

  test('have a name, which is trimmed, changed and taken away', async () => {
    const { body: made } = await ask('POST', accounts, {
      body: { interface: 'shipper', name: ' Acme Ωmega & Söhne ' },
    });
    expect(made.name).toBe('Acme Ωmega & Söhne');
    const change = async (body: unknown) => (await ask('PATCH', `${accounts}/${made.guid}`, { body })).body.name;
    expect(await change({ add_features: ['insurance'] })).toBe('Acme Ωmega & Söhne');
    expect(await change({ name: 'x'.repeat(200) })).toBe('x'.repeat(200));
    expect(await change({ name: ' ' })).toBeNull();
    expect(await change({ name: 'Acme' })).toBe('Acme');
    expect(await change({ name: null })).toBeNull();
  });

  test('are closed after a dry run, and the last token says before what goes on', async () => {
    const guid = await anAccount();
    const { body: made } = await ask('POST', `${accounts}/${guid}/tokens`, { body: {} });
    await api.ask('POST', `${webhooks}/order.created/subscribe`, {
      token: made.token,
      body: { callback_url: 'https://hooks.test/a' },
    });
    const revoked = await ask('DELETE', `/v1/admin/tokens/${made.guid}`);
    expect([revoked.status, revoked.body]).toEqual([
      200,
      { account_guid: guid, client_id: 'default', subscriptions: 1, subscriptions_of_account: 1 },
    ]);
    const close = async (body: object) => (await ask('POST', `${accounts}/${guid}/close`, { body })).body;
    const ends = { subscriptions: 1, signing_secrets: 1, tokens: 0 };
    expect(await close({ dry_run: true })).toMatchObject({ ...ends, account: { guid, closed_at: null } });
    expect(await close({})).toMatchObject({ ...ends, account: { guid, closed_at: expect.any(String) } });
    expect(await close({})).toMatchObject({ subscriptions: 0 });
    const act = `${accounts}/${guid}/clients/default`;
    expect((await ask('GET', `${act}/deliveries`)).status).toBe(200);
    const refused = await ask('POST', `${act}/replays`, { body: { action: '*', since: '2026-11-20T00:00:00Z' } });
    expect([refused.status, refused.body.type]).toEqual([409, 'urn:waybell:problem:account-closed']);
    expect((await ask('POST', `${accounts}/${guid}/open`)).body).toMatchObject({ guid, closed_at: null });
  });

  test('are listed a page at a time, each once', async () => {
    await api.store.postgres.query(
      `insert into waybell.accounts (guid, interface) select gen_random_uuid(), 'carrier' from generate_series(1, 1200)`,
    );
    const { rows } = await api.store.postgres.query('select guid from waybell.accounts order by guid');
    const listed: string[] = [];
    const pages = [];
    for (let next: string | null = ''; next !== null;) {
      const { body } = await ask('GET', next === '' ? accounts : `${accounts}?after=${next}`);
      pages.push(body.objects.length);
      listed.push(...body.objects.map(({ guid }: { guid: string }) => guid));
      next = body.next;
    }
    expect(listed).toEqual(rows.map(({ guid }) => guid));
    expect(pages).toEqual([1_000, rows.length - 1_000]);
  });
});

describe('access tokens', () => {
  test('are shown once, listed without themselves, and end at once', async () => {
    const guid = await anAccount();
    const tokens = `${accounts}/${guid}/tokens`;
    expect((await ask('GET', tokens)).body).toEqual({ objects: [] });
    const body = { client_id: 'tms', scopes: ['webhooks:read'], expires_in: '90d' };
    const made = await ask('POST', tokens, { body: body });
    expect([made.status, made.headers.get('cache-control')]).toEqual([201, 'no-store']);
    const { token, guid: tokenGuid } = made.body;
    expect((await api.ask('GET', webhooks, { token })).status).toBe(200);
    const listed = await ask('GET', tokens);
    expect(listed.text).not.toContain(token);
    expect(listed.body.objects).toMatchObject([
      { guid: tokenGuid, client_id: 'tms', scopes: ['webhooks:read'], revoked_at: null },
    ]);
    const [{ created_at, expires_at }] = listed.body.objects;
    expect(Math.round((Date.parse(expires_at) - Date.parse(created_at)) / 86_400_000)).toBe(90);
    for (const _ of ['once', 'twice']) expect((await ask('DELETE', `/v1/admin/tokens/${tokenGuid}`)).status).toBe(204);
    expect((await api.ask('GET', webhooks, { token })).status).toBe(401);
  });

  test('may read and write webhooks where nothing else is said, and may be for operators', async () => {
    const guid = await anAccount();
    for (const [body, scopes] of [
      [{}, ['webhooks:read', 'webhooks:write']],
      [{ scopes: ['admin'] }, ['admin']],
    ] as const) {
      const { body: made } = await ask('POST', `${accounts}/${guid}/tokens`, { body });
      const tokens = await listTokens(api.store.postgres, guid);
      expect(tokens.find((token) => token.guid === made.guid)?.scopes).toEqual(scopes);
    }
  });
});

describe('the audit log', () => {
  test('names the token, the address and the request of each change', async () => {
    const [{ guid: who } = { guid: '' }] = await listTokens(api.store.postgres, operator.guid);
    const guid = randomUUID();
    const made = await ask('POST', accounts, { body: { interface: 'shipper', guid } });
    const changed = await ask('PATCH', `${accounts}/${guid}`, { body: { add_features: ['insurance'] } });
    const token = await ask('POST', `${accounts}/${guid}/tokens`, { body: {} });
    const revoked = await ask('DELETE', `/v1/admin/tokens/${token.body.guid}`);
    const sql = 'select what, request_id, who, origin from waybell.audit_log where account_guid = $1 order by id';
    const { rows } = await api.store.postgres.query(sql, [guid]);
    const by = { who: `token ${who}`, origin: '127.0.0.1' };
    const requestOf = ({ headers }: typeof made) => headers.get('x-request-id');
    expect(rows).toEqual([
      { what: 'account.created', request_id: requestOf(made), ...by },
      { what: 'account.changed', request_id: requestOf(changed), ...by },
      { what: 'token.created', request_id: requestOf(token), ...by },
      { what: 'token.changed', request_id: requestOf(revoked), ...by },
    ]);
  });
});

describe("the operators' interface", () => {
  const unknown = '00000000-0000-4000-8000-000000000000';

  test('answers 403 to every token without the scope "admin", and changes nothing for it', async () => {
    const { guid, token } = await signUp(api, { interface: 'shipper' });
    const document = (await api.admin.ask('GET', '/admin-openapi.json')).body;
    const operations = documentedOperations(document).filter(({ needsToken }) => needsToken);
    expect(operations.length).toBeGreaterThan(10);
    const before = await tables();
    for (const { method, path, body: takes } of operations) {
      const at = path.replace(/\{\w+\}/, path.includes('/tokens/') ? unknown : guid);
      const body = takes === 'none' ? undefined : {};
      const { status, headers } = await api.admin.ask(method, at, { token, body });
      expect([method, path, status]).toEqual([method, path, 403]);
      expect(headers.get('www-authenticate')).toContain('error="insufficient_scope", scope="admin"');
    }
    expect(await tables()).toEqual(before);
  });

  test('gives its tokens no right on the interfaces for accounts', async () => {
    const shipper = await signUp(api, { interface: 'shipper', scopes: ['admin'] });
    for (const { token } of [operator, shipper]) {
      for (const path of [webhooks, '/v1/webhooks', '/v1/signing-secrets']) {
        expect((await api.ask('GET', path, { token })).status).toBe(403);
      }
    }
  });

  test('and the interfaces for accounts have none of their paths in common', async () => {
    expect((await api.ask('GET', accounts, { token: operator.token })).status).toBe(404);
    for (const path of [webhooks, '/v1/webhooks', '/v1/signing-secrets', '/openapi.json', '/docs']) {
      expect((await ask('GET', path)).status).toBe(404);
    }
  });

  test.each<[method: string, path: string, status: number, body: unknown]>([
    ['PATCH', `${accounts}/${unknown}`, 404, {}],
    ['PATCH', `${accounts}/nobody`, 404, {}],
    ['GET', `${accounts}/${unknown}/tokens`, 404, undefined],
    ['POST', `${accounts}/${unknown}/tokens`, 404, {}],
    ['DELETE', `/v1/admin/tokens/${unknown}`, 404, undefined],
    ['DELETE', '/v1/admin/tokens/wbl_x', 404, undefined],
    ['GET', `${accounts}?after=nobody`, 422, undefined],
    ['DELETE', accounts, 405, undefined],
  ])('answers %s %s with %i', async (method, path, status, body) => {
    expect((await ask(method, path, { body })).status).toBe(status);
  });

  test.each<[what: string, path: string, body: unknown, pointers: string[]]>([
    ['an account that is none', accounts, [], ['#']],
    ['an account without an interface', accounts, {}, ['#/interface']],
    ['an account of a broker', accounts, { interface: 'broker' }, ['#/interface']],
    [
      'an account with everything wrong',
      accounts,
      { interface: null, guid: '17', features: ['gps'], colour: 'x' },
      ['#/colour', '#/interface', '#/guid', '#/features/0'],
    ],
    ['a name of two lines', accounts, { interface: 'shipper', name: 'a\nb' }, ['#/name']],
    ['a name that turns the text around', accounts, { interface: 'shipper', name: 'a\u202eb' }, ['#/name']],
    ['a name that is too long', accounts, { interface: 'shipper', name: 'x'.repeat(201) }, ['#/name']],
    [
      'a token with everything wrong',
      `${accounts}/${unknown}/tokens`,
      { client_id: 'a b', scopes: [], expires_in: '9' },
      ['#/client_id', '#/scopes', '#/expires_in'],
    ],
    ['a token of unknown scope', `${accounts}/${unknown}/tokens`, { scopes: ['root'] }, ['#/scopes/0']],
    ['a token of a scope that is no text', `${accounts}/${unknown}/tokens`, { scopes: 'admin' }, ['#/scopes']],
    ['a token that never held', `${accounts}/${unknown}/tokens`, { expires_in: '0s' }, ['#']],
    ['a token until the end of days', `${accounts}/${unknown}/tokens`, { expires_in: '999999999999d' }, ['#']],
  ])('answers 422 to %s, and points to it', async (_what, path, body, pointers) => {
    const { status, body: problem } = await ask('POST', path, { body });
    expect(status).toBe(422);
    expect(problem.errors.map(({ pointer }: { pointer: string }) => pointer)).toEqual(pointers);
  });

  test('refuses to switch a feature on and off at once', async () => {
    const { guid } = await createAccount(api.store.postgres, { interface: 'shipper' });
    // oxlint-disable-next-line fixtures/no-like-values -- this is refused
    const body = { add_features: ['insurance'], remove_features: ['insurance'] };
    const { status, body: problem } = await ask('PATCH', `${accounts}/${guid}`, { body });
    expect([status, problem.errors]).toEqual([422, [{ pointer: '#', detail: expect.stringContaining('both added') }]]);
  });
});

async function tables(): Promise<unknown> {
  const read = (sql: string) => api.store.postgres.query(sql).then(({ rows }) => rows);
  return Promise.all([
    read('select * from waybell.accounts order by guid'),
    read('select guid, scopes, expires_at, revoked_at from waybell.access_tokens order by guid'),
  ]);
}
