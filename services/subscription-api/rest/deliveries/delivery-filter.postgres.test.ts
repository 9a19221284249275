import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { signUp, startApi } from '../../testing/api.ts';
import { listenerClient } from '@waybell/delivery-log/listener-client';
import { createToken } from '../../tokens.ts';
import {
  aDelivered,
  aDropped,
  aFailed,
  anExhausted,
  aRouted,
  LogStand,
  START,
} from '@waybell/delivery-log/testing/log-stand';
import { shared } from '@waybell/runtime/testing/shared';

let operator: string;
const api = shared(() => startApi({ timeoutMs: 60_000 }));
const stand = shared(() => LogStand.on(api.store));
beforeAll(async () => {
  ({ token: operator } = await signUp(api, { interface: 'shipper', scopes: ['admin'] }));
});

/** A carrier with a current subscription to that URL. */
async function aCarrier({ url = 'https://a.test/', action = 'order.created', name = 'Carrier' } = {}) {
  const { guid: account, token } = await signUp(api, { interface: 'carrier' });
  await stand.rows('update waybell.accounts set name = $2 where guid = $1', [account, name]);
  const subscription = await stand.subscribe(account, action);
  await stand.rows('update waybell.subscriptions set callback_url = $2 where guid = $1', [subscription, url]);
  return { account, token, subscription, client: 'default' };
}

const guidsOf = ({ body }: { body: { objects: { guid: string }[] } }) => body.objects.map(({ guid }) => guid);
const find = (token: string, query: string) => api.ask('GET', `/v1/deliveries?${query}`, { token });
const findAll = (query: string) => api.admin.ask('GET', `/v1/admin/deliveries?${query}`, { token: operator });
const why = (text: string) => api.admin.ask('GET', `/v1/admin/why/${encodeURIComponent(text)}`, { token: operator });

describe('GET /v1/deliveries', () => {
  test('tells of each what it is about, and what its last attempt came to', async () => {
    const [us, subject] = [await aCarrier(), randomUUID()];
    const { delivery } = await stand.log([aFailed(), aDelivered({ attempt: 2 })], { ...us, subject });
    expect((await find(us.token, '')).body.objects).toMatchObject([
      {
        guid: delivery,
        keys: [{ kind: 'order_guid', key: subject }],
        subscription_guid: us.subscription,
        attempts: [{ http_status: 503 }, { http_status: 200, duration_ms: 12 }],
      },
    ]);
  });

  test('finds those of any of several statuses', async () => {
    const us = await aCarrier();
    const made = [];
    for (const [place, attempt] of [anExhausted(), aDropped(), aDelivered(), aFailed()].entries())
      made.push(
        await stand.log([{ ...attempt, at: START + place }], { ...us, event: randomUUID(), at: START + place }),
      );
    const [exhausted, dropped, delivered, retrying] = made.map(({ delivery }) => delivery);
    expect(guidsOf(await find(us.token, 'status=exhausted,dropped'))).toEqual([dropped, exhausted]);
    expect(guidsOf(await find(us.token, 'status=dropped,delivered'))).toEqual([delivered, dropped]);
    expect(guidsOf(await find(us.token, 'status=retrying'))).toEqual([retrying]);
    expect(guidsOf(await find(us.token, 'status=exhausted,retrying&reason=http_5xx'))).toEqual([retrying]);
  });

  test('finds those to a subscription, and to where subscriptions lead', async () => {
    const us = await aCarrier({ url: 'https://one.test:8443/Hooks?key=1' });
    const other = { ...us, subscription: await stand.subscribe(us.account, 'order.updated') };
    const { delivery } = await stand.log([], us);
    await stand.write([
      aRouted({ action: 'order.updated', receivers: [us.account], deliveries: [other], at: START + 1 }),
    ]);
    const both = guidsOf(await find(us.token, ''));
    expect(both).toHaveLength(2);
    expect(guidsOf(await find(us.token, `subscription=${us.subscription.toUpperCase()}`))).toEqual([delivery]);
    const one = ['one.test', 'one.test:8443', 'https://ONE.test:8443', 'https://one.test:8443/Hooks?key=2'];
    for (const endpoint of one)
      expect(guidsOf(await find(us.token, `endpoint=${encodeURIComponent(endpoint)}`))).toEqual([delivery]);
    for (const endpoint of ['one.test:8444', 'http://one.test:8443', 'https://one.test:8443/other', 'test'])
      expect(guidsOf(await find(us.token, `endpoint=${encodeURIComponent(endpoint)}`))).toEqual([]);
    expect(guidsOf(await find(us.token, 'endpoint=a.test'))).toEqual([both.find((each) => each !== delivery)]);
  });

  test('finds one by the first eight digits of its guid, or of its event, also before the first attempt', async () => {
    const us = await aCarrier();
    const attempted = await stand.log([anExhausted()], us);
    const { event, delivery } = await stand.logLately([], us);
    for (const guid of [attempted.delivery, attempted.event])
      for (const text of [guid, guid.slice(0, 8), guid.slice(0, 8).toUpperCase()])
        expect(guidsOf(await find(us.token, `guid=${text}`))).toEqual([attempted.delivery]);
    for (const guid of [event, delivery])
      expect(guidsOf(await find(us.token, `guid=${guid.slice(0, 8)}`))).toEqual([delivery]);
    expect(guidsOf(await find(us.token, `guid=${delivery.slice(0, 8)}&status=delivered`))).toEqual([]);
  });

  test('finds one by the first digits of its event, though those of many of another account begin so', async () => {
    const [us, other] = [await aCarrier(), await aCarrier()];
    const digits = '019ac3b1';
    const others = Array.from({ length: 300 }, (_, place) =>
      aRouted({
        event: `${digits}-0000-7000-8000-${String(place).padStart(12, '0')}`,
        receivers: [other.account],
        deliveries: [other],
      }),
    );
    await stand.write(others);
    const { delivery } = await stand.log([anExhausted()], { ...us, event: `${digits}-ffff-7fff-bfff-ffffffffffff` });
    expect(guidsOf(await find(us.token, `guid=${digits}`))).toEqual([delivery]);
  });

  test('finds nothing of another account or client, whatever is asked by', async () => {
    const us = await aCarrier({ url: 'https://ours-alone.test/' });
    const { delivery, event } = await stand.log([anExhausted()], us);
    const sibling = await createToken(api.store.postgres, { accountGuid: us.account, clientId: 'other' });
    const stranger = await aCarrier();
    const asked = [`subscription=${us.subscription}`, 'endpoint=ours-alone.test'];
    for (const query of [...asked, `guid=${delivery}`, `guid=${event.slice(0, 8)}`]) {
      expect(guidsOf(await find(us.token, query))).toEqual([delivery]);
      for (const token of [sibling, stranger.token])
        for (const status of ['', '&status=exhausted']) expect(guidsOf(await find(token, query + status))).toEqual([]);
    }
  });

  test('dates one that was given up by the first record that made it', async () => {
    const us = await aCarrier();
    const given = { ...us, event: randomUUID() };
    await stand.log([anExhausted({ at: START + 2_001 })], { ...given, at: START + 2_000 });
    await stand.log([], { ...given, at: START + 1_000 });
    const { body } = await find(us.token, 'status=exhausted');
    expect(body.objects).toMatchObject([{ at: new Date(START + 1_000).toISOString() }]);
  });

  test.each([
    ['status', 'status=exhausted,delievered', /one of: waiting, .*"delievered" is not/],
    ['status', 'status=', /must be one of: waiting, .*"" is not/],
    ['guid', 'guid=1f0c9a5', /first eight digits/],
    ['subscription', 'subscription=x', /guid/],
    ['endpoint', 'endpoint=https://', /a host, also with its port/],
    ['endpoint', 'endpoint=a%20b', /a host, also with its port/],
    ['subscription', `after=oldest&subscription=${randomUUID()}`, /does not go with after/],
    [
      'status',
      'after=oldest&status=delivered,waiting',
      /one of: delivered, exhausted, dropped, with after, which "waiting" is not/,
    ],
  ])('refuses a wrong %s: %s', async (parameter, query, detail) => {
    const { token } = await aCarrier();
    const { status, body } = await find(token, query);
    expect([status, body.errors]).toEqual([422, [{ parameter, detail: expect.stringMatching(detail) }]]);
  });
});

