import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { isDeepStrictEqual } from 'node:util';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { until } from '@waybell/runtime/testing/until';
import { shared } from '@waybell/runtime/testing/shared';
import { httpServer } from '@waybell/runtime/testing/server';
import { readLive } from '../testing/live-reader.ts';
import { createConsoleLink } from '../console-links.ts';
import { signUp, startApi } from '../testing/api.ts';
import { documentedOperations, type DocumentedOperation } from '../testing/documented-operations.ts';
import { logDelivery } from '../testing/logged-delivery.ts';
import { createToken } from '../tokens.ts';

const callback_url = 'https://hooks.test/a';
const placeOf = (account: string, client = 'default') =>
  `/v1/admin/accounts/${account}/clients/${encodeURIComponent(client)}`;
const unwrapped = (body: { data?: { object?: object } }): object => body.data?.object ?? body.data ?? body;

const api = shared(() => startApi());
let operator: { guid: string; token: string; tokenGuid: string };

beforeAll(async () => {
  const made = await signUp(api, { interface: 'shipper', scopes: ['admin'], clientId: 'support' });
  const { body } = await api.admin.ask('GET', `/v1/admin/accounts/${made.guid}/tokens`, { token: made.token });
  operator = { ...made, tokenGuid: body.objects[0].guid };
});

/** Calls the API as the operator, below the client's path. */
const act = (account: string, client = 'default') => {
  const place = placeOf(account, client);
  return (method: string, path: string, body?: unknown) =>
    api.admin.ask(method, `${place}${path}`, { token: operator.token, body });
};

async function aSubscriber(interfaceName: 'shipper' | 'carrier' = 'carrier') {
  const { guid, token } = await signUp(api, { interface: interfaceName, name: 'Acme' });
  const body = { callback_url, actions: ['order.created'] };
  const put = await api.ask('PUT', '/v1/subscriptions', { token, body });
  const { objects } = unwrapped(put.body) as {
    objects: { subscription: { guid: string; verification_token: string } }[];
  };
  const [{ subscription } = { subscription: { guid: '', verification_token: '' } }] = objects;
  return { account: guid, token, subscription: subscription.guid, verification: subscription.verification_token };
}

