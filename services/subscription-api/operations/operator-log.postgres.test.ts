import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { wallClockMs } from '@waybell/runtime/testing/wall-clock';
import { shared } from '@waybell/runtime/testing/shared';
import { createAccount } from '../accounts.ts';
import { signUp, startApi } from '../testing/api.ts';
import type { Answer } from '../testing/ask.ts';
import { logDelivery, type LoggedDelivery } from '../testing/logged-delivery.ts';

const subscribe = '/v1/public/webhooks/order.created/subscribe';
const unsubscribe = '/v1/public/webhooks/order.created/unsubscribe';

const api = shared(() => startApi());
let token: string;
/** A shipper called Acme, that was subscribed and is again, and its one delivery, which was given up. */
let acme: { guid: string; name: string };
let delivery: LoggedDelivery;

const ask = (path: string, method = 'GET'): Promise<Answer> => api.admin.ask(method, `/v1/admin/${path}`, { token });

beforeAll(async () => {
  ({ token } = await signUp(api, { interface: 'carrier', scopes: ['admin'] }));
  const { guid, token: own } = await signUp(api, { interface: 'shipper' });
  acme = { guid, name: 'Acme' };
  await api.admin.ask('PATCH', `/v1/admin/accounts/${guid}`, { token, body: { name: 'Acme' } });
  const body = { callback_url: 'https://hooks.test/a?key=secret' };
  for (const [path, content] of [[subscribe, body], [unsubscribe], [subscribe, body]] as const)
    await api.ask('POST', path, { token: own, body: content });
  delivery = await logDelivery(api.store.postgres, {
    account: guid,
    interface: 'shipper',
    mark: 'https://said.test/x',
  });
});

describe('why', () => {
  test('tells of an order whose it is, by name, what the receiver said, and where it answered', async () => {
    const { status, body } = await ask(`why/${delivery.subject.toUpperCase()}`);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      kind: 'events',
      next: null,
      objects: [
        {
          event_guid: delivery.event,
          interface: 'shipper',
          receivers: [acme],
          verdicts: [{ kind: 'delivery', delivery: { guid: delivery.delivery, account: acme, client_id: 'default' } }],
        },
      ],
    });
  });

  test('tells an event, a delivery, a subscription and an account from each other', async () => {
    expect((await ask(`why/${delivery.event}`)).body.kind).toBe('events');
    const { body } = await ask(`why/${delivery.delivery}`);
    expect(body).toMatchObject({
      kind: 'delivery',
      delivery: { status: 'exhausted', account: acme, attempts: [{ reason: 'reset', answer: 'https://said.test/x' }] },
    });
    const account = (await ask(`why/${acme.guid}`)).body;
    expect(account).toMatchObject({ kind: 'account', account: { ...acme, interface: 'shipper', features: [] } });
    const [{ guid }] = account.subscriptions;
    expect(account.subscriptions).toHaveLength(1);
    expect((await ask(`why/${guid}`)).body).toMatchObject({
      kind: 'subscription',
      subscription: { guid, account: acme, standing: 'active', url: 'https://hooks.test/a' },
      deliveries: [{ guid: delivery.delivery, status: 'exhausted' }],
    });
  });

  test('lists what a text may mean where that is several things, and takes which of them is meant', async () => {
    const twice = await logDelivery(api.store.postgres, {
      account: acme.guid,
      interface: 'shipper',
      mark: 'https://said.test/y',
      event: delivery.delivery,
    });
    expect(twice.event).toBe(delivery.delivery);
    const { body } = await ask(`why/${delivery.delivery}`);
    expect(body).toMatchObject({ kind: 'several', objects: [{ kind: 'event' }, { kind: 'delivery' }] });
    expect((await ask(`why/${delivery.delivery}?as=delivery`)).body.kind).toBe('delivery');
    expect((await ask(`why/${delivery.subject}?as=key&kind=order_guid`)).body.kind).toBe('events');
  });

  test('leads from page to page of what is about the same', async () => {
    const { subject } = await logDelivery(api.store.postgres, { account: acme.guid, interface: 'shipper', mark: 'p' });
    const { body } = await ask(`why/${subject}?limit=1`);
    expect(body.objects).toHaveLength(1);
    expect((await ask(`why/${subject}?limit=1&cursor=${body.next}`)).body.objects).toEqual([]);
  });

  test('says of what it does not know that it does not, and of an account that there is none', async () => {
    const nobody = randomUUID();
    const { status, body } = await ask('why/4711');
    expect([status, body.type]).toEqual([404, 'urn:waybell:problem:nothing-known']);
    expect((await ask(`why/${nobody}?as=account`)).body).toMatchObject({
      type: 'urn:waybell:problem:unknown-account',
      detail: `There is no account ${nobody}.`,
    });
    expect((await ask('why/x?as=order')).status).toBe(422);
  });
});

