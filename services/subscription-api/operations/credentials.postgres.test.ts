import { describe, expect, test } from '@jest/globals';
import { readCredentials } from '@waybell/notifications/receiver-credentials';
import { shared } from '@waybell/runtime/testing/shared';
import { keyRing, signUp, startApi } from '../testing/api.ts';
import { createToken } from '../tokens.ts';

const SECRET = 's3cret-p4ssw0rd';
const headers = { 'X-Api-Key': SECRET };
const basic = { username: 'waybell', password: SECRET };
const oauth2 = { token_url: 'https://hooks.test/token?key=s3cret', client_id: 'waybell', client_secret: SECRET };
const at = (host: string) => `/v1/credentials/${host}`;

const api = shared(() => startApi());

type Row = { guid: string; host: string; sealed: Buffer; key_id: string };

const rowsOf = async (account: string): Promise<Row[]> =>
  (await api.store.postgres.query('select * from waybell.credentials where account_guid = $1 order by host', [account]))
    .rows;

const opened = ({ guid, sealed, key_id: keyId }: Row) => readCredentials(keyRing.openAfresh({ sealed, keyId }, guid));

const NO_KINDS = { headers: null, basic: null, oauth2: null, certificate: null };

describe.each(['shipper', 'carrier'] as const)('the credentials of a %s', (interfaceName) => {
  test('are put in, told without their secrets, put in again, and gone', async () => {
    const { guid, token } = await signUp(api, { interface: interfaceName });
    const ask = async (method: string, path: string, body?: object) => {
      const answer = await api.ask(method, path, { token, body });
      expect(answer.text).not.toContain('s3cret');
      return { status: answer.status, body: interfaceName === 'shipper' ? answer.body?.data : answer.body };
    };
    const one = (body: unknown) => (interfaceName === 'shipper' ? { object: body } : body);
    const first = { host: 'hooks.test:8443', ...NO_KINDS, subscriptions: 0, changed_at: expect.any(String) };
    expect(await ask('GET', '/v1/credentials')).toEqual({ status: 200, body: { objects: [] } });
    const made = await ask('PUT', at('HOOKS.test:8443'), { headers, basic });
    const shown = { ...first, headers: ['X-Api-Key'], basic: { username: 'waybell' } };
    expect(made).toEqual({ status: 201, body: one(shown) });
    expect(await ask('GET', at('hooks.test%3A8443'))).toEqual({ ...made, status: 200 });
    const [row] = await rowsOf(guid);
    const again = await ask('PUT', at('hooks.test:8443'), { oauth2 });
    const { client_secret: _secret, ...told } = { ...oauth2, token_url: 'https://hooks.test/token?key=***' };
    const other = { ...first, oauth2: { ...told, secret_in: 'header' } };
    // No deliverer is there.
    expect(again).toEqual({ status: 200, body: one({ ...other, token: { status: 'not_tried' } }) });
    expect(await ask('GET', '/v1/credentials')).toEqual({ status: 200, body: { objects: [other] } });
    const [changed] = await rowsOf(guid);
    expect(changed?.guid).not.toBe(row?.guid);
    expect(changed && opened(changed)).toEqual({
      oauth2: { tokenUrl: oauth2.token_url, clientId: 'waybell', clientSecret: SECRET, secretIn: 'header' },
    });
    expect((await ask('DELETE', at('hooks.test:8443'))).status).toBe(204);
    for (const method of ['GET', 'DELETE'])
      expect((await api.ask(method, at('hooks.test:8443'), { token })).body).toMatchObject({
        type: 'urn:waybell:problem:unknown-credentials',
        detail: expect.stringContaining('GET /v1/credentials has the hosts'),
      });
    expect(await rowsOf(guid)).toEqual([]);
  });

  test('tell how many subscriptions they are for', async () => {
    const { token } = await signUp(api, { interface: interfaceName });
    for (const host of ['hooks.test', 'hooks.test:8443', 'other.test'])
      await api.ask('PUT', at(host), { token, body: { headers } });
    const subscribe = (callback_url: string, actions: string[]) =>
      api.ask('PUT', '/v1/subscriptions', { token, body: { callback_url, actions } });
    await subscribe('https://hooks.test:443/a?b=//other.test', ['order.created']);
    await subscribe('https://Hooks.test/', ['order.picked_up']);
    await subscribe('https://hooks.test:8443', ['order.delivered']);
    const { body } = await api.ask('GET', '/v1/credentials', { token });
    const objects: { host: string; subscriptions: number }[] = (body.data ?? body).objects;
    expect(objects.map(({ host, subscriptions }) => [host, subscriptions])).toEqual([
      ['hooks.test', 2],
      ['hooks.test:8443', 1],
      ['other.test', 0],
    ]);
  });
});

