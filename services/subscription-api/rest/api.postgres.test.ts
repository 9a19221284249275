import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { borrowPostgres } from '@waybell/runtime/testing/borrow';
import { until } from '@waybell/runtime/testing/until';
import { migrate } from '../migrate.ts';
import { signUp, startApi } from '../testing/api.ts';
import type { Answer } from '../testing/ask.ts';
import { Detour } from '@waybell/runtime/testing/detour';
import { shared } from '@waybell/runtime/testing/shared';
import { silentLog } from '@waybell/runtime/testing/patience';
import { createToken, revokeToken } from '../tokens.ts';

const base = '/v1/public/webhooks';
const subscribePath = `${base}/order.created/subscribe`;
const unsubscribePath = `${base}/order.created/unsubscribe`;
const callback_url = 'https://hooks.test/a';
const json = 'application/json';

const api = shared(() => startApi());
let shipper: { guid: string; token: string };
let carrier: { guid: string; token: string };

beforeAll(async () => {
  shipper = await signUp(api, { interface: 'shipper' });
  carrier = await signUp(api, { interface: 'carrier' });
});

/** Returns the answer on a connection of its own; empty if it is closed without one. */
function answerTo(port: number, begun: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(begun));
    let received = '';
    socket
      .setEncoding('utf8')
      .on('data', (data) => (received += data))
      .on('error', () => socket.destroy())
      .on('close', () => resolve(received));
  });
}

/** The way to a database that leads through the proxy. */
const through = (proxy: { url: string }) => (url: string) => url.replace(new URL(url).host, new URL(proxy.url).host);

/** The status of an answer that is a problem in every respect. */
function problemStatus({ status, headers, body }: Answer): number {
  expect(headers.get('content-type')).toBe('application/problem+json');
  expect(body).toMatchObject({ type: expect.stringMatching(/^urn:waybell:problem:/), status });
  expect(body).toMatchObject({ title: expect.any(String), detail: expect.any(String) });
  expect(body.instance).toBe(headers.get('x-request-id'));
  return status;
}

describe('every answer', () => {
  test('carries a request id, is not stored, and tells nothing of what serves it', async () => {
    const { headers } = await api.ask('GET', base, { token: shipper.token });
    expect(headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('content-security-policy')).toContain("default-src 'none'");
    const told = [...headers.keys()].filter((name) => !/^(connection|content-(length|type)|date|ratelimit)/.test(name));
    expect(told).toEqual([
      'cache-control',
      'content-security-policy',
      'cross-origin-resource-policy',
      'referrer-policy',
      'strict-transport-security',
      'x-content-type-options',
      'x-frame-options',
      'x-request-id',
    ]);
  });
});