describe('failing, waiting and audit', () => {
  test('tell where attempts fail, of all accounts or of one, by name', async () => {
    const { body } = await ask(`failing?account=${acme.guid}&limit=1`);
    expect(body).toMatchObject({
      origins: { objects: [{ account: acme, origin: 'https://said.test', reason: 'reset' }] },
      waiting: { objects: [] },
      undelivered: { objects: [] },
    });
    const { guid: other } = await createAccount(api.store.postgres, { interface: 'shipper' });
    expect((await ask(`failing?account=${other}`)).body.origins.objects).toEqual([]);
    expect((await ask('failing?since=2100-01-01T00:00:00Z')).body.origins.objects).toEqual([]);
  });

  test('tell which endpoints deliveries wait for', async () => {
    const [{ guid }] = (await ask(`accounts/${acme.guid}/subscriptions`)).body.objects;
    await putWaiting(guid);
    const { body } = await ask(`waiting?account=${acme.guid}`);
    expect(body.endpoints.objects).toEqual([
      {
        account: acme,
        url: 'https://hooks.test/a',
        subscription_guids: [guid],
        deliveries: 1,
        is_complete: true,
        why: ['hung'],
        bytes: 4,
        oldest_at: expect.any(String),
        shut_since: expect.any(String),
        is_claimed: false,
        next_try_at: expect.any(String),
      },
    ]);
    expect((await ask(`failing?account=${acme.guid}`)).body.waiting).toEqual(body.endpoints);
  });

  test('tell who changed what, the last change first, by name', async () => {
    const { body } = await ask(`audit?account=${acme.guid}&limit=2`);
    expect(body.objects).toMatchObject([
      { what: 'subscription.created', account: acme },
      { what: 'subscription.changed', account: acme },
    ]);
    expect((await ask('audit?since=2100-01-01T00:00:00Z')).body.objects).toEqual([]);
    const [{ subject_guid: subscription }] = body.objects;
    expect((await ask(`audit?subscription=${subscription}`)).body.objects).toHaveLength(1);
  });

  test('tell whose token it was, which subscription, and where its callbacks led to before', async () => {
    const { guid, token: own } = await signUp(api, { interface: 'shipper', clientId: 'tms' });
    await api.admin.ask('PATCH', `/v1/admin/accounts/${guid}`, { token, body: { name: 'Globex' } });
    for (const host of ['one', 'other'])
      await api.ask('POST', subscribe, { token: own, body: { callback_url: `https://${host}.hooks.test/a` } });
    const named = { account: { guid, name: 'Globex' }, client_id: 'tms' };
    const { objects } = (await ask(`audit?account=${guid}`)).body;
    const told = (wanted: string) => objects.find(({ what }: { what: string }) => what === wanted);
    expect(told('subscription.changed')).toMatchObject({
      ...named,
      by: named,
      action: 'order.created',
      callback_origin_before: 'https://one.hooks.test',
      details: { callback_origin: 'https://other.hooks.test' },
    });
    const created = { ...named, by: named, action: 'order.created', callback_origin_before: null };
    expect(told('subscription.created')).toMatchObject(created);
    expect(told('account.changed')).toMatchObject({ action: null, client_id: null, by: { client_id: 'default' } });
    expect(told('token.created')).toMatchObject({ client_id: 'tms', by: null });
  });

  test.each(['failing', 'waiting', 'audit'])('%s says of an account that there is none', async (path) => {
    const nobody = randomUUID();
    const { status, body } = await ask(`${path}?account=${nobody}`);
    expect([status, body.type]).toEqual([404, 'urn:waybell:problem:unknown-account']);
    expect(body.detail).toContain(`there is no account ${nobody}`);
  });
});

