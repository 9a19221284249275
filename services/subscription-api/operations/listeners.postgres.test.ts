import { describe, expect, test } from '@jest/globals';
import { listenerClient } from '@waybell/delivery-log/listener-client';
import { borrowRedis } from '@waybell/runtime/testing/borrow';
import { until } from '@waybell/runtime/testing/until';
import { signUp, startApi } from '../testing/api.ts';
import { Detour } from '@waybell/runtime/testing/detour';
import { shared } from '@waybell/runtime/testing/shared';
import { logDelivery } from '../testing/logged-delivery.ts';
import { createToken } from '../tokens.ts';
import { readLive, type LiveReader } from '../testing/live-reader.ts';

/** For listeners that have, or had, a stream at the other process. */
const SHORT_LIFE_MS = 600;

const redis = shared(() => borrowRedis());
const api = shared(() => startApi({ redisUrl: redis.url }));
/** Another process, with other limits. */
const other = shared(() => {
  const listeners = { lifeMs: SHORT_LIFE_MS, answerLimitMs: 200, listenersPerClient: 2 };
  return startApi({ redisUrl: redis.url, beside: api, listeners });
});

const url = 'https://hooks.test/';

async function aCarrier() {
  const { guid: account, token } = await signUp(api, { interface: 'carrier' });
  return { account, token };
}

type Us = Awaited<ReturnType<typeof aCarrier>>;

const listen = (us: Us, body: object = {}, at = api) =>
  at.ask('POST', '/v1/listeners', { token: us.token, body: { url, actions: ['order.created'], ...body } });

async function streamOf(us: Us, guid: string, at = api): Promise<LiveReader> {
  const stream = await readLive(at.port, { token: us.token, path: `/v1/listeners/${guid}/requests` });
  if (stream.status === 200) await until('callbacks come', () => stream.of('listening').length > 0);
  return stream;
}

const answer = (us: Us, guid: string, body: object, at = api) =>
  at.ask('POST', `/v1/listeners/${guid}/answers`, { token: us.token, body });

async function subscriptionsOf({ account }: Us, client = listenerClient('default', '')) {
  const { rows } = await api.store.postgres.query(
    `select * from waybell.subscriptions where account_guid = $1 and client_id = $2 and ended_at is null order by action`,
    [account, client],
  );
  return rows;
}

/** Calls back as a deliverer does, whatever the status. */
async function callBack(us: Us, { at = api, body = '{}', headers = {} } = {}) {
  const [subscription] = await subscriptionsOf(us);
  const { pathname, search } = new URL(subscription?.callback_url);
  const response = await fetch(`http://127.0.0.1:${at.port}${pathname}${search}`, {
    method: 'POST',
    body,
    headers: { 'content-type': 'application/json; charset=utf-8', connection: 'close', ...headers },
  });
  return { status: response.status, text: await response.text() };
}

const requested = (stream: LiveReader, count = 1) =>
  until('a request is told', () => stream.of('request').length >= count && stream.of('request'));

const isEnded = (us: Us) => until('its subscriptions have ended', async () => (await subscriptionsOf(us)).length === 0);