describe('authentication', () => {
  test.each([
    ['no header', {}],
    ['another scheme', { authorization: 'Basic dTpw' }],
    ['no token', { authorization: 'Bearer' }],
  ])('with %s answers 401 without saying more', async (_name, headers) => {
    const answer = await api.ask('GET', base, { headers });
    expect(problemStatus(answer)).toBe(401);
    expect(answer.headers.get('www-authenticate')).toBe('Bearer realm="waybell"');
  });

  test('with an unknown, malformed, expired or revoked token answers 401 and says which', async () => {
    const expired = await createToken(api.store.postgres, { accountGuid: shipper.guid, expiresInMs: 1 });
    const revoked = await createToken(api.store.postgres, { accountGuid: shipper.guid });
    await revokeToken(api.store.postgres, revoked);
    const cases = { unknown: 'wbl_x', malformed: 'a b', expired, revoked };
    for (const [name, token] of Object.entries(cases)) {
      const answer = await api.ask('GET', base, { token });
      expect(problemStatus(answer)).toBe(401);
      expect(answer.headers.get('www-authenticate')).toMatch(
        new RegExp(`^Bearer realm="waybell", error="invalid_token", error_description=".*${name}`),
      );
    }
  });

  test('knows a token by all of it', async () => {
    const { token } = shipper;
    const almost = [token.slice(0, -1), `${token}A`, `${token}=`, token.slice(4), token.toUpperCase(), `x${token}`];
    for (const each of almost) expect(problemStatus(await api.ask('GET', base, { token: each }))).toBe(401);
  });

  test('takes the scheme in any case', async () => {
    const headers = { authorization: `bEARER  ${shipper.token}` };
    expect((await api.ask('GET', base, { headers })).status).toBe(200);
  });

  test('answers 403 to a token of the other interface', async () => {
    expect(problemStatus(await api.ask('GET', base, { token: carrier.token }))).toBe(403);
    const answer = await api.ask('GET', '/v1/webhooks', { token: shipper.token });
    expect(problemStatus(answer)).toBe(403);
    expect(answer.headers.get('www-authenticate')).toMatch(
      /^Bearer realm="waybell", error="insufficient_scope", error_description="[^"\\]+"$/,
    );
  });

  test('answers 403 to a token without the scope, naming it', async () => {
    const reader = await createToken(api.store.postgres, { accountGuid: shipper.guid, scopes: ['webhooks:read'] });
    const writer = await createToken(api.store.postgres, { accountGuid: shipper.guid, scopes: ['webhooks:write'] });
    const cases = [
      ['POST', subscribePath, reader, 'webhooks:write'],
      ['POST', unsubscribePath, reader, 'webhooks:write'],
      ['GET', base, writer, 'webhooks:read'],
      ['GET', `${base}/action_types`, writer, 'webhooks:read'],
    ] as const;
    for (const [method, path, token, scope] of cases) {
      const answer = await api.ask(method, path, { token });
      expect(problemStatus(answer)).toBe(403);
      expect(answer.headers.get('www-authenticate')).toContain(`error="insufficient_scope", scope="${scope}"`);
    }
  });

  test('notes the use of a token at most once a minute', async () => {
    const token = await createToken(api.store.postgres, { accountGuid: shipper.guid, clientId: 'noted' });
    const version = async () =>
      (await api.store.postgres.query(`select xmin, last_used_at from waybell.access_tokens where client_id = 'noted'`))
        .rows[0];
    expect((await version()).last_used_at).toBeNull();
    await api.ask('GET', base, { token });
    const first = await version();
    expect(first.last_used_at).toBeInstanceOf(Date);
    await api.ask('GET', base, { token });
    expect(await version()).toEqual(first);
  });
});

describe('a database whose sessions write dates in another way', () => {
  test('opens nothing to tokens that were revoked or expired, and tells the same of the rest', async () => {
    const account = { accountGuid: shipper.guid };
    const [good, revoked, expired] = await Promise.all([
      createToken(api.store.postgres, account),
      createToken(api.store.postgres, account),
      createToken(api.store.postgres, { ...account, expiresInMs: 1 }),
    ]);
    await revokeToken(api.store.postgres, revoked);
    await api.store.postgres.query(`alter database ${api.store.name} set datestyle = 'German, DMY'`);
    try {
      await using odd = await startApi({ beside: api });
      for (const token of [revoked, expired]) {
        await until('it is over', async () => (await odd.ask('GET', '/v1/subscriptions', { token })).status === 401);
      }
      for (const path of ['/v1/subscriptions', '/v1/signing-secrets', base]) {
        const [told, asBefore] = await Promise.all([odd, api].map((each) => each.ask('GET', path, { token: good })));
        expect([path, told?.status, told?.body]).toEqual([path, 200, asBefore?.body]);
      }
    } finally {
      await api.store.postgres.query(`alter database ${api.store.name} reset datestyle`);
    }
  });
});

