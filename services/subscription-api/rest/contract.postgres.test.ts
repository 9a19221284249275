import { beforeAll, describe, expect, test } from '@jest/globals';
import { actions } from '@waybell/catalog/actions';
import { borrowPostgres } from '@waybell/runtime/testing/borrow';
import { until } from '@waybell/runtime/testing/until';
import { createConsoleLink } from '../console-links.ts';
import { signUp, startApi } from '../testing/api.ts';
import type { Asked } from '../testing/ask.ts';
import { Detour } from '@waybell/runtime/testing/detour';
import { shared } from '@waybell/runtime/testing/shared';
import { logDelivery } from '../testing/logged-delivery.ts';
import { createToken } from '../tokens.ts';
import { readLive } from '../testing/live-reader.ts';

const callback_url = 'https://hooks.test/a';
const base = '/v1/public/webhooks';

/** A request to each operation that needs a token. `body` is what it takes. */
type Ask = { name: string; method: string; path: string; body?: object };

const GUID = 'a3e0b6c4-6f5e-4a3f-9a55-0c8f2f0f7d11';
const HOST = 'hooks.test';
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
  { name: 'getToken', method: 'GET', path: '/v1/token' },
  { name: 'listSubscriptions', method: 'GET', path: '/v1/subscriptions' },
  {
    name: 'putSubscriptions',
    method: 'PUT',
    path: '/v1/subscriptions',
    body: { callback_url, actions: ['order.created'] },
  },
  { name: 'getSubscription', method: 'GET', path: `/v1/subscriptions/${GUID}` },
  { name: 'changeSubscription', method: 'PATCH', path: `/v1/subscriptions/${GUID}`, body: { is_active: true } },
  { name: 'pauseSubscription', method: 'POST', path: `/v1/subscriptions/${GUID}/pause`, body: {} },
  { name: 'resumeSubscription', method: 'POST', path: `/v1/subscriptions/${GUID}/resume`, body: {} },
  { name: 'listSigningSecrets', method: 'GET', path: '/v1/signing-secrets' },
  { name: 'rotateSigningSecret', method: 'POST', path: '/v1/signing-secrets/rotate', body: {} },
  { name: 'listCredentials', method: 'GET', path: '/v1/credentials' },
  {
    name: 'putCredentials',
    method: 'PUT',
    path: `/v1/credentials/${HOST}`,
    body: { headers: { 'X-Api-Key': 'p4ssw0rd' } },
  },
  { name: 'getCredentials', method: 'GET', path: `/v1/credentials/${HOST}` },
  { name: 'deleteCredentials', method: 'DELETE', path: `/v1/credentials/${HOST}`, body: {} },
  { name: 'findTimeline', method: 'GET', path: `/v1/timeline?key=${GUID}` },
  { name: 'getTimeline', method: 'GET', path: `/v1/timeline/${GUID}` },
  { name: 'listDeliveries', method: 'GET', path: '/v1/deliveries' },
  { name: 'getStatistics', method: 'GET', path: '/v1/statistics' },
  { name: 'getDelivery', method: 'GET', path: `/v1/deliveries/${GUID}` },
  { name: 'streamLive', method: 'GET', path: '/v1/live' },
  { name: 'resendDelivery', method: 'POST', path: `/v1/deliveries/${GUID}/resend`, body: {} },
  {
    name: 'createReplay',
    method: 'POST',
    path: '/v1/replays',
    body: { subscription_guid: GUID, since: '2026-11-20T00:00:00Z' },
  },
  { name: 'getMissed', method: 'GET', path: '/v1/missed' },
  { name: 'listReplays', method: 'GET', path: '/v1/replays' },
  { name: 'getReplay', method: 'GET', path: `/v1/replays/${GUID}` },
  { name: 'cancelReplay', method: 'DELETE', path: `/v1/replays/${GUID}`, body: {} },
  { name: 'testSubscription', method: 'POST', path: `/v1/subscriptions/${GUID}/test`, body: {} },
  { name: 'trigger', method: 'POST', path: '/v1/triggers', body: { action: 'damage.created' } },
  { name: 'createListener', method: 'POST', path: '/v1/listeners', body: { url: 'https://hooks.test' } },
  { name: 'streamRequests', method: 'GET', path: `/v1/listeners/${GUID}/requests` },
  {
    name: 'answerRequest',
    method: 'POST',
    path: `/v1/listeners/${GUID}/answers`,
    body: { request: 'a', status: 200 },
  },
  { name: 'endListener', method: 'DELETE', path: `/v1/listeners/${GUID}`, body: {} },
  { name: 'unsubscribeCarrier', method: 'DELETE', path: '/v1/webhooks/order.created/subscriptions/', body: {} },
];
const interfaceOf = ({ name }: Ask) => (/Shipper/.test(name) ? 'shipper' : 'carrier');
const other = { shipper: 'carrier', carrier: 'shipper' } as const;
const json = { 'content-type': 'application/json' };