describe('an operator that acts for a client', () => {
  test.each(['shipper', 'carrier'] as const)('is answered as the client of a %s is', async (interfaceName) => {
    const { account, token, subscription } = await aSubscriber(interfaceName);
    const { delivery } = await logDelivery(api.store.postgres, {
      account,
      interface: interfaceName,
      subscription,
      mark: 'x',
    });
    const ask = act(account);
    const told = { account_guid: account, account_name: 'Acme', client_id: 'default', interface: interfaceName };
    const own = await ask('GET', '/token');
    expect(unwrapped(own.body)).toMatchObject({ ...told, scopes: ['webhooks:read', 'webhooks:write'] });
    const since = '2026-01-01T00:00:00Z';
    for (const path of [
      '/deliveries',
      `/deliveries/${delivery}`,
      `/timeline/${delivery}`,
      '/replays',
      `/missed?since=${since}`,
    ]) {
      const [theirs, clients] = [await ask('GET', path), await api.ask('GET', `/v1${path}`, { token })];
      expect([theirs.status, clients.status]).toEqual([200, 200]);
      // Until now, of both.
      const withoutNow = (body: object) => ({ ...unwrapped(body), until: undefined });
      expect(withoutNow(theirs.body)).toEqual(withoutNow(clients.body));
    }
    expect((await ask('GET', '/statistics')).status).toBe(200);
  });

  test('finds neither an account nor a client that is not there, and is told which clients there are', async () => {
    const { account } = await aSubscriber();
    await createToken(api.store.postgres, { accountGuid: account, clientId: 'tms' });
    expect(await act(randomUUID())('GET', '/subscriptions')).toMatchObject({
      status: 404,
      body: { type: 'urn:waybell:problem:unknown-account' },
    });
    expect(await act(account, 'tsm')('GET', '/subscriptions')).toMatchObject({
      status: 404,
      body: {
        type: 'urn:waybell:problem:unknown-client',
        detail: 'this account has no client "tsm": it has default, tms',
      },
    });
    expect((await act('acme')('GET', '/subscriptions')).status).toBe(422);
    expect((await act(account, 'default listen')('GET', '/subscriptions')).status).toBe(404);
  });

  test.each(['t/m%s?x=1&y#z', '%2F', '..;/\\"<b>', 'a+b'])('names the client %s in the path', async (clientId) => {
    const { guid: account } = await signUp(api, { interface: 'carrier', clientId });
    const ask = act(account, clientId);
    expect((await ask('GET', '/token')).body).toMatchObject({ account_guid: account, client_id: clientId });
    const put = await ask('PUT', '/subscriptions', { callback_url, actions: ['order.created'] });
    expect(put.status).toBe(200);
    const { rows } = await api.store.postgres.query(
      'select client_id from waybell.subscriptions where account_guid = $1',
      [account],
    );
    expect(rows).toEqual([{ client_id: clientId }]);
  });

  test('is shown no verification token, and the client its own', async () => {
    for (const interfaceName of ['shipper', 'carrier'] as const) {
      const { account, token, subscription, verification } = await aSubscriber(interfaceName);
      expect(verification).toEqual(expect.any(String));
      const ask = act(account);
      const at = `/subscriptions/${subscription}`;
      const by = {
        shipper: '/public/webhooks/order.booked/subscribe',
        carrier: '/webhooks/order.updated/subscriptions/',
      };
      const list = { shipper: '/public/webhooks', carrier: '/webhooks/order.created/subscriptions/' };
      const answers = [
        await ask('GET', at),
        await ask('PATCH', at, { callback_url: 'https://hooks.test/b' }),
        await ask('PUT', '/subscriptions', { callback_url, actions: ['order.*'] }),
        await ask('POST', by[interfaceName], { callback_url }),
        await ask('GET', list[interfaceName]),
      ];
      expect(answers.map(({ status }) => status)).toEqual([
        200,
        200,
        200,
        interfaceName === 'shipper' ? 200 : 409,
        200,
      ]);
      for (const { text } of answers) expect(text).not.toContain('verification_token');
      const { body } = await api.ask('GET', `/v1${at}`, { token });
      expect(unwrapped(body)).toMatchObject({ verification_token: verification });
    }
  });

  test.each([
    ['GET', '/signing-secrets'],
    ['POST', '/signing-secrets/rotate'],
    ['GET', '/credentials'],
    ['PUT', '/credentials/hooks.test'],
    ['POST', '/listeners'],
    ['POST', '/triggers'],
    ['GET', ''],
    ['GET', '/v1/token'],
  ])('has no %s %s', async (method, path) => {
    const { account } = await aSubscriber();
    const answer = await act(account)(method, path, method === 'GET' ? undefined : {});
    expect(answer).toMatchObject({ status: 404, body: { type: 'urn:waybell:problem:unknown-path' } });
  });

  test('is in the audit log with all that it changed, asked to be sent or tried out; a client with its own', async () => {
    const { account, token, subscription } = await aSubscriber();
    const { postgres } = api.store;
    const logged = () => logDelivery(postgres, { account, interface: 'carrier', subscription, mark: 'x' });
    const [first, other] = [await logged(), await logged()];
    const ask = act(account);
    const at = `/subscriptions/${subscription}`;
    const since = '2026-01-01T00:00:00Z';
    const sendings = "select event from delivery_log.sendings where why = 'test' and account = $1";
    await ask('POST', `${at}/pause`, {});
    await ask('PATCH', at, { callback_url: 'https://hooks.test/b' });
    await ask('POST', `/deliveries/${first.delivery}/resend`);
    const replay = await ask('POST', '/replays', { action: '*', since });
    expect(replay).toMatchObject({ status: 202, body: { total: 1, action: '*', requested_by: 'operator' } });
    await ask('DELETE', `/replays/${replay.body.guid}`);
    const tested = ask('POST', `${at}/test`);
    const [{ event }] = await until('it is asked for', async () => {
      const { rows } = await postgres.query(sendings, [account]);
      return rows.length === 1 && rows;
    });
    await logDelivery(postgres, { account, interface: 'carrier', subscription, mark: 'x', event, byHand: 'test' });
    expect((await tested).status).toBe(200);
    await ask('DELETE', '/webhooks/order.created/subscriptions/');
    await ask('PUT', '/subscriptions', { callback_url, actions: ['order.created'] });
    const own = await api.ask('POST', '/v1/replays', { token, body: { action: 'order.created', since } });
    expect(own.body).toMatchObject({ requested_by: 'client', total: 1 });

    const { body } = await api.admin.ask('GET', `/v1/admin/audit?account=${account}`, { token: operator.token });
    const by = (who: string) =>
      body.objects
        .filter((each: { who: string }) => each.who === who)
        .map(({ what }: { what: string }) => what)
        .toReversed();
    expect(by(`token ${operator.tokenGuid}`)).toEqual([
      'subscription.changed',
      'subscription.changed',
      'resend.created',
      'replay.created',
      'replay.changed',
      'test.created',
      'subscription.changed',
      'subscription.created',
    ]);
    const changes: { what: string; who: string; subject_guid: string; details: object }[] = body.objects;
    const replays = changes.filter(({ what }) => what === 'replay.created');
    expect(replays).toMatchObject([
      { subject_guid: own.body.guid, details: { action: 'order.created', client: 'default' } },
      { subject_guid: replay.body.guid, details: { action: '*', client: 'default' } },
    ]);
    expect(replays[0]?.who).not.toBe(replays[1]?.who);
    expect(changes.find(({ what }) => what === 'resend.created')).toMatchObject({
      details: { delivery: first.delivery, subscription },
    });
    expect(other.delivery).not.toBe(first.delivery);
    const ofSubscription = `/v1/admin/audit?subscription=${subscription}`;
    const { body: only } = await api.admin.ask('GET', ofSubscription, { token: operator.token });
    expect(only.objects.map(({ what }: { what: string }) => what)).toContain('test.created');
  });

  test('watches what happens to the client', async () => {
    const { account, subscription } = await aSubscriber();
    await using stream = await readLive(api.admin.port, { token: operator.token, path: `${placeOf(account)}/live` });
    const what = { account, interface: 'carrier', subscription, mark: 'x' } as const;
    const { delivery } = await logDelivery(api.store.postgres, what);
    const [told] = await until('it is told', () => stream.of('attempt').length > 0 && stream.of('attempt'));
    expect(told).toMatchObject({ delivery_guid: delivery });
  });

  test('is measured and counted by its own token, without the name of the client', async () => {
    await using strict = await startApi({ limits: { requestsPerMinute: 2 } });
    const { token } = await signUp(strict, { interface: 'shipper', scopes: ['admin'] });
    const client = await signUp(strict, { interface: 'carrier', clientId: 'of-a-name' });
    const ask = () => strict.admin.ask('GET', `${placeOf(client.guid, 'of-a-name')}/subscriptions`, { token });
    expect([(await ask()).status, (await ask()).status, (await ask()).status]).toEqual([200, 200, 429]);
    expect((await strict.ask('GET', '/v1/subscriptions', { token: client.token })).status).toBe(200);
    const measured = await strict.metrics.metrics();
    expect(measured).toContain('route="/v1/admin/accounts/:account/clients/:client/subscriptions"');
    expect(measured).not.toContain('of-a-name');
  });
});

