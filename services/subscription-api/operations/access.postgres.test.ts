import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { shared } from '@waybell/runtime/testing/shared';
import { createConsoleLink, pruneConsoleLinks } from '../console-links.ts';
import { signUp, startApi } from '../testing/api.ts';

const api = shared(() => startApi());
let operator: { guid: string; token: string };
let carrier: { guid: string; token: string };

beforeAll(async () => {
  operator = await signUp(api, { interface: 'shipper', scopes: ['admin'] });
  carrier = await signUp(api, { interface: 'carrier' });
});

describe('GET /v1/token', () => {
  test.each(['shipper', 'carrier'] as const)('says whose the token of a %s is', async (interfaceName) => {
    const { guid, token } = await signUp(api, {
      interface: interfaceName,
      name: 'Acme',
      clientId: 'tms',
      scopes: ['webhooks:read'],
      features: ['insurance'],
    });
    const { status, body } = await api.ask('GET', '/v1/token', { token });
    expect(status).toBe(200);
    const told = {
      interface: interfaceName,
      account_guid: guid,
      account_name: 'Acme',
      client_id: 'tms',
      scopes: ['webhooks:read'],
      features: ['insurance'],
    };
    expect(body).toEqual(interfaceName === 'shipper' ? { status: 'success', data: { object: told } } : told);
  });

  test('answers a token of any scope', async () => {
    for (const scope of ['webhooks:read', 'webhooks:write', 'admin']) {
      const { token } = await signUp(api, { interface: 'carrier', scopes: [scope] });
      expect((await api.ask('GET', '/v1/token', { token })).body.scopes).toEqual([scope]);
    }
  });

  test('answers no request without a token', async () => {
    expect((await api.ask('GET', '/v1/token')).status).toBe(401);
  });
});

describe('GET /v1/admin/token', () => {
  test('says whose the token of an operator is, and nothing to others', async () => {
    const { guid, token } = await signUp(api, { interface: 'carrier', clientId: 'ops', scopes: ['admin'] });
    const { body } = await api.admin.ask('GET', '/v1/admin/token', { token });
    expect(body).toEqual({ account_guid: guid, account_name: null, client_id: 'ops', scopes: ['admin'] });
    const { token: other } = await signUp(api, { interface: 'carrier' });
    expect((await api.admin.ask('GET', '/v1/admin/token', { token: other })).status).toBe(403);
  });
});

const makeLink = (body: object = {}, account = carrier.guid) =>
  api.admin.ask('POST', `/v1/admin/accounts/${account}/console-links`, { token: operator.token, body });

const codeOf = (path: string): string => path.replace('/console/#link=', '');

const openLink = (code: string) => api.ask('POST', '/v1/console-sessions', { body: { code } });

/** A new link, by what was answered. */
async function aLink(body: object = {}): Promise<{ guid: string; code: string }> {
  const made = await makeLink(body);
  expect(made.status).toBe(201);
  const { guid, path } = made.body;
  return { guid, code: codeOf(path) };
}

const listed = async (guid: string) => {
  const { body } = await api.admin.ask('GET', `/v1/admin/accounts/${carrier.guid}/tokens`, { token: operator.token });
  return body.objects.find((each: { guid: string }) => each.guid === guid);
};

/** How long it can be opened, or one is signed in by it, in seconds. */
async function lifeOf(guid: string): Promise<number> {
  const { rows } = await api.store.postgres.query<{ life: number }>(
    `select extract(epoch from expires_at - coalesce(link_opened_at, created_at))::int as life
     from waybell.access_tokens where guid = $1`,
    [guid],
  );
  return rows[0]?.life ?? 0;
}

