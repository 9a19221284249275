import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { actions } from '@waybell/catalog/actions';
import { signUp, startApi, type TestApi } from '../testing/api.ts';
import { cuttableProxy } from '../testing/cuttable-proxy.ts';
import { createToken } from '../tokens.ts';

const callback_url = 'https://hooks.test/a';
const base = '/v1/public/webhooks';

/** A request to each operation that needs a token. `body` is what it takes. */
type Ask = { name: string; method: string; path: string; body?: object };

const asks: Ask[] = [
  { name: 'listShipperActions', method: 'GET', path: `${base}/action_types` },
  { name: 'listShipperActionsUnprefixed', method: 'GET', path: '/webhooks/action_types' },
  { name: 'listShipperSubscriptions', method: 'GET', path: base },
  { name: 'subscribeShipper', method: 'POST', path: `${base}/order.paid/subscribe`, body: { callback_url } },
  { name: 'unsubscribeShipper', method: 'POST', path: `${base}/order.paid/unsubscribe`, body: {} },
  { name: 'listCarrierActions', method: 'GET', path: '/v1/webhooks/' },
  {
    name: 'subscribeCarrier',
    method: 'POST',
    path: '/v1/webhooks/order.created/subscriptions/',
    body: { callback_url },
  },
  { name: 'listCarrierSubscriptions', method: 'GET', path: '/v1/webhooks/order.created/subscriptions/' },
  { name: 'unsubscribeCarrier', method: 'DELETE', path: '/v1/webhooks/order.created/subscriptions/', body: {} },
];
const interfaceOf = ({ name }: Ask) => (/Shipper/.test(name) ? 'shipper' : 'carrier');
const other = { shipper: 'carrier', carrier: 'shipper' } as const;
const json = { 'content-type': 'application/json' };

let api: TestApi;
let tokens: Record<'shipper' | 'carrier', { all: string; none: string }>;

beforeAll(async () => {
  api = await startApi();
  const tokensOf = async (name: 'shipper' | 'carrier') => {
    const { guid, token } = await signUp(api, { interface: name });
    return { all: token, none: await createToken(api.store.postgres, { accountGuid: guid, scopes: ['admin'] }) };
  };
  tokens = { shipper: await tokensOf('shipper'), carrier: await tokensOf('carrier') };
});

afterAll(async () => {
  await api[Symbol.asyncDispose]();
});

const unseen = ({ contract }: TestApi) => [...contract.documented].filter((answer) => !contract.seen.has(answer));

/** Every answer to one operation but those of a failing server. */
async function provoke(each: Ask): Promise<void> {
  const { method, path, body } = each;
  const [token, foreign] = [tokens[interfaceOf(each)].all, tokens[other[interfaceOf(each)]].all];
  await api.ask(method, path, { token, body });
  await api.ask(method, path, { token, body });
  await api.ask(method, path);
  for (const wrong of ['wbl_x', foreign, tokens[interfaceOf(each)].none]) await api.ask(method, path, { token: wrong });
  if (/order\.(paid|created)/.test(path)) {
    await api.ask(method, path.replace(/order\.\w+/, 'order.nope'), { token, body });
    await api.ask(method, path.replace(/order\.\w+/, '%zz'), { token, body });
  }
  if (body !== undefined) {
    await api.ask(method, path, { token, raw: '{', headers: json });
    await api.ask(method, path, { token, raw: 'a', headers: { 'content-type': 'text/plain' } });
    await api.ask(method, path, { token, raw: ' '.repeat(65_537), headers: json });
    await api.ask(method, path, { token, body: { unknown: 1 } });
  }
}

describe('openapi.json', () => {
  test('tells of every answer, and of none that is never given', async () => {
    for (const each of asks) await provoke(each);
    await api.ask('POST', `${base}/insurance.issued/subscribe`, { token: tokens.shipper.all, body: { callback_url } });
    for (const path of [
      '/openapi.json',
      '/asyncapi.json',
      '/schemas/carrier.order.created.event.json',
      '/docs',
      '/docs/start.js',
    ]) {
      const { headers } = await api.ask('GET', path);
      await api.ask('GET', path, { headers: { 'if-none-match': headers.get('etag') ?? '' } });
    }
    for (const path of ['/docs/', '/docs/nope', '/docs/%zz', '/schemas/nope', '/schemas/%zz'])
      await api.ask('GET', path);
    const missing = unseen(api);
    expect(missing.filter((answer) => !/ 50[03] /.test(answer))).toEqual([]);
  });

  test('tells of the answers of each operation while the database is away, or broken', async () => {
    await using proxy = await cuttableProxy(String(process.env['TEST_DATABASE_URL']));
    await using failing = await startApi({ through: (url) => url.replace(new URL(url).host, new URL(proxy.url).host) });
    const { token } = await signUp(failing, { interface: 'shipper' });
    await failing.store.postgres.query('alter table waybell.access_tokens rename to elsewhere');
    for (const { method, path, body } of asks)
      expect((await failing.ask(method, path, { token, body })).status).toBe(500);
    await proxy.cut();
    for (const { method, path, body } of asks)
      expect((await failing.ask(method, path, { token, body })).status).toBe(503);
    await proxy.mend();
    const missing = unseen(failing);
    const names = asks.map(({ name }) => name);
    expect(missing.filter((answer) => / 50[03] /.test(answer) && names.includes(answer.split(' ')[0] ?? ''))).toEqual(
      [],
    );
  });

  test('has a webhook for each action', async () => {
    const { body } = await api.ask('GET', '/openapi.json');
    expect(Object.keys(body.webhooks)).toHaveLength(actions.length);
  });
});