describe('no operation for a client', () => {
  let operations: DocumentedOperation[];

  beforeAll(async () => {
    const { body } = await api.admin.ask('GET', '/admin-openapi.json');
    operations = documentedOperations(body).filter(({ name }) => name.endsWith('ForClient'));
  });

  test('is left out of these tests', () => expect(operations.length).toBeGreaterThan(20));

  /** The common answer of all of them. */
  const asked = async (how: { account: string; client: string; token?: string }) => {
    const statuses = new Set<string>();
    for (const { method, path } of operations) {
      const at = path.replace('{account}', how.account).replace('{client}', how.client);
      const { status, body } = await api.admin.ask(method, at.replaceAll(/\{\w+\}/g, randomUUID()), how);
      statuses.add(`${status} ${body?.type}`);
    }
    return [...statuses];
  };

  test('answers without a token, or with one of the client itself, or of another', async () => {
    const { account, token } = await aSubscriber();
    const { token: stranger } = await aSubscriber('shipper');
    expect(await asked({ account, client: 'default' })).toEqual(['401 urn:waybell:problem:unauthenticated']);
    for (const each of [token, stranger])
      expect(await asked({ account, client: 'default', token: each })).toEqual([
        '403 urn:waybell:problem:insufficient-scope',
      ]);
  });

  test('takes a path that names neither', async () => {
    const { account } = await aSubscriber();
    const { token } = operator;
    expect(await asked({ account: 'acme', client: 'default', token })).toEqual([
      '422 urn:waybell:problem:invalid-parameter',
    ]);
    expect(await asked({ account, client: '%zz', token })).toEqual(['400 urn:waybell:problem:malformed-request']);
  });

  test('takes a client or an account that there is not', async () => {
    const { account } = await aSubscriber();
    const { token } = operator;
    expect(await asked({ account, client: 'other', token })).toEqual(['404 urn:waybell:problem:unknown-client']);
    expect(await asked({ account: randomUUID(), client: 'default', token })).toEqual([
      '404 urn:waybell:problem:unknown-account',
    ]);
  });
});

