import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { borrowPostgres } from '@waybell/runtime/testing/borrow';
import { RejectedQueue } from '@waybell/line/operating/rejected-queue';
import { deliveriesExchange } from '@waybell/line/topology';
import { until } from '@waybell/runtime/testing/until';
import { signUp, startApi, type TestApi } from '../testing/api.ts';
import { anEvent, startBroker } from '../testing/broker.ts';
import { Detour } from '@waybell/runtime/testing/detour';
import { shared } from '@waybell/runtime/testing/shared';

const accounts = '/v1/admin/accounts';
const json = { 'content-type': 'application/json' };

/** A request to each operation that needs a token. `body` is what it takes. */
type Ask = { method: string; path: string; body?: object };

type Named = { account: string; token: string; subscription: string; rejected: string };

const asksOf = ({ account, token, subscription, rejected }: Named): Ask[] => [
  { method: 'GET', path: accounts },
  { method: 'POST', path: accounts, body: { interface: 'shipper', guid: randomUUID() } },
  { method: 'GET', path: `${accounts}/${account}` },
  ...['subscriptions', 'clients'].map((of) => ({ method: 'GET', path: `${accounts}/${account}/${of}` })),
  ...[
    `why/${account}`,
    `why?anything=${account}`,
    'deliveries',
    'overview',
    'failing',
    'waiting',
    'switched-off',
    'held-deactivations',
    'stops',
    'audit',
    'token',
  ].map((path) => ({
    method: 'GET',
    path: `/v1/admin/${path}`,
  })),
  ...[`subscriptions/${subscription}`, 'hosts/receiver.test'].flatMap((what) => [
    { method: 'POST', path: `/v1/admin/${what}/stop`, body: { reason: 'moved' } },
    { method: 'POST', path: `/v1/admin/${what}/start`, body: {} },
  ]),
  { method: 'PATCH', path: `${accounts}/${account}`, body: { add_features: ['insurance'] } },
  { method: 'GET', path: `${accounts}/${account}/tokens` },
  { method: 'POST', path: `${accounts}/${account}/tokens`, body: { scopes: ['webhooks:read'], expires_in: '1d' } },
  { method: 'POST', path: `${accounts}/${account}/console-links`, body: { expires_in: '5m' } },
  { method: 'DELETE', path: `/v1/admin/tokens/${token}`, body: {} },
  { method: 'POST', path: `/v1/admin/rejected/${rejected}/check`, body: anEvent() },
  ...asksOfLine(rejected),
  // Last: nothing is made for it any more.
  { method: 'POST', path: `${accounts}/${account}/close`, body: { dry_run: false } },
  { method: 'POST', path: `${accounts}/${account}/tokens`, body: {} },
  { method: 'POST', path: `${accounts}/${account}/console-links`, body: {} },
  { method: 'POST', path: `${accounts}/${account}/open`, body: {} },
];

const asksOfLine = (rejected: string): Ask[] => [
  ...['queues', 'rejected', `rejected/${rejected}`].map((path) => ({ method: 'GET', path: `/v1/admin/${path}` })),
  { method: 'POST', path: `/v1/admin/rejected/${rejected}/publish`, body: anEvent() },
  { method: 'POST', path: '/v1/admin/rejected/retry', body: { all: true } },
  { method: 'POST', path: '/v1/admin/rejected/purge', body: { all: true } },
];

/**
 * Answers whose status is, or is not, one of a server that fails or is asked too much. What is answered for a client is made from the
 * document for clients, and held to be so with that and in acting.postgres.test.ts.
 */
const unseen = ({ admin: { contract } }: TestApi, isOfTrouble: boolean) =>
  [...contract.documented].filter(
    (answer) =>
      !contract.seen.has(answer) && !/^\w+ForClient /.test(answer) && / (429|50[013]) /.test(answer) === isOfTrouble,
  );

const broker = shared(() => startBroker());
const api = shared(() => startApi({ brokerUrl: broker.url }));
let operator: { guid: string; token: string };
let asks: Ask[];

beforeAll(async () => {
  operator = await signUp(api, { interface: 'shipper', scopes: ['admin'] });
  const { guid, token } = await signUp(api, { interface: 'shipper' });
  const subscribed = await api.ask('POST', '/v1/public/webhooks/order.paid/subscribe', {
    token,
    body: { callback_url: 'https://hooks.test/a' },
  });
  const subscription = subscribed.body.data.object.guid;
  const { body } = await api.admin.ask('GET', `${accounts}/${guid}/tokens`, { token: operator.token });
  await broker.reject({ body: Buffer.from('a') });
  const [{ id }] = await listedIn(1);
  asks = asksOf({ account: guid, token: body.objects[0].guid, subscription, rejected: id });
});

