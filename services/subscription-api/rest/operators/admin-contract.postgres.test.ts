import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { borrowPostgres } from '@waybell/runtime/testing/borrow';
import { signUp, startApi, type TestApi } from '../../testing/api.ts';
import { cuttableProxy } from '../../testing/cuttable-proxy.ts';

const accounts = '/v1/admin/accounts';
const json = { 'content-type': 'application/json' };

/** A request to each operation that needs a token. `body` is what it takes. */
type Ask = { method: string; path: string; body?: object };

const asksOf = (account: string, token: string): Ask[] => [
  { method: 'GET', path: accounts },
  { method: 'POST', path: accounts, body: { interface: 'shipper', guid: randomUUID() } },
  { method: 'GET', path: `${accounts}/${account}` },
  { method: 'GET', path: `${accounts}/${account}/subscriptions` },
  ...[`why/${account}`, 'failing', 'parked', 'audit'].map((path) => ({ method: 'GET', path: `/v1/admin/${path}` })),
  { method: 'PATCH', path: `${accounts}/${account}`, body: { add_features: ['insurance'] } },
  { method: 'GET', path: `${accounts}/${account}/tokens` },
  { method: 'POST', path: `${accounts}/${account}/tokens`, body: { scopes: ['webhooks:read'], expires_in: '1d' } },
  { method: 'DELETE', path: `/v1/admin/tokens/${token}`, body: {} },
];

/** Answers whose status is, or is not, one of a server that fails or is asked too much. */
const unseen = ({ admin: { contract } }: TestApi, isOfTrouble: boolean) =>
  [...contract.documented].filter(
    (answer) => !contract.seen.has(answer) && / (429|50[03]) /.test(answer) === isOfTrouble,
  );

let api: TestApi;
let operator: { guid: string; token: string };
let asks: Ask[];

beforeAll(async () => {
  api = await startApi();
  operator = await signUp(api, { interface: 'shipper', scopes: ['admin'] });
  const { guid } = await signUp(api, { interface: 'shipper' });
  const { body } = await api.admin.ask('GET', `${accounts}/${guid}/tokens`, { token: operator.token });
  asks = asksOf(guid, body.objects[0].guid);
});

afterAll(async () => {
  await api[Symbol.asyncDispose]();
});

/** Every answer to one operation but those of trouble. */
async function provoke({ method, path, body }: Ask, stranger: string): Promise<void> {
  const { token } = operator;
  const { ask } = api.admin;
  for (const each of [token, token, undefined, 'wbl_x', stranger]) await ask(method, path, { token: each, body });
  for (const guid of [randomUUID(), '%zz']) {
    const elsewhere = path.replace(/[0-9a-f-]{36}/, guid);
    if (elsewhere !== path) await ask(method, elsewhere, { token, body });
  }
  if (method === 'GET') {
    await ask(method, `${path}?limit=x`, { token });
    for (const query of [`?account=${randomUUID()}`, '?as=account'])
      await ask(method, `${path.replace(/[0-9a-f-]{36}/, randomUUID())}${query}`, { token });
  }
  if (body === undefined) return;
  await ask(method, path, { token, raw: '{', headers: json });
  await ask(method, path, { token, raw: '{}', headers: { ...json, 'content-encoding': 'gzip' } });
  await ask(method, path, { token, raw: 'a', headers: { 'content-type': 'text/plain' } });
  await ask(method, path, { token, raw: ' '.repeat(65_537), headers: json });
  await ask(method, path, { token, body: { unknown: 1 } });
}

describe('admin-openapi.json', () => {
  test('tells of every answer, and of none that is never given', async () => {
    const { token: stranger } = await signUp(api, { interface: 'carrier' });
    for (const each of asks) await provoke(each, stranger);
    await api.admin.ask('GET', `${accounts}?after=nobody`, { token: operator.token });
    await api.admin.ask('GET', '/');
    const { headers } = await api.admin.ask('GET', '/admin-openapi.json');
    const kept = { 'if-none-match': headers.get('etag') ?? '' };
    expect((await api.admin.ask('GET', '/admin-openapi.json', { headers: kept })).status).toBe(304);
    expect(unseen(api, false)).toEqual([]);
  });

  test('tells of the answers of each operation to one who asks too much, and while the database is away, or broken', async () => {
    await using proxy = await cuttableProxy((await borrowPostgres()).url);
    await using failing = await startApi({
      limits: { requestsPerMinute: 1 + asks.length * 2 },
      through: (url) => url.replace(new URL(url).host, new URL(proxy.url).host),
    });
    const { token } = await signUp(failing, { interface: 'shipper', scopes: ['admin'] });
    const askAll = async (status: number) => {
      for (const { method, path, body } of asks) {
        expect((await failing.admin.ask(method, path, { token, body })).status).toBe(status);
      }
    };
    // Known from then on, it is counted before it is looked up.
    expect((await failing.admin.ask('GET', accounts, { token })).status).toBe(200);
    await failing.store.postgres.query('alter table waybell.access_tokens rename to elsewhere');
    await askAll(500);
    await proxy.cut();
    await askAll(503);
    await askAll(429);
    await proxy.mend();
    const documents = (answer: string) => /^get(AdminOpenApi|Root) /.test(answer);
    expect(unseen(failing, true).filter((answer) => !documents(answer))).toEqual([]);
  });
});