describe('the kind of a key', () => {
  test('that no key has is refused with the nearest and all that there are, on every path that takes one', async () => {
    const { token: own } = await signUp(api, { interface: 'shipper' });
    const answers = [
      await ask('why/4711?kind=ordr_id'),
      await api.ask('GET', '/v1/timeline/4711?kind=ordr_id', { token: own }),
      await api.ask('GET', '/v1/deliveries?key=4711&kind=ordr_id', { token: own }),
      await api.ask('GET', '/v1/deliveries?kind=ordr_id', { token: own }),
    ];
    for (const { status, body } of answers) {
      expect([status, body.type]).toEqual([422, 'urn:waybell:problem:invalid-parameter']);
      expect(body.errors).toEqual([
        { parameter: 'kind', detail: expect.stringMatching(/nearest is order_id, of .*order_guid.*, vin$/) },
      ]);
    }
  });

  test('that the catalog does not know is taken where the key has it, and one that it knows always is', async () => {
    const { token: own } = await signUp(api, { interface: 'shipper' });
    const path = `/v1/timeline/${delivery.subject}`;
    const setKeys = (keys: string) =>
      api.store.postgres.query(`update delivery_log.events set keys = ${keys} where event = $1`, [delivery.event]);
    await setKeys("keys || array['trailer_guid=' || split_part(keys[1], '=', 2)]");
    for (const kind of ['trailer_guid', 'vin'])
      expect((await api.ask('GET', `${path}?kind=${kind}`, { token: own })).status).toBe(200);
    expect((await api.ask('GET', `/v1/timeline/4711?kind=trailer_guid`, { token: own })).status).toBe(422);
    await setKeys('keys[:1]');
  });
});

describe('subscriptions that are switched off', () => {
  const off = async (guid: string, minutes: number, by: string | null) =>
    api.store.postgres.query(
      `update waybell.subscriptions set is_active = false, deactivated_at = now() - make_interval(mins => $2),
         deactivation_rule = 'window', deactivated_by = $3
       where account_guid = $1`,
      [guid, minutes, by],
    );

  test('are listed, the latest first, of all accounts or of one, until they are subscribed again or ended', async () => {
    const body = { callback_url: 'https://hooks.test/off?key=secret' };
    const [first, second, third] = [
      await signUp(api, { interface: 'shipper', clientId: 'tms' }),
      await signUp(api, { interface: 'shipper' }),
      await signUp(api, { interface: 'shipper' }),
    ];
    for (const each of [first, second, third]) await api.ask('POST', subscribe, { token: each.token, body });
    const culprit = randomUUID();
    await off(first.guid, 1, culprit);
    await off(second.guid, 2, null);
    await off(third.guid, 3, null);
    await api.ask('POST', unsubscribe, { token: third.token });
    const all = (await ask('switched-off')).body.objects;
    expect(all.map(({ account }: { account: { guid: string } }) => account.guid)).toEqual([first.guid, second.guid]);
    expect(all[0]).toEqual({
      guid: expect.any(String),
      account: { guid: first.guid, name: null },
      client_id: 'tms',
      interface: 'shipper',
      action: 'order.created',
      url: 'https://hooks.test/off',
      created_at: expect.any(String),
      switched_off_at: expect.any(String),
      rule: 'window',
      delivery_guid: culprit,
    });
    expect(all[1].delivery_guid).toBeNull();
    expect((await ask('switched-off?limit=1')).body.objects).toEqual([all[0]]);
    expect((await ask(`switched-off?account=${second.guid}`)).body.objects).toEqual([all[1]]);
    await api.ask('POST', subscribe, { token: first.token, body });
    expect((await ask('switched-off')).body.objects).toEqual([all[1]]);
  });

  test('are listed apart where they would be, and are held, until an operator says what becomes of them', async () => {
    const { guid } = await signUp(api, { interface: 'shipper', clientId: 'tms' });
    const holder = await signUp(api, { interface: 'shipper' });
    const callback = { callback_url: 'https://hooks.test/held?key=secret' };
    await api.ask('POST', subscribe, { token: holder.token, body: callback });
    const hold = (more: string) =>
      api.store.postgres.query(
        `insert into waybell.due_deactivations (subscription, generation, rule, ended_at, due_at, held_at${more && ', is_released'})
         select guid, generation, 'exhausted', now(), now(), now()${more} from waybell.subscriptions
         where callback_url like '%/held%' on conflict (subscription) do update set is_released = excluded.is_released`,
      );
    await hold('');
    const { objects } = (await ask('held-deactivations')).body;
    expect(objects).toMatchObject([{ url: 'https://hooks.test/held', rule: 'exhausted', delivery_guid: null }]);
    expect(Object.keys(objects[0])).toContain('held_at');
    expect((await ask(`held-deactivations?account=${guid}`)).body.objects).toEqual([]);
    await hold(', true');
    expect((await ask('held-deactivations')).body.objects).toEqual([]);
  });
});