describe('credentials', () => {
  test('are seen by a token that may read, and changed by one that may write alone', async () => {
    const { guid, token } = await signUp(api, { interface: 'carrier' });
    const reader = await createToken(api.store.postgres, { accountGuid: guid, scopes: ['webhooks:read'] });
    await api.ask('PUT', at('hooks.test'), { token, body: { headers } });
    expect((await api.ask('GET', at('hooks.test'), { token: reader })).status).toBe(200);
    expect((await api.ask('GET', '/v1/credentials', { token: reader })).body.objects).toHaveLength(1);
    for (const method of ['PUT', 'DELETE'])
      expect((await api.ask(method, at('hooks.test'), { token: reader, body: { basic } })).status).toBe(403);
    expect((await rowsOf(guid)).map(opened)).toEqual([{ headers }]);
  });

  test('that many put in, and remove, at the same moment are those of one of them', async () => {
    const { guid, token } = await signUp(api, { interface: 'shipper' });
    const bodies = Array.from({ length: 24 }, (_each, index) => ({ headers: { 'X-Api-Key': `${SECRET}-${index}` } }));
    const puts = bodies.map((body) => api.ask('PUT', at('hooks.test'), { token, body }));
    const removals = bodies.map(() => api.ask('DELETE', at('hooks.test'), { token }));
    const answers = await Promise.all([...puts, ...removals]);
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => ![200, 201, 204, 404].includes(status))).toEqual([]);
    const rows = await rowsOf(guid);
    const count = (status: number) => statuses.filter((each) => each === status).length;
    expect(rows).toHaveLength(count(201) - count(204));
    for (const row of rows) expect(bodies).toContainEqual(opened(row));
  });

  test('are for a hundred hosts at most, however many are put in at the same moment', async () => {
    const { guid, token } = await signUp(api, { interface: 'carrier' });
    const put = (index: number) => api.ask('PUT', at(`h${index}.test`), { token, body: { headers } });
    const answers = await Promise.all(Array.from({ length: 110 }, (_each, index) => put(index)));
    const refused = answers.filter(({ status }) => status !== 201);
    expect(refused.map(({ body }) => body.type)).toEqual(Array(10).fill('urn:waybell:problem:too-many-credentials'));
    const [row] = await rowsOf(guid);
    expect((await api.ask('PUT', at(row?.host ?? ''), { token, body: { basic } })).status).toBe(200);
    expect(await rowsOf(guid)).toHaveLength(100);
    await api.ask('DELETE', at(row?.host ?? ''), { token });
    expect((await put(200)).status).toBe(201);
  });

  test('that are refused leave those that there are', async () => {
    const { guid, token } = await signUp(api, { interface: 'carrier' });
    await api.ask('PUT', at('hooks.test'), { token, body: { headers } });
    const before = await rowsOf(guid);
    const { status, text, body } = await api.ask('PUT', at('hooks.test'), {
      token,
      body: { headers: { 'X-Api-Key': `${SECRET}\n` }, basic, oauth2 },
    });
    expect([status, body.errors.map(({ pointer }: { pointer: string }) => pointer)]).toEqual([
      422,
      ['#/headers/X-Api-Key', '#/oauth2'],
    ]);
    expect(text).not.toContain('s3cret');
    expect(await rowsOf(guid)).toEqual(before);
  });

  test.each([
    ['xn--mnchen-3ya.example', encodeURIComponent('münchen.example')],
    [
      '[2606:2800:21f:cb07:6820:80da:af6b:8b2c]:8443',
      encodeURIComponent('[2606:2800:21f:cb07:6820:80da:af6b:8b2c]:8443'),
    ],
    ['hooks.test', 'hooks.test:443/'],
  ])('are for %s where the path has %s', async (host, path) => {
    const { guid, token } = await signUp(api, { interface: 'carrier' });
    expect((await api.ask('PUT', at(path), { token, body: { headers } })).body.host).toBe(host);
    expect((await rowsOf(guid)).map((row) => row.host)).toEqual([host]);
  });

  test.each([
    ['https%3A%2F%2Fu%3As3cret%40hooks.test%2Fs3cret', 'host is a URL: give its host alone, which is hooks.test'],
    ['hooks.test%2F..%2Fs3cret', 'host must be a host such as receiver.example.com, with its port'],
    ['hooks.test%00', 'host contains a space, a backslash, or a control or invisible character'],
  ])('are not for %s', async (path, detail) => {
    const { token } = await signUp(api, { interface: 'carrier' });
    for (const method of ['PUT', 'GET', 'DELETE']) {
      const { status, body } = await api.ask(method, at(path), {
        token,
        ...(method === 'PUT' && { body: { headers } }),
      });
      expect([status, body.detail]).toEqual([422, expect.stringContaining(detail)]);
    }
  });

  test.each([
    ['10.0.0.1', 'host points to 10.0.0.1, which is private or reserved: callbacks go to public addresses only'],
    ['hooks.test:6379', 'host names port 6379, which is closed to callbacks'],
  ])('are not put in for %s, and gone once they are removed where that was allowed before', async (host, detail) => {
    const { guid, token } = await signUp(api, { interface: 'carrier' });
    const refused = await api.ask('PUT', at(host), { token, body: { headers } });
    expect([refused.status, refused.body.detail]).toEqual([422, expect.stringContaining(detail)]);
    await api.ask('PUT', at('hooks.test'), { token, body: { headers } });
    await api.store.postgres.query('update waybell.credentials set host = $1 where account_guid = $2', [host, guid]);
    expect((await api.ask('GET', at(host), { token })).body.host).toBe(host);
    expect((await api.ask('DELETE', at(host), { token })).status).toBe(204);
    expect(await rowsOf(guid)).toEqual([]);
  });

  test('are asked for by a host: a URL in its place is told so', async () => {
    for (const path of [at('https://hooks.test/a'), at('hooks.test/a')]) {
      const { status, body } = await api.ask('PUT', path, { body: { headers } });
      expect([status, body.detail]).toEqual([404, expect.stringContaining('Give the host of your callback URL alone')]);
    }
  });

  test("are not sent to a listener of the client, whose callbacks go to the platform's own address", async () => {
    const { guid, token } = await signUp(api, { interface: 'carrier' });
    await api.ask('PUT', at('hooks.test'), { token, body: { headers } });
    const callbacks = { callback_url: 'https://hooks.test/', actions: ['order.created'] };
    await api.ask('PUT', '/v1/subscriptions', { token, body: callbacks });
    const listener = { url: 'https://hooks.test', actions: ['order.created'] };
    expect((await api.ask('POST', '/v1/listeners', { token, body: listener })).status).toBe(201);
    const [row] = await rowsOf(guid);
    const { rows } = await api.store.postgres.query(
      'select client_id, credentials_guid from waybell.delivery_targets where account_guid = $1 order by client_id',
      [guid],
    );
    expect(rows).toEqual([
      { client_id: 'default', credentials_guid: row?.guid },
      { client_id: 'default listen', credentials_guid: null },
    ]);
    expect((await api.ask('GET', at('hooks.test'), { token })).body.subscriptions).toBe(1);
  });

  test('are gone with their account', async () => {
    const { guid, token } = await signUp(api, { interface: 'carrier' });
    await api.ask('PUT', at('hooks.test'), { token, body: { headers } });
    await api.store.postgres.query('delete from waybell.access_tokens where account_guid = $1', [guid]);
    await api.store.postgres.query('delete from waybell.accounts where guid = $1', [guid]);
    expect(await rowsOf(guid)).toEqual([]);
  });
});