const api = shared(() => startApi());
let tokens: Record<'shipper' | 'carrier', { account: string; all: string; none: string }>;

beforeAll(async () => {
  const tokensOf = async (name: 'shipper' | 'carrier') => {
    const { guid, token } = await signUp(api, { interface: name });
    return {
      account: guid,
      all: token,
      none: await createToken(api.store.postgres, { accountGuid: guid, scopes: ['admin'] }),
    };
  };
  tokens = { shipper: await tokensOf('shipper'), carrier: await tokensOf('carrier') };
});

const unseen = ({ contract }: Asked) => [...contract.documented].filter((answer) => !contract.seen.has(answer));

/** Every answer to one operation but those of a failing server. */
async function provoke(each: Ask): Promise<void> {
  const { name, method, path, body } = each;
  const [token, foreign] = [tokens[interfaceOf(each)].all, tokens[other[interfaceOf(each)]].all];
  await api.ask(method, path, { token, body });
  await api.ask(method, path, { token, body });
  await api.ask(method, path);
  for (const wrong of ['wbl_x', foreign, tokens[interfaceOf(each)].none]) await api.ask(method, path, { token: wrong });
  if (/order\.(paid|created)/.test(path)) {
    await api.ask(method, path.replace(/order\.\w+/, 'order.nope'), { token, body });
    await api.ask(method, path.replace(/order\.\w+/, '%zz'), { token, body });
  }
  if (name === 'createListener')
    await api.ask(method, path, { token, body: { url: 'https://hooks.test', actions: ['order.nope'], name: 'other' } });
  if (name === 'trigger') await api.ask(method, path, { token, body: { action: 'order.nope' } });
  if (path.includes(GUID))
    for (const wrong of ['x', '%zz']) await api.ask(method, path.replace(GUID, wrong), { token, body });
  if (path.includes(HOST))
    for (const wrong of ['-_-%2F', '%zz']) await api.ask(method, path.replace(HOST, wrong), { token, body });
  if (body !== undefined) {
    await api.ask(method, path, { token, raw: '{', headers: json });
    await api.ask(method, path, { token, raw: '{}', headers: { ...json, 'content-encoding': 'gzip' } });
    await api.ask(method, path, { token, raw: 'a', headers: { 'content-type': 'text/plain' } });
    await api.ask(method, path, { token, raw: ' '.repeat(65_537), headers: json });
    await api.ask(method, path, { token, body: { unknown: 1 } });
  }
}

/** A link to the console that is opened, and bodies that open none. */
async function openLinks(): Promise<void> {
  const at = '/v1/console-sessions';
  const { path } = await createConsoleLink(api.store.postgres, { accountGuid: tokens.carrier.account });
  const code = path.replace(/.*=/, '');
  for (const body of [{ code }, { code }, { unknown: 1 }]) await api.ask('POST', at, { body });
  await api.ask('POST', at, { raw: '{', headers: json });
  await api.ask('POST', at, { raw: '{}', headers: { ...json, 'content-encoding': 'gzip' } });
  await api.ask('POST', at, { raw: 'a', headers: { 'content-type': 'text/plain' } });
  await api.ask('POST', at, { raw: ' '.repeat(65_537), headers: json });
}

/** Stores as many credentials as allowed. */
async function fillCredentials(): Promise<void> {
  const { account, all: token } = tokens.carrier;
  await api.store.postgres.query(
    `insert into waybell.credentials (guid, account_guid, client_id, host, kinds, shown, sealed, key_id)
     select gen_random_uuid(), $1, 'default', n || '.test', '{}', '{}', '', 'test' from generate_series(1, 100) n`,
    [account],
  );
  await api.ask('PUT', `/v1/credentials/${HOST}`, { token, body: { headers: { 'X-Api-Key': 'p4ssw0rd' } } });
}

