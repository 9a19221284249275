import { describe, expect, test } from '@jest/globals';
import { listenerClient } from '@waybell/delivery-log/listener-client';
import { shared } from '@waybell/runtime/testing/shared';
import { signUp, startApi } from '../testing/api.ts';
import { createToken } from '../tokens.ts';

const callback_url = 'https://hooks.test/a';

const api = shared(() => startApi());

async function aCarrier() {
  const { guid: account, token } = await signUp(api, { interface: 'carrier' });
  const subscribe = (as = token, action = 'order.created') =>
    api.ask('POST', `/v1/webhooks/${action}/subscriptions`, { token: as, body: { callback_url } });
  const trigger = (body: object) =>
    api.ask('POST', '/v1/triggers', { token, body: { action: 'order.created', ...body } });
  /** Has a listener that is subscribed to what the client is. */
  async function listen(name: string): Promise<string> {
    const listener = listenerClient('default', name);
    await api.store.postgres.query(
      `insert into waybell.subscriptions (guid, interface, account_guid, client_id, action, callback_url, verification_token_sealed, verification_token_key_id)
       select gen_random_uuid(), interface, account_guid, $2, action, callback_url, verification_token_sealed, verification_token_key_id
       from waybell.subscriptions where account_guid = $1 and client_id = 'default'`,
      [account, listener],
    );
    return listener;
  }
  const raw = (set: string, action = 'order.created') =>
    api.ask('POST', '/v1/triggers', {
      token,
      raw: `{"action":"${action}","set":${set}}`,
      headers: { 'content-type': 'application/json' },
    });
  return { account, token, subscribe, trigger, listen, raw };
}

/** Returns what was requested for an account. */
async function sendingsOf(account: string) {
  const asked = `select delivery, event, client, subscription, why, is_retried, from_attempt, body
    from delivery_log.sendings where account = $1 order by client`;
  return (await api.store.postgres.query(asked, [account])).rows;
}