describe('GET /v1/admin/deliveries', () => {
  test('finds those of all accounts, and tells whose they are', async () => {
    const [us, other] = [await aCarrier({ name: 'Lone Mesa' }), await aCarrier({ name: 'Prairie Line' })];
    const at = START + 60_000;
    const ours = await stand.log([anExhausted({ at })], { ...us, at });
    const theirs = await stand.log([anExhausted({ at: at + 1 })], { ...other, at: at + 1 });
    const { body } = await findAll('status=exhausted&limit=2');
    expect(body.objects).toMatchObject([
      { guid: theirs.delivery, account: { guid: other.account, name: 'Prairie Line' }, client_id: 'default' },
      { guid: ours.delivery, account: { guid: us.account, name: 'Lone Mesa' }, keys: [{}], attempts: [{}] },
    ]);
    expect(guidsOf(await findAll(`account=${us.account}`))).toEqual([ours.delivery]);
    expect(guidsOf(await findAll(`account=${us.account}&client=other`))).toEqual([]);
    const until = new Date(at + 2).toISOString();
    expect(guidsOf(await findAll(`limit=2&until=${until}`))).toEqual([theirs.delivery, ours.delivery]);
    expect(guidsOf(await findAll(`subscription=${us.subscription}&status=exhausted`))).toEqual([ours.delivery]);
    expect(guidsOf(await findAll(`key=${ours.subject}`))).toEqual([ours.delivery]);
    expect(guidsOf(await findAll(`guid=${theirs.delivery.slice(0, 8)}`))).toEqual([theirs.delivery]);
  });

  test('leaves out those to listeners unless they are asked for', async () => {
    const us = await aCarrier();
    const client = listenerClient('default', '');
    const { delivery } = await stand.log([anExhausted()], { ...us, client, subscription: randomUUID() });
    for (const query of [`account=${us.account}`, `account=${us.account}&status=exhausted`, `guid=${delivery}`]) {
      expect(guidsOf(await findAll(query))).toEqual([]);
      expect(guidsOf(await findAll(`${query}&listeners=true`))).toEqual([delivery]);
    }
    expect(guidsOf(await findAll('limit=200'))).not.toContain(delivery);
  });

  test('is for operators alone, and says so of an account that there is not', async () => {
    const { token } = await aCarrier();
    expect((await api.admin.ask('GET', '/v1/admin/deliveries', { token })).status).toBe(403);
    expect((await findAll(`account=${randomUUID()}`)).body.type).toBe('urn:waybell:problem:unknown-account');
    expect((await findAll('after=oldest')).status).toBe(422);
  });
});