describe('a callback to a listener', () => {
  test('goes to its stream as it came, and has the answer of its reader, whichever processes they meet', async () => {
    const us = await aCarrier();
    const { body: listener } = await listen(us);
    await using stream = await streamOf(us, listener.guid, other);
    const sent = '{ "id": 12.50, "name": "Ánn" }';
    const headers = { 'webhook-id': 'a', 'x-webhook-attempt': '2', 'x-forwarded-for': '10.0.0.1', cookie: 'a' };
    const called = callBack(us, { at: api, body: sent, headers });
    const [request] = await requested(stream);
    expect(request).toEqual({
      id: expect.any(String),
      body: Buffer.from(sent).toString('base64'),
      headers: expect.objectContaining({
        'content-type': 'application/json; charset=utf-8',
        'webhook-id': 'a',
        'x-webhook-attempt': '2',
      }),
    });
    expect(Object.keys(request?.['headers'] as object)).not.toEqual(expect.arrayContaining(['cookie']));
    expect(Object.keys(request?.['headers'] as object)).not.toEqual(expect.arrayContaining(['x-forwarded-for']));
    const said = { request: request?.['id'], status: 418, body: 'I am a teapot.' };
    expect((await answer(us, listener.guid, said, other)).status).toBe(204);
    expect(await called).toEqual({ status: 418, text: 'I am a teapot.' });
  });

  test('is answered 503 at once while there is no stream, and 504 when nobody has answered in time', async () => {
    const us = await aCarrier();
    const { body: listener } = await listen(us);
    expect(await callBack(us)).toMatchObject({ status: 503, text: expect.stringContaining('no stream') });
    await using stream = await streamOf(us, listener.guid);
    expect(await callBack(us, { at: other })).toMatchObject({
      status: 504,
      text: expect.stringContaining('no-answer'),
    });
    const [request] = await requested(stream);
    await until('it is said that nobody waits', () => stream.of('over').length > 0);
    expect(stream.of('over')).toEqual([{ id: request?.['id'] }]);
  });

  test('has its answer from its own listener alone', async () => {
    const [us, stranger] = [await aCarrier(), await aCarrier()];
    const [{ body: listener }, { body: another }] = [await listen(us), await listen(stranger)];
    await using stream = await streamOf(us, listener.guid);
    const called = callBack(us);
    const [request] = await requested(stream);
    await answer(stranger, another.guid, { request: request?.['id'], status: 200, body: 'forged' });
    await answer(us, listener.guid, { request: request?.['id'], status: 202 });
    expect(await called).toEqual({ status: 202, text: '' });
  });

  test('is over when its deliverer waits no longer', async () => {
    const us = await aCarrier();
    const { body: listener } = await listen(us);
    await using stream = await streamOf(us, listener.guid);
    const [subscription] = await subscriptionsOf(us);
    const { pathname, search } = new URL(subscription?.callback_url);
    const leaving = new AbortController();
    const called = fetch(`http://127.0.0.1:${api.port}${pathname}${search}`, {
      method: 'POST',
      body: '{}',
      headers: { 'content-type': 'application/json' },
      signal: leaving.signal,
    }).catch(() => 'left');
    await requested(stream);
    leaving.abort();
    expect(await called).toBe('left');
    await until('it is said that nobody waits', () => stream.of('over').length > 0);
  });

  test('is answered 503 where as many as may wait do', async () => {
    await using busy = await startApi({ redisUrl: redis.url, beside: api, listeners: { waitingLimit: 1 } });
    const us = await aCarrier();
    const { body: listener } = await listen(us);
    await using stream = await streamOf(us, listener.guid);
    const first = callBack(us, { at: busy });
    const [request] = await requested(stream);
    expect(await callBack(us, { at: busy })).toMatchObject({ status: 503, text: expect.stringContaining('As many') });
    await answer(us, listener.guid, { request: request?.['id'], status: 200 });
    expect((await first).status).toBe(200);
  });

  test('is refused without the key of its listener, and once that has ended', async () => {
    const us = await aCarrier();
    const { body: listener } = await listen(us);
    const [subscription] = await subscriptionsOf(us);
    const { pathname, search } = new URL(subscription?.callback_url);
    const second = await listen(us, { name: 'other' });
    for (const path of [
      pathname,
      `${pathname}?key=`,
      `${pathname}${search.replace(/.(?=.{9}$)/, (one) => (one === 'A' ? 'B' : 'A'))}`,
      `${pathname.replace(listener.guid, second.body.guid)}${search}`,
    ])
      expect(await api.ask('POST', path, { body: {} })).toMatchObject({ status: 404 });
    expect((await api.ask('DELETE', `/v1/listeners/${listener.guid}`, { token: us.token })).status).toBe(204);
    expect(await api.ask('POST', `${pathname}${search}`, { body: {} })).toMatchObject({ status: 410 });
    expect(await subscriptionsOf(us)).toEqual([]);
  });
});