describe('a link to the console', () => {
  test('signs in once, as the client and with the scopes that it was made for', async () => {
    const { guid, code } = await aLink({ client_id: 'tms', scopes: ['webhooks:write'] });
    expect(await lifeOf(guid)).toBe(600);
    const opened = await openLink(code);
    expect(opened.status).toBe(201);
    const { body: who } = await api.ask('GET', '/v1/token', { token: opened.body.token });
    expect(who).toMatchObject({ account_guid: carrier.guid, client_id: 'tms', scopes: ['webhooks:write'] });
    expect(await openLink(code)).toMatchObject({
      status: 410,
      body: { type: 'urn:waybell:problem:invalid-link', detail: expect.stringContaining('Ask for a new one') },
    });
    // The one who had it first stays signed in.
    expect((await api.ask('GET', '/v1/token', { token: opened.body.token })).status).toBe(200);
    expect(await listed(guid)).toMatchObject({ client_id: 'tms', console_link: 'opened', revoked_at: null });
  });

  test('lets its reader see alone, for an hour, unless it says otherwise', async () => {
    const link = await aLink();
    const { body } = await openLink(link.code);
    expect((await api.ask('GET', '/v1/token', { token: body.token })).body.scopes).toEqual(['webhooks:read']);
    expect(await lifeOf(link.guid)).toBe(3_600);
    const longer = await aLink({ expires_in: '1d', token_expires_in: '8h' });
    expect(await lifeOf(longer.guid)).toBe(86_400);
    const opened = await openLink(longer.code);
    expect(await lifeOf(longer.guid)).toBe(28_800);
    expect((await listed(longer.guid)).expires_at).toBe(opened.body.expires_at);
  });

  test('signs in one of many who open it at once', async () => {
    const { code } = await aLink();
    const answers = await Promise.all(Array.from({ length: 8 }, () => openLink(code)));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 410)).toHaveLength(7);
  });

  test('is no access token, before and after it was opened, and stands nowhere in the tables', async () => {
    const { guid, code } = await aLink();
    const asToken = async () => (await api.ask('GET', '/v1/token', { token: code })).status;
    expect(await asToken()).toBe(401);
    const row = async () =>
      JSON.stringify(
        (
          await api.store.postgres.query(
            `select t, encode(hash, 'escape') from waybell.access_tokens t where guid = $1`,
            [guid],
          )
        ).rows,
      );
    expect(await row()).not.toContain(code);
    const { body } = await openLink(code);
    expect(await asToken()).toBe(401);
    expect(await row()).not.toContain(body.token);
  });

  test('is over at its end, and when it is revoked, opened or not', async () => {
    const late = await aLink();
    await api.store.postgres.query(`update waybell.access_tokens set expires_at = now() where guid = $1`, [late.guid]);
    expect((await openLink(late.code)).status).toBe(410);
    // A platform makes one for each visit.
    expect(await listed(late.guid)).toBeUndefined();
    const revoke = (guid: string) => api.admin.ask('DELETE', `/v1/admin/tokens/${guid}`, { token: operator.token });
    const unopened = await aLink();
    expect(await listed(unopened.guid)).toMatchObject({ console_link: 'unopened' });
    await revoke(unopened.guid);
    expect((await openLink(unopened.code)).status).toBe(410);
    const link = await aLink();
    const { token } = (await openLink(link.code)).body;
    await revoke(link.guid);
    expect((await api.ask('GET', '/v1/token', { token })).status).toBe(401);
  });

  test('is in the audit log by the operator, and so is its opening, from where it was opened', async () => {
    const { guid, code } = await aLink({ client_id: 'tms' });
    await openLink(code);
    const { rows } = await api.store.postgres.query(
      `select what, who, origin, details from waybell.audit_log where subject_guid = $1 order by id`,
      [guid],
    );
    const [own] = (
      await api.store.postgres.query(`select guid from waybell.access_tokens where account_guid = $1`, [operator.guid])
    ).rows;
    const by = { who: `token ${own.guid}`, origin: expect.stringContaining('127.0.0.1') };
    expect(rows).toEqual([
      {
        ...by,
        what: 'console-link.created',
        details: { client_id: 'tms', scopes: ['webhooks:read'], expires_at: expect.any(String) },
      },
      {
        ...by,
        what: 'console-link.changed',
        details: { link_opened_at: expect.any(String), expires_at: expect.any(String) },
      },
    ]);
  });

  test.each([
    ['more than a day', { expires_in: '25h' }],
    ['a sign-in of more than a day', { token_expires_in: '2d' }],
    ['no time', { expires_in: '0s' }],
    ['the rights of an operator', { scopes: ['admin'] }],
    ['no right', { scopes: [] }],
    ['a client of no name', { client_id: 'a b' }],
  ])('is not made for %s', async (_, body) => {
    expect((await makeLink(body)).status).toBe(422);
  });

  test('is made by operators alone, for accounts that there are', async () => {
    expect((await makeLink({}, randomUUID())).status).toBe(404);
    const path = `/v1/admin/accounts/${carrier.guid}/console-links`;
    expect((await api.admin.ask('POST', path, { token: carrier.token, body: {} })).status).toBe(403);
    expect((await api.ask('POST', path, { token: operator.token, body: {} })).status).toBe(404);
  });

  test('is forgotten a day after its end, and what no link was made for never is', async () => {
    const [link] = [await aLink(), await aLink()];
    const { guid: other } = await createConsoleLink(api.store.postgres, { accountGuid: carrier.guid });
    const old = await api.store.postgres.query(
      `update waybell.access_tokens set expires_at = now() - interval '25 hours'
       where guid = any($1) or link_made_by is null and account_guid = $2 returning guid`,
      [[link?.guid, other], carrier.guid],
    );
    const plain = old.rows.map(({ guid }) => guid).filter((guid) => ![link?.guid, other].includes(guid));
    await pruneConsoleLinks(api.database);
    const left = await api.store.postgres.query(`select guid from waybell.access_tokens where guid = any($1)`, [
      old.rows.map(({ guid }) => guid),
    ]);
    expect(left.rows.map(({ guid }) => guid)).toEqual(plain);
    expect(plain).toHaveLength(1);
    await api.store.postgres.query(`update waybell.access_tokens set expires_at = null where guid = any($1)`, [plain]);
  });
});

test('codes that are guessed count as access tokens that are, for an address', async () => {
  await using strict = await startApi({ beside: api, limits: { failuresPerMinute: 2 } });
  const guess = async () =>
    (await strict.ask('POST', '/v1/console-sessions', { body: { code: `wbk_${'x'.repeat(43)}` } })).status;
  expect([await guess(), await guess(), await guess()]).toEqual([410, 410, 429]);
  expect((await strict.ask('GET', '/v1/token', { token: 'wbl_x' })).status).toBe(429);
});