describe('paths and methods', () => {
  test.each([
    ['GET', '/v1/webhook'],
    ['GET', '/V1/webhooks'],
    ['POST', `${base}/order.created/subscribe/now`],
    ['GET', '/v1/public/webhooks//'],
  ])('%s %s answers 404', async (method, path) => {
    expect(problemStatus(await api.ask(method, path, { token: shipper.token }))).toBe(404);
  });

  test.each([
    ['POST', base, 'GET, HEAD'],
    ['PUT', `${base}/action_types`, 'GET, HEAD'],
    ['GET', subscribePath, 'POST'],
    ['DELETE', unsubscribePath, 'POST'],
    ['PATCH', '/v1/webhooks/order.created/subscriptions/', 'GET, HEAD, POST, DELETE'],
  ])('%s %s answers 405 with Allow: %s', async (method, path, allow) => {
    const answer = await api.ask(method, path);
    expect(problemStatus(answer)).toBe(405);
    expect(answer.headers.get('allow')).toBe(allow);
  });

  test.each([
    '//v1/subscriptions',
    '/v1//subscriptions',
    '/v1/subscriptions//',
    '//a.test/v1/subscriptions',
    '//openapi.json',
  ])('%s answers 404 to every method, and says that it has a double slash', async (path) => {
    for (const { ask } of [api, api.admin]) {
      for (const method of ['GET', 'PUT', 'POST', 'PATCH', 'DELETE', 'OPTIONS']) {
        const answer = await ask(method, path, { token: shipper.token });
        expect([method, answer.status, answer.body?.type]).toEqual([method, 404, 'urn:waybell:problem:unknown-path']);
        expect(answer.body.detail).toContain('double slash');
      }
    }
    expect((await api.ask('GET', path.replaceAll('//', '/nope/'))).body.detail).not.toContain('double slash');
  });

  test('OPTIONS names the methods, HEAD answers as GET does, without a body', async () => {
    const options = await api.ask('OPTIONS', base);
    expect([options.status, options.headers.get('allow')]).toEqual([204, 'GET, HEAD']);
    expect(await api.ask('HEAD', base, { token: shipper.token })).toMatchObject({ status: 200, text: '' });
  });

  test('a path that is not valid percent-encoding answers 400', async () => {
    expect(problemStatus(await api.ask('POST', `${base}/%zz/subscribe`, { token: shipper.token }))).toBe(400);
  });

  test('what is not HTTP answers 400 as a problem, too', async () => {
    const text = await answerTo(api.port, 'nonsense\r\n\r\n');
    expect(text).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n[^]*application\/problem\+json[^]*"status":400/);
  });

  test('headers over 16 KiB answer 431', async () => {
    const text = await answerTo(api.port, `GET /docs HTTP/1.1\r\nhost: a\r\nx: ${'x'.repeat(16_384)}\r\n\r\n`);
    expect(text).toMatch(/^HTTP\/1\.1 431 [^]*application\/problem\+json[^]*"status":431/);
  });

  test('headers and bodies that do not end in time answer 408', async () => {
    await using hasty = await startApi({
      beside: api,
      checkEveryMs: 50,
      limits: { headersTimeoutMs: 100, requestTimeoutMs: 200 },
    });
    const { token } = await signUp(hasty, { interface: 'shipper' });
    const head = `POST ${subscribePath} HTTP/1.1\r\nhost: a\r\n`;
    const asked = `authorization: Bearer ${token}\r\ncontent-type: ${json}\r\ncontent-length: 9\r\n\r\n{`;
    for (const begun of [head, head + asked]) {
      expect(await answerTo(hasty.port, begun)).toMatch(/^HTTP\/1\.1 408 [^]*"status":408/);
    }
  });

  test('an idle connection is kept, and says how long, beyond the time that a request has for its headers', async () => {
    await using kept = await startApi({
      beside: api,
      checkEveryMs: 50,
      limits: { headersTimeoutMs: 100, idleTimeoutMs: 620_000 },
    });
    const ask = 'GET /nope HTTP/1.1\r\nhost: a\r\n\r\n';
    const socket = connect(kept.port, '127.0.0.1', () => socket.write(ask)).setEncoding('utf8');
    const [first] = await once(socket, 'data');
    expect(first).toMatch(/^HTTP\/1\.1 404 [^]*keep-alive: timeout=620/i);
    // It took longer than that, and those that were slow were looked for.
    expect(await answerTo(kept.port, 'GET /nope HTTP/1.1\r\n')).toMatch(/^HTTP\/1\.1 408 /);
    socket.write(ask);
    const [second] = await once(socket, 'data');
    expect(second).toMatch(/^HTTP\/1\.1 404 /);
    socket.destroy();
  });

  test('a connection too many is closed at once, and counted', async () => {
    await using small = await startApi({ beside: api, limits: { connectionLimit: 1 } });
    const first = connect(small.port, '127.0.0.1');
    await once(first, 'connect');
    expect(await answerTo(small.port, 'GET /docs HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n')).toBe('');
    expect(await small.metrics.metrics()).toContain('waybell_http_connections_refused_total{service="test"} 1');
    first.destroy();
    await once(first, 'close');
    await until('there is a connection to be had', async () => {
      const text = await answerTo(small.port, 'GET /nope HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n');
      return text.startsWith('HTTP/1.1 404');
    });
  });

  test('so is one of an address that has as many as it may, unless it is a proxy', async () => {
    const asked = 'GET /nope HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n';
    await using small = await startApi({ beside: api, limits: { connectionsPerAddress: 1 } });
    await using behind = await startApi({
      beside: api,
      limits: { connectionsPerAddress: 1 },
      trustedProxies: ['127.0.0.0/8'],
    });
    const firsts = [small, behind].map(({ port }) => connect(port, '127.0.0.1'));
    await Promise.all(firsts.map((first) => once(first, 'connect')));
    expect(await answerTo(small.port, asked)).toBe('');
    expect(await answerTo(behind.port, asked)).toMatch(/^HTTP\/1\.1 404/);
    for (const first of firsts) first.destroy();
    await until('there is one to be had', async () => (await answerTo(small.port, asked)).startsWith('HTTP/1.1 404'));
  });

  test('who does not read its answers loses its connection, and others get in', async () => {
    await using small = await startApi({
      beside: api,
      checkEveryMs: 50,
      limits: { connectionLimit: 1, answerTimeoutMs: 100 },
    });
    const deaf = connect(small.port, '127.0.0.1').pause();
    await once(deaf, 'connect');
    deaf.write('GET /docs/redoc.js HTTP/1.1\r\nhost: a\r\n\r\n'.repeat(10));
    await until('there is a connection to be had', async () => {
      const text = await answerTo(small.port, 'GET /nope HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n');
      return text.startsWith('HTTP/1.1 404');
    });
    deaf.destroy();
  });

  test('an unknown action answers 404 and names the nearest', async () => {
    for (const path of [`${base}/order.create/subscribe`, `${base}/order.create/unsubscribe`]) {
      const answer = await api.ask('POST', path, { token: shipper.token, body: { callback_url } });
      expect(problemStatus(answer)).toBe(404);
      expect(answer.body.detail).toContain('order.created');
    }
    const answer = await api.ask('DELETE', '/v1/webhooks/order.deliverd/subscriptions', { token: carrier.token });
    expect(answer.body.detail).toContain('order.delivered');
  });

  test('an action of the other interface is unknown, and so are properties of every object', async () => {
    for (const action of ['damage.created', 'constructor', '__proto__', 'vehicle.location_reported']) {
      expect(
        problemStatus(await api.ask('POST', `${base}/${action}/subscribe`, { token: shipper.token, body: {} })),
      ).toBe(404);
    }
  });

  test('both spellings answer, with and without a trailing slash', async () => {
    for (const path of [`${base}/order.paid/subscribe`, `${base}/order.paid/subscribe/`]) {
      expect((await api.ask('POST', path, { token: shipper.token, body: { callback_url } })).status).toBe(200);
    }
    for (const path of ['/v1/webhooks', '/v1/webhooks/']) {
      expect((await api.ask('GET', path, { token: carrier.token })).status).toBe(200);
    }
  });
});