/** The rejected messages, once there are so many. */
const listedIn = (count: number) =>
  until(`${count} messages are rejected`, async () => {
    const { body } = await api.admin.ask('GET', '/v1/admin/rejected', { token: operator.token });
    return body.objects.length === count && body.objects;
  });

/** Every answer of what is to be done with rejected messages that are not as one would hope. */
async function provokeRejected(): Promise<void> {
  const { token } = operator;
  const { ask } = api.admin;
  const [one, other] = [anEvent(), anEvent()].map((event) => Buffer.from(JSON.stringify(event)));
  await broker.reject(
    { body: one ?? Buffer.alloc(0) },
    { body: other ?? Buffer.alloc(0), exchange: deliveriesExchange },
  );
  const ids = (await listedIn(2)).map(({ id }: { id: string }) => id);
  await ask('GET', '/v1/admin/rejected/4711', { token });
  for (const id of ids) await ask('POST', `/v1/admin/rejected/${id}/publish`, { token, body: anEvent() });
  for (const verb of ['retry', 'purge'])
    await ask('POST', `/v1/admin/rejected/${verb}`, { token, body: { ids: ['x'] } });
  const tooLong = 'x'.repeat(201);
  await ask('GET', `/v1/admin/rejected/${tooLong}`, { token });
  for (const verb of ['publish', 'check'])
    await ask('POST', `/v1/admin/rejected/${tooLong}/${verb}`, { token, body: anEvent() });
  await using _taken = await RejectedQueue.open({ url: broker.url });
  // At once: each waits whether the queue is given back.
  await Promise.all(asksOfLine(ids[0]).map(({ method, path, body }) => ask(method, path, { token, body })));
}

/** Ends the only token of a client that is subscribed. */
async function revokeLast(): Promise<void> {
  const { guid, token } = await signUp(api, { interface: 'shipper' });
  const body = { callback_url: 'https://hooks.test/a' };
  await api.ask('POST', '/v1/public/webhooks/order.paid/subscribe', { token, body });
  const asOperator = { token: operator.token };
  const { body: tokens } = await api.admin.ask('GET', `${accounts}/${guid}/tokens`, asOperator);
  await api.admin.ask('DELETE', `/v1/admin/tokens/${tokens.objects[0].guid}`, asOperator);
}

/** Every answer to one operation but those of trouble. */
async function provoke({ method, path, body }: Ask, stranger: string): Promise<void> {
  const { token } = operator;
  const { ask } = api.admin;
  for (const each of [token, token, undefined, 'wbl_x', stranger]) await ask(method, path, { token: each, body });
  for (const guid of [randomUUID(), 'no:guid', '%zz']) {
    const elsewhere = path.replace(/[0-9a-f-]{36}|[0-9a-f]{10}|receiver\.test/, guid);
    if (elsewhere !== path) await ask(method, elsewhere, { token, body });
  }
  if (method === 'GET') {
    const next = path.includes('?') ? '&' : '?';
    await ask(method, `${path}${next}limit=x`, { token });
    for (const query of [`${next}account=${randomUUID()}`, `${next}as=account`])
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
    await provokeRejected();
    await revokeLast();
    await api.admin.ask('GET', `${accounts}?after=nobody`, { token: operator.token });
    await api.admin.ask('GET', '/');
    const { headers } = await api.admin.ask('GET', '/admin-openapi.json');
    const kept = { 'if-none-match': headers.get('etag') ?? '' };
    expect((await api.admin.ask('GET', '/admin-openapi.json', { headers: kept })).status).toBe(304);
    expect(unseen(api, false)).toEqual([]);
  });

  test('tells of the answers of each operation to one who asks too much, and while the database is away, or broken', async () => {
    await using proxy = await Detour.to((await borrowPostgres()).url);
    await using failing = await startApi({
      limits: { requestsPerMinute: 1 + asksOfLine('').length + asks.length * 2 },
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
    for (const { method, path, body } of asksOfLine('0123456789'))
      expect((await failing.admin.ask(method, path, { token, body })).status).toBe(501);
    await failing.store.postgres.query('alter table waybell.access_tokens rename to elsewhere');
    await askAll(500);
    await proxy.shut();
    await askAll(503);
    await askAll(429);
    await proxy.reopen();
    const documents = (answer: string) => /^get(AdminOpenApi|Root) /.test(answer);
    expect(unseen(failing, true).filter((answer) => !documents(answer))).toEqual([]);
  });
});