describe('GET /v1/admin/accounts/{guid}/clients', () => {
  test('tells the clients that an account has, how many subscriptions each, and the latest use of a token', async () => {
    const { account, token, subscription } = await aSubscriber();
    await createToken(api.store.postgres, { accountGuid: account, clientId: 'tms' });
    // Not opened yet, it is no token.
    await createConsoleLink(api.store.postgres, { accountGuid: account, clientId: 'tms' });
    await api.ask('PUT', '/v1/subscriptions', { token, body: { callback_url, actions: ['order.updated'] } });
    await api.ask('POST', '/v1/listeners', { token, body: { url: 'https://hooks.test' } });
    await api.store.postgres.query('update waybell.subscriptions set is_active = false where guid = $1', [
      subscription,
    ]);
    const path = `/v1/admin/accounts/${account}/clients`;
    const { body } = await api.admin.ask('GET', path, { token: operator.token });
    expect(body.objects).toEqual([
      { client_id: 'default', subscriptions: 2, switched_off: 1, tokens: 1, token_last_used_at: expect.any(String) },
      { client_id: 'tms', subscriptions: 0, switched_off: 0, tokens: 1, token_last_used_at: null },
    ]);
    expect((await api.admin.ask('GET', `/v1/admin/accounts/${randomUUID()}/clients`, operator)).status).toBe(404);
    expect((await api.admin.ask('GET', path, { token })).status).toBe(403);
  });
});

/** Numbers that people choose. */
const NUMBERS = [
  '4711',
  'KÖLN-Süd 17',
  'PO 12/2026-A',
  'a//b',
  '../x',
  '/lead',
  'x/../y',
  '.',
  '..',
  '100%',
  'a+b',
  'a;b=c',
  'a#b',
  'a\\b',
  'a?b',
  'a&b',
  '%2F',
  ' x ',
  '~b',
];

describe('behind a proxy that decodes paths, merges slashes and resolves dots', () => {
  test('whatever people call an order is found by its name in the query, and a client by its id', async () => {
    const { account, token } = await aSubscriber();
    for (const number of NUMBERS)
      await logDelivery(api.store.postgres, { account, interface: 'carrier', mark: 'x', number });
    await using client = await changingProxy(api.port);
    await using operators = await changingProxy(api.admin.port);
    const found = async (url: string, by: string) => {
      const answer = await fetch(url, { headers: { authorization: `Bearer ${by}` } });
      const body = (await answer.json()) as { objects?: { keys: { key: string }[] }[] };
      return [answer.status, (body.objects ?? []).map(({ keys }) => keys[0]?.key)];
    };
    const misled: string[] = [];
    for (const number of NUMBERS) {
      const named = encodeURIComponent(number);
      const right = [200, [number.trim().toLowerCase()]];
      expect(await found(`${client.url}/v1/timeline?key=${named}`, token)).toEqual(right);
      expect(await found(`${operators.url}/v1/admin/why?as=key&anything=${named}`, operator.token)).toEqual(right);
      const byPath = await found(`${client.url}/v1/timeline/${named}`, token);
      if (!isDeepStrictEqual(byPath, right)) misled.push(number);
    }
    // The proxy is one of those.
    expect(misled).toEqual(expect.arrayContaining(['PO 12/2026-A', 'x/../y', '..']));
  });

  test('an operator acts for a client of any id', async () => {
    const { guid: account } = await signUp(api, { interface: 'carrier' });
    await using operators = await changingProxy(api.admin.port);
    for (const clientId of ['urn:x/../y', '..', 'a//b', '100%', '~b', 'auth0|7+8']) {
      await createToken(api.store.postgres, { accountGuid: account, clientId });
      const inPath = `~${Buffer.from(clientId).toString('base64url')}`;
      const url = `${operators.url}/v1/admin/accounts/${account}/clients/${inPath}/token`;
      const answer = await fetch(url, { headers: { authorization: `Bearer ${operator.token}` } });
      expect(await answer.json()).toMatchObject({ client_id: clientId });
    }
  });
});

/** A proxy in front of that port which treats paths as nginx does where its `proxy_pass` has a path. */
function changingProxy(port: number) {
  const pass = async (request: IncomingMessage, response: ServerResponse) => {
    const [path = '', query] = (request.url ?? '').split(/\?(.*)/s);
    const steps: string[] = [];
    for (const step of decodeURIComponent(path).split(/\/+/)) {
      if (step === '..') steps.pop();
      else if (step !== '.') steps.push(step);
    }
    const changed = encodeURI(steps.join('/')).replaceAll('?', '%3F').replaceAll('#', '%23');
    const { authorization = '' } = request.headers;
    const url = `http://127.0.0.1:${port}${changed}${query === undefined ? '' : `?${query}`}`;
    const answer = await fetch(url, { headers: { authorization, connection: 'close' } });
    response.writeHead(answer.status, { connection: 'close' }).end(await answer.text());
  };
  return httpServer(pass);
}