describe('a body', () => {
  const subscribe = (raw: string | Buffer, headers: Record<string, string>) =>
    api.ask('POST', subscribePath, { token: shipper.token, raw, headers });
  const good = JSON.stringify({ callback_url });

  test.each([
    ['application/json', 200],
    ['application/json; charset=UTF-8', 200],
    ['application/json;charset="utf-8"', 200],
    ['Application/JSON', 200],
    ['application/json; charset=utf-16', 415],
    ['application/json; charset=iso-8859-1', 415],
    ['text/plain', 415],
    ['application/x-www-form-urlencoded', 415],
    ['application/jsonx', 415],
  ])('of type %s answers %i', async (type, status) => {
    const answer = await subscribe(good, { 'content-type': type });
    expect(status === 200 ? answer.status : problemStatus(answer)).toBe(status);
  });

  test.each([
    ['not JSON', '{"callback_url":'],
    ['empty', ''],
    ['not UTF-8', Buffer.from([0x22, 0xff, 0x22])],
    ['a member twice', `{"callback_url":"https://a.test/","callback_url":"${callback_url}"}`],
    [
      'a member twice, once escaped',
      String.raw`{"callback_url":"https://a.test/","callback\u005furl":"${callback_url}"}`,
    ],
    ['a member twice, somewhere inside', `{"callback_url":"${callback_url}","x":[{"a":1,"a":1}]}`],
    ['nested without end', '['.repeat(30_000)],
  ])('that is %s answers 400', async (_name, raw) => {
    expect(problemStatus(await subscribe(raw, { 'content-type': json }))).toBe(400);
  });

  test('that would reach the prototype of objects is read as any other member', async () => {
    const answer = await subscribe(`{"callback_url":"${callback_url}","__proto__":{"a":1}}`, { 'content-type': json });
    expect(problemStatus(answer)).toBe(422);
    expect(answer.body.errors).toEqual([{ pointer: '#/__proto__', detail: expect.any(String) }]);
  });

  test('over 64 KiB answers 413, compressed or not; at 64 KiB it is read', async () => {
    const padded = (bytes: number) => good + ' '.repeat(bytes - good.length);
    expect((await subscribe(padded(65_536), { 'content-type': json })).status).toBe(200);
    expect(problemStatus(await subscribe(padded(65_537), { 'content-type': json }))).toBe(413);
    const gzip = { 'content-type': json, 'content-encoding': 'gzip' };
    expect((await subscribe(gzipSync(padded(65_536)), gzip)).status).toBe(200);
    expect(problemStatus(await subscribe(gzipSync(padded(65_537)), gzip))).toBe(413);
    expect(problemStatus(await subscribe(good, gzip))).toBe(400);
    expect(problemStatus(await subscribe(good, { 'content-type': json, 'content-encoding': 'zip' }))).toBe(415);
  });

  test.each<[name: string, action: string, body: unknown, pointers: string[]]>([
    ['that is no object', 'order.created', [callback_url], ['#']],
    ['that is null', 'order.created', null, ['#']],
    ['without callback_url', 'order.created', {}, ['#/callback_url']],
    ['with callback_url null', 'order.created', { callback_url: null }, ['#/callback_url']],
    ['with a bad callback_url', 'order.created', { callback_url: 'http://hooks.test' }, ['#/callback_url']],
    ['to a forbidden address', 'order.created', { callback_url: 'https://127.0.0.1/' }, ['#/callback_url']],
    ['to a host inside', 'order.created', { callback_url: 'https://inside.test/' }, ['#/callback_url']],
    ['with unknown members', 'order.created', { callback_url, 'a/b~': 1, c: 2 }, ['#/a~1b~0', '#/c']],
    ['with audit fields elsewhere', 'order.paid', { callback_url, audit_field_set: ['price'] }, ['#/audit_field_set']],
    ['with audit fields null', 'order.created', { callback_url, audit_field_set: null }, ['#/audit_field_set']],
    [
      'with an audit field that is none',
      'order.created',
      { callback_url, audit_field_set: ['price', 'x', 1] },
      ['#/audit_field_set/1', '#/audit_field_set/2'],
    ],
    [
      'with an audit field by both of its names',
      'order.created',
      { callback_url, audit_field_set: ['pickup.schedule_at_by_carrier', 'pickup.scheduled_at_by_carrier'] },
      ['#/audit_field_set/1'],
    ],
    [
      'with a repeated audit field',
      'order.created',
      { callback_url, audit_field_set: ['price', 'price'] },
      ['#/audit_field_set/1'],
    ],
    [
      'with a vehicle field on an order',
      'order.modified',
      { callback_url, audit_field_set: ['vehicles.vin'] },
      ['#/audit_field_set/0'],
    ],
    [
      'with an order field on a vehicle',
      'vehicle.deleted',
      { callback_url, audit_field_set: ['price'] },
      ['#/audit_field_set/0'],
    ],
    [
      'with everything wrong',
      'order.paid',
      { callback_url: 1, audit_field_set: {}, d: 1 },
      ['#/d', '#/callback_url', '#/audit_field_set'],
    ],
  ])('%s answers 422 and points to it', async (_name, action, body, pointers) => {
    const answer = await api.ask('POST', `${base}/${action}/subscribe`, { token: shipper.token, body });
    expect(problemStatus(answer)).toBe(422);
    expect(answer.body.errors.map(({ pointer }: { pointer: string }) => pointer)).toEqual(pointers);
  });

  test.each([[], null])('with audit fields of %j is fine on an action that has none', async (auditFields) => {
    const body = { callback_url, audit_field_set: auditFields };
    const answer = await api.ask('POST', `${base}/order.paid/subscribe`, { token: shipper.token, body });
    expect([answer.status, 'audit_field_set' in answer.body.data.object]).toEqual([200, false]);
  });

  test('with an audit field as the notification spells it is fine, and shown as it was given', async () => {
    const body = {
      callback_url,
      audit_field_set: ['pickup.scheduled_at_by_carrier', 'delivery.schedule_at_by_carrier'],
    };
    const answer = await api.ask('POST', `${base}/order.modified/subscribe`, { token: shipper.token, body });
    expect([answer.status, answer.body.data.object.audit_field_set]).toEqual([200, body.audit_field_set]);
  });

  test('to a host that does not resolve yet, or also to an allowed address, is fine', async () => {
    for (const url of ['https://not-yet.test/', 'https://mixed.test/']) {
      const answer = await api.ask('POST', subscribePath, { token: shipper.token, body: { callback_url: url } });
      expect([answer.status, answer.body.data.object.callback_url]).toEqual([200, url]);
    }
  });

  test.each<[raw: string, type: string | undefined, status: number]>([
    ['', undefined, 200],
    ['', 'application/x-www-form-urlencoded', 200],
    ['{}', 'text/plain', 200],
    [' { } ', json, 200],
    ['{"a":1}', json, 422],
    ['[]', json, 422],
    ['{', json, 400],
    ['a=1', 'application/x-www-form-urlencoded', 415],
  ])('of unsubscribe, %j as %s, answers %i', async (raw, type, status) => {
    await subscribe(good, { 'content-type': json });
    const headers: Record<string, string> = type === undefined ? {} : { 'content-type': type };
    expect((await api.ask('POST', unsubscribePath, { token: shipper.token, raw, headers })).status).toBe(status);
  });
});