/** Sends by hand everything that a client can, and provokes each refusal. */
async function sendByHand(): Promise<void> {
  const { account, all: token } = tokens.carrier;
  const { postgres } = api.store;
  const subscribe = { token, body: { callback_url } };
  await api.ask('POST', '/v1/webhooks/order.created/subscriptions/', subscribe);
  const { rows } = await postgres.query(
    "select guid from waybell.subscriptions where ended_at is null and account_guid = $1 and client_id = 'default'",
    [account],
  );
  const subscription = String(rows[0].guid);
  const log = (more = {}) => logDelivery(postgres, { account, interface: 'carrier', mark: 'x', subscription, ...more });
  const resend = ({ delivery }: { delivery: string }) =>
    api.ask('POST', `/v1/deliveries/${delivery}/resend`, { token });
  const [first, bodiless, last] = [await log(), await log(), await log()];
  await resend(first);
  await resend(first);
  await postgres.query('update delivery_log.attempts set place = null where delivery = $1', [bodiless.delivery]);
  await resend(bodiless);
  await resend(await log({ byHand: 'test' }));

  await api.ask('POST', '/v1/triggers', { token, body: { action: 'order.created' } });

  const at = `/v1/subscriptions/${subscription}`;
  const inPlace = async () => {
    await api.ask('GET', at, { token });
    for (const body of [{ callback_url }, { is_active: false }]) await api.ask('PATCH', at, { token, body });
    for (const verb of ['pause', 'resume']) await api.ask('POST', `${at}/${verb}`, { token });
  };
  await inPlace();
  await api.ask('POST', '/v1/replays', { token, body: { subscription_guid: subscription, missed: true } });
  const stopAll = (since: string) =>
    postgres.query(
      `update waybell.subscriptions set stopped_at = ${since}, stopped_reason = 'moved' where account_guid = $1`,
      [account],
    );
  await stopAll('now()');
  await api.ask('POST', `${at}/test`, { token });
  await api.ask('POST', '/v1/triggers', { token, body: { action: 'order.created' } });
  await stopAll('null');

  const replay = { subscription_guid: subscription, since: '2026-11-20T00:00:00Z' };
  await api.ask('POST', '/v1/replays', { token, body: { ...replay, dry_run: true } });
  const { body: made } = await api.ask('POST', '/v1/replays', { token, body: replay });
  for (const method of ['GET', 'DELETE']) await api.ask(method, `/v1/replays/${made.guid}`, { token });

  const tryOut = () => api.ask('POST', `/v1/subscriptions/${subscription}/test`, { token });
  const tried = tryOut();
  const event = await untilAskedForTest();
  await tryOut();
  await log({ event });
  await tried;
  await postgres.query(
    "update waybell.subscriptions set is_active = false, deactivated_at = now(), deactivation_rule = 'window' where guid = $1",
    [subscription],
  );
  await inPlace();
  await resend(last);
  await api.ask('POST', '/v1/replays', { token, body: replay });
  await api.ask('DELETE', '/v1/webhooks/order.created/subscriptions/', { token });
  await resend(last);
  await api.ask('POST', '/v1/replays', { token, body: replay });
}

/** Reads the stream of a listener, and the answer after its end. */
async function listen(): Promise<void> {
  const { all: token } = tokens.carrier;
  const body = { url: 'https://hooks.test', name: 'contract' };
  const { body: listener } = await api.ask('POST', '/v1/listeners', { token, body });
  await api.ask('POST', '/v1/listeners', {
    token: tokens.shipper.all,
    body: { ...body, actions: ['insurance.issued'] },
  });
  const at = `/v1/listeners/${listener.guid}`;
  const { rows } = await api.store.postgres.query(
    'select callback_url from waybell.subscriptions where callback_url like $1',
    [`%${listener.guid}%`],
  );
  const { search } = new URL(rows[0].callback_url);
  const call = () => api.ask('POST', `${at}/requests${search}`, { body: {} });
  await call();
  {
    await using stream = await readLive(api.port, { token, path: `${at}/requests` });
    await until('callbacks come', () => stream.of('listening').length > 0);
    const called = call();
    const request = await until('it is called', () => stream.of('request')[0]?.['id']);
    await api.ask('POST', `${at}/answers`, { token, body: { request, status: 200, body: 'taken' } });
    await called;
  }
  await api.ask('GET', `${at}/requests`, { token });
  for (const key of ['?key=x', '?lock=x', '']) await api.ask('POST', `${at}/requests${key}`, { body: {} });
  await api.ask('POST', '/v1/listeners/%zz/requests', { body: {} });
  await api.ask('POST', `${at}/requests${search}`, { raw: 'a', headers: { 'content-type': 'text/plain' } });
  await api.ask('POST', `${at}/requests${search}`, { raw: ' '.repeat(400_000), headers: json });
  await api.ask('DELETE', at, { token });
  await call();
  for (const [method, path, more] of [
    ['GET', 'requests', {}],
    ['POST', 'answers', { body: { request: 'a', status: 200 } }],
  ] as const)
    await api.ask(method, `${at}/${path}`, { token, ...more });
  await api.ask('DELETE', at, { token });
  const { body: next } = await api.ask('POST', '/v1/listeners', { token, body });
  await api.ask('POST', `/v1/listeners/${next.guid}/answers`, { token, body: { request: 'a', status: 200 } });
}