describe('an account', () => {
  test('is shown', async () => {
    expect((await ask(`accounts/${acme.guid}`)).body).toEqual({
      ...acme,
      interface: 'shipper',
      features: [],
      closed_at: null,
    });
  });

  test('has its subscriptions listed, current and ended ones, page by page, with how they stand', async () => {
    const path = `accounts/${acme.guid}/subscriptions`;
    const { body: first } = await ask(`${path}?limit=1`);
    expect(first.objects).toMatchObject([{ standing: 'active', ended_at: null, failing_since: null }]);
    const { body: second } = await ask(`${path}?limit=1&cursor=${first.next}`);
    expect(second.objects).toMatchObject([{ standing: 'ended', ended_at: expect.any(String) }]);
    const { body: third } = await ask(`${path}?limit=1&cursor=${second.next}`);
    expect(third).toEqual({ objects: [], next: null });
    expect((await ask(path)).body.objects).toEqual([...first.objects, ...second.objects]);
  });

  test('has those of the next page after the last one of this page', async () => {
    const { guid, token: own } = await signUp(api, { interface: 'carrier' });
    for (const action of ['order.created', 'order.updated', 'order.assigned']) {
      const body = { callback_url: 'https://hooks.test/c', actions: [action] };
      await api.ask('PUT', '/v1/subscriptions', { token: own, body });
    }
    const path = `accounts/${guid}/subscriptions?limit=2`;
    const { body: first } = await ask(path);
    const { body: second } = await ask(`${path}&cursor=${first.next}`);
    const told = [...first.objects, ...second.objects].map(({ action }: { action: string }) => action);
    expect([told, second.next]).toEqual([['order.assigned', 'order.updated', 'order.created'], null]);
  });

  test('that a rule switched off is told so, with the rule and since when it fails', async () => {
    const { guid, token: own } = await signUp(api, { interface: 'shipper' });
    await api.ask('POST', subscribe, { token: own, body: { callback_url: 'https://hooks.test/b' } });
    await api.store.postgres.query(
      `update waybell.subscriptions set is_active = false, deactivated_at = now(), deactivation_rule = 'window', failing_since = now()
       where account_guid = $1`,
      [guid],
    );
    expect((await ask(`accounts/${guid}/subscriptions`)).body.objects).toMatchObject([
      {
        standing: 'switched_off',
        failing_since: expect.any(String),
        switches: [{ is_on: false, rule: 'window' }],
        account: { guid, name: null },
      },
    ]);
  });
});

/** Puts a delivery into a room, like a deliverer. */
async function putWaiting(subscription: string): Promise<void> {
  await api.store.postgres.query(
    `with target as (
       select guid, account_guid as account, waybell.room_of(account_guid, callback_url) as room from waybell.subscriptions
       where guid = $1
     ), made as (
       insert into waybell.deliverer_rooms (room, account, shut_since) select room, account, now() from target
     )
     insert into waybell.deliverer_waiting (room, made_at, id, subscription, why, properties, body)
     select room, $2, gen_random_uuid() || ' 1', guid, 'hung', '{}', '{}' from target`,
    [subscription, wallClockMs()],
  );
}