describe('a process', () => {
  test('serves the interfaces it is told to', async () => {
    await using one = await startApi({ beside: api, interfaces: ['carrier'] });
    const { token } = await signUp(one, { interface: 'carrier' });
    expect((await one.ask('GET', '/v1/webhooks/', { token })).status).toBe(200);
    expect(problemStatus(await one.ask('GET', base, { token }))).toBe(404);
  });

  test('answers 503 with Retry-After while the database is away, and comes back by itself', async () => {
    await using proxy = await Detour.to((await borrowPostgres()).url);
    await using behind = await startApi({ beside: api, checkEveryMs: 50, through: through(proxy) });
    const { token } = await signUp(behind, { interface: 'shipper' });
    expect((await behind.ask('GET', base, { token })).status).toBe(200);
    await proxy.shut();
    for (const ask of [
      () => behind.ask('GET', base, { token }),
      () => behind.ask('POST', subscribePath, { token, body: { callback_url } }),
    ]) {
      const answer = await ask();
      expect(problemStatus(answer)).toBe(503);
      expect(answer.headers.get('retry-after')).toMatch(/^\d+$/);
    }
    // A look under way reports the lost connection; the next one, why there is no new one.
    await until('it is seen to be away', () => behind.database.waitingFor().join().includes('ECONNREFUSED'));
    expect(behind.database.waitingFor()).toEqual([expect.stringMatching(/^postgres \(.*ECONNREFUSED/)]);
    await proxy.reopen();
    await until('it answers again', async () => (await behind.ask('GET', base, { token })).status === 200);
    await until('it is seen to be back', () => behind.database.waitingFor().length === 0);
  });

  test('says that the database did not answer in time, where it is there and a question takes too long', async () => {
    await using slow = await startApi({ beside: api, timeoutMs: 1_000 });
    const { token } = await signUp(slow, { interface: 'carrier' });
    const holder = await api.store.postgres.connect();
    await holder.query(
      'begin; lock table delivery_log.events, delivery_log.attempts, delivery_log.sendings in access exclusive mode',
    );
    const asks = ['/v1/statistics', '/v1/deliveries', `/v1/deliveries/${randomUUID()}`].map((path) =>
      slow.ask('GET', path, { token }),
    );
    for (const answer of await Promise.all(asks)) {
      expect(problemStatus(answer)).toBe(503);
      expect(answer.headers.get('retry-after')).toMatch(/^\d+$/);
      expect(answer.body.detail).toMatch(/did not answer in time.* ask again, or for less/);
    }
    await holder.query('rollback');
    holder.release();
    await until('it answers', async () => (await slow.ask('GET', '/v1/statistics', { token })).status === 200);
  });

  test('answers 503 until the migrations are there, and says what it waits for', async () => {
    await using proxy = await Detour.to((await borrowPostgres()).url);
    await using early = await startApi({ checkEveryMs: 50, isMigrated: false, through: through(proxy) });
    const isWaitingFor = (what: string) => early.database.waitingFor().join().includes(what);
    const status = async () => problemStatus(await early.ask('GET', base, { token: 'wbl_x' }));
    await until('it waits for migrations', () => isWaitingFor('migrat'));
    expect(await status()).toBe(503);
    await proxy.shut();
    await until('Postgres is seen to be away', () => isWaitingFor('ECONNREFUSED'));
    await proxy.reopen();
    // Before it has looked again as well as after.
    expect(await status()).toBe(503);
    await until('it waits for migrations again', () => isWaitingFor('migrat'));
    expect(await status()).toBe(503);
    await migrate({ url: early.store.url, log: silentLog });
    await until('it waits for nothing', () => early.database.waitingFor().length === 0);
    expect(await status()).toBe(401);
  });

  test('that meets a bug answers 500 and tells nothing of it', async () => {
    await using broken = await startApi();
    const { token } = await signUp(broken, { interface: 'shipper' });
    await broken.store.postgres.query('drop view waybell.subscription_targets, waybell.delivery_targets');
    await broken.store.postgres.query('alter table waybell.subscriptions rename to elsewhere');
    const answer = await broken.ask('GET', base, { token });
    expect(problemStatus(answer)).toBe(500);
    expect(answer.text).not.toMatch(/relation|subscriptions|at .*\.ts/);
  });
});