/** Resolves once the requested test is stored in place of the deliverer's message. */
async function untilAskedForTest(): Promise<string> {
  return until('it is to be sent', async () => {
    const { rows } = await api.store.postgres.query(
      "select event from delivery_log.sendings where why = 'test' and not is_retried",
    );
    return rows[0]?.event;
  });
}

describe('openapi.json', () => {
  test('tells of every answer, and of none that is never given', async () => {
    for (const each of asks) await provoke(each);
    await api.ask('POST', `${base}/insurance.issued/subscribe`, { token: tokens.shipper.all, body: { callback_url } });
    await api.ask('POST', '/v1/triggers', { token: tokens.shipper.all, body: { action: 'insurance.issued' } });
    await api.ask('GET', '/v1/deliveries?status=lost', { token: tokens.carrier.all });
    await api.ask('GET', '/v1/deliveries?after=1.1', { token: tokens.carrier.all });
    await api.ask('GET', '/v1/live?kind=lost', { token: tokens.carrier.all });
    await api.ask('GET', '/v1/statistics?hours=1', { token: tokens.carrier.all });
    await api.ask('GET', '/v1/missed?since=2026-11-25T00:00:00Z&until=2026-11-24T00:00:00Z', {
      token: tokens.carrier.all,
    });
    for (const path of ['/v1/timeline', '/v1/timeline/4711?limit=0'])
      await api.ask('GET', path, { token: tokens.carrier.all });
    const { delivery } = await logDelivery(api.store.postgres, { ...tokens.carrier, interface: 'carrier', mark: 'x' });
    await api.ask('GET', `/v1/deliveries/${delivery}`, { token: tokens.carrier.all });
    await sendByHand();
    await fillCredentials();
    await listen();
    for (const path of [
      '/openapi.json',
      '/openapi/carrier.json',
      '/asyncapi.json',
      '/schemas/carrier.order.created.event.json',
      '/docs',
      '/docs/start.js',
      '/docs/source-networks',
      '/v1/source-networks',
    ]) {
      const { headers } = await api.ask('GET', path);
      await api.ask('GET', path, { headers: { 'if-none-match': headers.get('etag') ?? '' } });
    }
    for (const path of [
      '/',
      '/docs/',
      '/docs/source-networks/',
      '/docs/nope',
      '/docs/%zz',
      '/openapi/nope',
      '/openapi/%zz',
      '/schemas/nope',
      '/schemas/%zz',
    ])
      await api.ask('GET', path);
    await openLinks();
    const missing = unseen(api);
    expect(missing.filter((answer) => !/ (429|50[034]) /.test(answer))).toEqual([]);
  });

  test('tells of the answer of each operation to a token that asks too much', async () => {
    await using strict = await startApi({ beside: api, limits: { requestsPerMinute: 1, failuresPerMinute: 2 } });
    const { token } = await signUp(strict, { interface: 'shipper' });
    await strict.ask('GET', base, { token });
    for (const { method, path, body } of asks)
      expect((await strict.ask(method, path, { token, body })).status).toBe(429);
    for (const status of [410, 410, 429])
      expect((await strict.ask('POST', '/v1/console-sessions', { body: { code: 'x' } })).status).toBe(status);
    expect(unseen(strict).filter((answer) => / 429 /.test(answer))).toEqual([]);
  });

  test('tells of the answers of each operation while the database is away, or broken', async () => {
    await using proxy = await Detour.to((await borrowPostgres()).url);
    await using failing = await startApi({ through: (url) => url.replace(new URL(url).host, new URL(proxy.url).host) });
    const { token } = await signUp(failing, { interface: 'shipper' });
    await failing.store.postgres.query('alter table waybell.access_tokens rename to elsewhere');
    for (const { method, path, body } of asks)
      expect((await failing.ask(method, path, { token, body })).status).toBe(500);
    await proxy.shut();
    for (const { method, path, body } of asks)
      expect((await failing.ask(method, path, { token, body })).status).toBe(503);
    await proxy.reopen();
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