describe('GET /v1/admin/why/{anything}', () => {
  test('finds accounts by a part of their names, in any case', async () => {
    const us = await aCarrier({ name: 'Mesa_100% Haulage' });
    const other = await aCarrier({ name: 'Mesa-100 Haulage' });
    expect((await why('mesa_100% HAUL')).body).toMatchObject({ kind: 'account', account: { guid: us.account } });
    const { body } = await why('100');
    expect(body.objects.map(({ guid }: { guid: string }) => guid)).toEqual(
      expect.arrayContaining([us.account, other.account]),
    );
    expect((await why('MESA-100 haulage')).body).toMatchObject({ kind: 'account', account: { guid: other.account } });
  });

  test('prefers what is called exactly that', async () => {
    const us = await aCarrier({ name: 'Order 481516' });
    await stand.write([aRouted({ keys: [{ kind: 'order_id', key: '481516' }], receivers: [us.account] })]);
    expect((await why('481516')).body.kind).toBe('events');
    expect((await api.admin.ask('GET', '/v1/admin/why/481516?as=account', { token: operator })).body).toMatchObject({
      kind: 'account',
      account: { guid: us.account },
    });
  });

  test('finds by the first eight digits of a guid', async () => {
    const us = await aCarrier();
    const { delivery, event } = await stand.log([anExhausted()], us);
    const first = (guid: string) => guid.slice(0, 8).toUpperCase();
    expect((await why(first(delivery))).body).toMatchObject({ kind: 'delivery', delivery: { guid: delivery } });
    expect((await why(first(event))).body).toMatchObject({ kind: 'events', objects: [{ event_guid: event }] });
    expect((await why(first(us.account))).body).toMatchObject({ kind: 'account', account: { guid: us.account } });
    expect((await why(first(us.subscription))).body).toMatchObject({
      kind: 'subscription',
      subscription: { guid: us.subscription },
    });
    const twin = `${event.slice(0, 8)}-0000-4000-8000-000000000000`;
    await stand.log([anExhausted()], { ...us, event: twin });
    const { body } = await why(first(event));
    expect(body.objects.map(({ guid }: { guid: string }) => guid).toSorted()).toEqual([event, twin].toSorted());
  });

  test('finds subscriptions by their host and by their URL, with whose they are', async () => {
    const url = 'https://hooks.mesa.test/Carriers/1';
    const [us, other] = [await aCarrier({ name: 'Mesa', url }), await aCarrier({ url: 'https://hooks.mesa.test/2' })];
    expect((await why(`${url}?key=1`)).body).toMatchObject({ subscription: { guid: us.subscription } });
    const { body } = await why('Hooks.mesa.test');
    expect(body.kind).toBe('several');
    expect(body.objects).toHaveLength(2);
    expect(body.objects).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          kind: 'subscription',
          guid: us.subscription,
          url,
          account: { guid: us.account, name: 'Mesa' },
          client_id: 'default',
        }),
        expect.objectContaining({ guid: other.subscription }),
      ]),
    );
    await stand.rows('update waybell.subscriptions set is_active = false, ended_at = now() where guid = $1', [
      other.subscription,
    ]);
    expect((await why('hooks.mesa.test')).body).toMatchObject({ subscription: { guid: us.subscription } });
    expect((await why('mesa.test.')).status).toBe(404);
  });
});

describe('last_success_at of a subscription', () => {
  test('is when its last successful attempt ended, though its row is written once an hour', async () => {
    const us = await aCarrier();
    const note = (columns: string) =>
      stand.rows(`update waybell.subscriptions set ${columns} where guid = $1`, [us.subscription]);
    const lastSuccess = async () => (await why(us.subscription)).body.subscription.last_success_at;
    expect(await lastSuccess()).toBeNull();
    await stand.log([aDelivered()], us);
    await note(`last_success_at = to_timestamp(${START / 1_000})`);
    const at = START + 1_234_567;
    for (const [ms, attempt] of [
      [at, aDelivered()],
      [at + 1_000, aFailed()],
      [at + 2_000, anExhausted()],
    ] as const)
      await stand.log([{ ...attempt, at: ms }], { ...us, event: randomUUID(), at: ms });
    expect(await lastSuccess()).toBe(new Date(at).toISOString());
    await note(`failing_since = to_timestamp(${(at + 1_000) / 1_000})`);
    expect(await lastSuccess()).toBe(new Date(at).toISOString());
  });
});