describe('a listener', () => {
  test("has subscriptions of its own, beside its client's, and a secret that stays", async () => {
    const us = await aCarrier();
    const subscribe = { token: us.token, body: { callback_url: 'https://hooks.test/real' } };
    await api.ask('POST', '/v1/webhooks/order.created/subscriptions', subscribe);
    const { body: first } = await listen(us, { actions: ['order.*', 'damage.created', 'order.created'] });
    expect(first.actions.toSorted()).toEqual(
      ['assigned', 'cancelled', 'created', 'delivered', 'picked_up', 'updated']
        .map((name) => `order.${name}`)
        .toSpliced(0, 0, 'damage.created'),
    );
    expect((await api.ask('GET', '/v1/subscriptions', { token: us.token })).body.objects).toMatchObject([
      { action: 'order.created', callback_url: 'https://hooks.test/real' },
    ]);
    expect(await subscriptionsOf(us)).toHaveLength(7);
    await api.ask('DELETE', `/v1/listeners/${first.guid}`, { token: us.token });
    const { body: second } = await listen(us);
    expect([second.signing_secret, second.verification_token]).toEqual([
      first.signing_secret,
      first.verification_token,
    ]);
    const own = await api.ask('GET', '/v1/signing-secrets', { token: us.token });
    expect(own.body.objects[0].secret).not.toBe(first.signing_secret);
  });

  test('is the only one of its name, and others of other names are beside it', async () => {
    const us = await aCarrier();
    await listen(us);
    expect(await listen(us)).toMatchObject({ status: 409, body: { type: 'urn:waybell:problem:already-listening' } });
    expect((await listen(us, { name: 'ann' })).status).toBe(201);
    expect(await listen(us, { name: 'bob' }, other)).toMatchObject({ status: 429 });
  });

  test('lives as long as it has a stream, whatever process that meets, and then ends by itself', async () => {
    const us = await aCarrier();
    const { body: listener } = await listen(us);
    const aliveUntil = async () => {
      const asked = 'select alive_until, ended_at from waybell.listeners where guid = $1';
      return (await api.store.postgres.query(asked, [listener.guid])).rows[0];
    };
    const lives = new Set<number>();
    {
      await using _stream = await streamOf(us, listener.guid, other);
      await until('its life is longer again and again', async () => {
        lives.add((await aliveUntil()).alive_until.getTime());
        return lives.size > 3;
      });
      expect((await aliveUntil()).ended_at).toBeNull();
    }
    await isEnded(us);
    await using stream = await streamOf(us, listener.guid);
    expect(stream.status).toBe(410);
    expect((await listen(us)).status).toBe(201);
  });

  test('has its stream ended with it', async () => {
    const us = await aCarrier();
    const { body: listener } = await listen(us);
    await using stream = await streamOf(us, listener.guid, other);
    await api.ask('DELETE', `/v1/listeners/${listener.guid}`, { token: us.token });
    await until('the stream has ended', () => stream.state() === 'ended');
  });

  test('has each of its deliveries told to its client, and to no other', async () => {
    const us = await aCarrier();
    await listen(us);
    const [subscription] = await subscriptionsOf(us);
    const made = { account: us.account, client: listenerClient('default', ''), subscription: subscription?.guid };
    const { delivery } = await logDelivery(api.store.postgres, { ...made, interface: 'carrier', mark: 'x' });
    const read = (token: string) => api.ask('GET', `/v1/deliveries/${delivery}`, { token });
    expect((await read(us.token)).body).toMatchObject({ guid: delivery });
    expect((await api.ask('GET', '/v1/deliveries', { token: us.token })).body.objects).toEqual([]);
    const stranger = await createToken(api.store.postgres, { accountGuid: us.account, clientId: 'other' });
    expect((await read(stranger)).status).toBe(404);
  });

  test("is its client's alone", async () => {
    const us = await aCarrier();
    const { body: listener } = await listen(us);
    const strangers = [
      await aCarrier(),
      { ...us, token: await createToken(api.store.postgres, { accountGuid: us.account, clientId: 'default/listen' }) },
      { ...us, token: await createToken(api.store.postgres, { accountGuid: us.account, clientId: 'def' }) },
    ];
    for (const stranger of strangers) {
      await using stream = await streamOf(stranger, listener.guid);
      expect(stream.status).toBe(404);
      expect((await answer(stranger, listener.guid, { request: 'a', status: 200 })).status).toBe(404);
      expect((await api.ask('DELETE', `/v1/listeners/${listener.guid}`, { token: stranger.token })).status).toBe(404);
    }
    expect(await subscriptionsOf(us)).toHaveLength(1);
    expect((await answer(us, listener.guid, { request: 'a', status: 200 })).body.type).toContain('answered-too-late');
  });

  test.each([
    ['http://hooks.test', 'is not https'],
    ['https://inside.test', 'has no public address'],
    ['https://127.0.0.1:8080', 'public addresses only'],
    ['https://hooks.test/?a=1', 'has a query'],
    ['nonsense', 'is not an absolute https URL'],
  ])('is refused where deliverers cannot call the API at %s', async (at, detail) => {
    const us = await aCarrier();
    const { status, body } = await listen(us, { url: at });
    expect({ status, errors: body.errors }).toEqual({
      status: 422,
      errors: [{ pointer: '#/url', detail: expect.stringContaining(detail) }],
    });
    expect(await subscriptionsOf(us)).toEqual([]);
  });

  test.each([
    [['damage.*.x'], 422],
    [['order.create'], 422],
    [[], 422],
  ])('of %j is refused', async (actions, status) => {
    expect((await listen(await aCarrier(), { actions })).status).toBe(status);
  });
});

test('while Redis is away callbacks to listeners are answered 503, and come to the same stream once it is back', async () => {
  await using proxy = await Detour.to((await borrowRedis()).url);
  await using alone = await startApi({ redisUrl: proxy.url, beside: api });
  const us = await aCarrier();
  const { body: listener } = await listen(us, {}, alone);
  await using stream = await streamOf(us, listener.guid, alone);
  await proxy.shut();
  expect(await callBack(us, { at: alone })).toMatchObject({
    status: 503,
    text: expect.stringContaining('unavailable'),
  });
  await proxy.reopen();
  const called = until('it goes through', async () => {
    const { status } = await callBack(us, { at: alone });
    return status !== 503 && status;
  });
  const [request] = await requested(stream);
  await answer(us, listener.guid, { request: request?.['id'], status: 202 }, alone);
  expect(await called).toBe(202);
});