describe('a trigger', () => {
  test('has the example sent to the subscription of the client, as a test that is retried', async () => {
    const us = await aCarrier();
    await us.subscribe();
    const { status, body } = await us.trigger({});
    expect({ status, body }).toMatchObject({
      status: 202,
      body: { deliveries: [{ is_listener: false }], suppressed: [] },
    });
    const [sending, ...others] = await sendingsOf(us.account);
    expect(others).toEqual([]);
    expect(sending).toMatchObject({
      delivery: body.deliveries[0].delivery_guid,
      subscription: body.deliveries[0].subscription_guid,
      event: body.event_guid,
      why: 'test',
      is_retried: true,
      from_attempt: 1,
    });
    expect(JSON.parse(sending?.body)).toMatchObject({
      action: 'order.created',
      guid: sending?.delivery,
      data: { id: 4021, status: 'new' },
    });
  });

  test('is made with what is set, digit for digit', async () => {
    const us = await aCarrier();
    await us.subscribe(us.token, 'order.updated');
    const set = '{"/payload/id":4711,"/payload/amount":12.50,"/payload/customer/name":"Ann"}';
    expect((await us.raw(set, 'order.updated')).status).toBe(202);
    const [sending] = await sendingsOf(us.account);
    expect(sending?.body).toContain('"id":4711');
    expect(sending?.body).toContain('"amount":12.50');
    expect(sending?.body).toContain('"customer":{"name":"Ann"}');
  });

  test('says which of what is set no notification has', async () => {
    const us = await aCarrier();
    await us.subscribe();
    expect((await us.raw('{"/payload/amount":12.50}')).body.unknown_members).toEqual(['/payload/amount']);
  });

  test('goes to the listener of the client while one runs, everywhere if asked for, and to no other client of the account', async () => {
    const us = await aCarrier();
    await us.subscribe();
    await us.subscribe(await createToken(api.store.postgres, { accountGuid: us.account, clientId: 'other' }));
    await us.subscribe(await createToken(api.store.postgres, { accountGuid: us.account, clientId: 'default/listen' }));
    const listener = await us.listen('ann');
    expect((await us.trigger({})).body.deliveries).toMatchObject([{ is_listener: true }]);
    expect((await sendingsOf(us.account)).map(({ client }) => client)).toEqual([listener]);
    const { body } = await us.trigger({ everywhere: true });
    expect(body.deliveries).toMatchObject([{ is_listener: false }, { is_listener: true }]);
    expect((await sendingsOf(us.account)).map(({ client }) => client)).toEqual(['default', listener, listener]);
  });

  test('goes to nobody where the listener that runs takes other actions, unless asked for everywhere', async () => {
    const us = await aCarrier();
    await us.subscribe();
    await us.listen('ann');
    await us.subscribe(us.token, 'order.updated');
    const { status, body } = await us.trigger({ action: 'order.updated' });
    expect({ status, detail: body.detail }).toEqual({
      status: 409,
      detail: expect.stringContaining('listener that runs does not take order.updated'),
    });
    expect((await us.trigger({ action: 'order.updated', everywhere: true })).status).toBe(202);
  });

  test('is refused where there is no subscription, and says what to do', async () => {
    const us = await aCarrier();
    const { status, body } = await us.trigger({});
    expect({ status, type: body.type }).toEqual({ status: 409, type: 'urn:waybell:problem:nobody-subscribed' });
    expect(body.detail).toContain('not subscribed to order.created');
  });

  test('goes to a subscription that is switched off, and to none that an operator stopped', async () => {
    const us = await aCarrier();
    await us.subscribe();
    await api.store.postgres.query(
      `update waybell.subscriptions set is_active = false, deactivated_at = now(), deactivation_rule = 'exhausted' where account_guid = $1`,
      [us.account],
    );
    expect((await us.trigger({})).status).toBe(202);
    await api.store.postgres.query(
      `update waybell.subscriptions set stopped_at = now(), stopped_reason = 'a loop' where account_guid = $1`,
      [us.account],
    );
    expect(await us.trigger({})).toMatchObject({
      status: 409,
      body: { type: 'urn:waybell:problem:stopped', detail: expect.stringContaining('a loop') },
    });
    expect(await sendingsOf(us.account)).toHaveLength(1);
    await us.listen('ann');
    expect((await us.trigger({ everywhere: true })).body.deliveries).toMatchObject([{ is_listener: true }]);
  });

  test.each([
    [
      'a place outside of what an event says',
      '{"/parties/carrier":"x"}',
      '#/set/~1parties~1carrier',
      'must be a JSON pointer',
    ],
    ['what is no pointer', '{"payload.id":1}', '#/set/payload.id', 'must be a JSON pointer'],
    [
      'what the contract forbids',
      '{"/payload/id":"x"}',
      '#/set/~1payload~1id',
      'payload_invalid: /payload/id: must be',
    ],
    ['a payload that lacks what it needs', '{"/payload":{}}', '#/set/~1payload', 'payload_invalid: /payload/'],
    ['a time that is none', '{"/occurred_at":"now"}', '#/set/~1occurred_at', 'envelope_invalid: /occurred_at'],
    ['a place beneath a number', '{"/payload/id/x":1}', '#/set/~1payload~1id~1x', 'there is no object or list'],
  ])('refuses %s and names the place', async (_what, set, pointer, detail) => {
    const us = await aCarrier();
    await us.subscribe();
    const { status, body } = await us.raw(set);
    expect({ status, errors: body.errors }).toEqual({
      status: 422,
      errors: [{ pointer: decoded(pointer), detail: expect.stringContaining(detail) }],
    });
    expect(await sendingsOf(us.account)).toEqual([]);
  });

  test('names the nearest actions where there is no such one', async () => {
    const us = await aCarrier();
    const { status, body } = await us.trigger({ action: 'order.create' });
    expect({ status, detail: body.detail }).toEqual({ status: 404, detail: expect.stringContaining('order.created') });
  });
});

const decoded = (pointer: string) => expect.stringMatching(new RegExp(`^${pointer.replaceAll('/', '(/|%2F)')}$`));
