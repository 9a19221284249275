import { describe, expect, test } from '@jest/globals';
import { signUp, startApi } from '../testing/api.ts';
import { createToken } from '../tokens.ts';
import { shared } from '@waybell/runtime/testing/shared';

const path = '/v1/subscriptions';
const body = { callback_url: 'https://hooks.test/a' };
const SUBSCRIBE = {
  shipper: (action: string) => `/v1/public/webhooks/${action}/subscribe`,
  carrier: (action: string) => `/v1/webhooks/${action}/subscriptions`,
};
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

const api = shared(() => startApi());

describe.each(['shipper', 'carrier'] as const)('the subscriptions of a %s', (interfaceName) => {
  const subscribe = (token: string, action: string) =>
    api.ask('POST', SUBSCRIBE[interfaceName](action), { token, body });
  const list = async (token: string): Promise<Record<string, unknown>[]> => {
    const answer = await api.ask('GET', path, { token });
    expect(answer.status).toBe(200);
    return interfaceName === 'shipper' ? answer.body.data.objects : answer.body.objects;
  };

  test('are none at first', async () => {
    const { token } = await signUp(api, { interface: interfaceName });
    expect(await list(token)).toEqual([]);
  });

  test('are told by action, with the guid that a test of them asks for, and without a token', async () => {
    const { guid: accountGuid, token } = await signUp(api, { interface: interfaceName });
    for (const action of ['order.picked_up', 'order.created']) await subscribe(token, action);
    const readOnly = await createToken(api.store.postgres, { accountGuid, scopes: ['webhooks:read'] });
    const told = await list(readOnly);
    expect(told).toEqual(
      ['order.created', 'order.picked_up'].map((action) => ({
        guid: expect.stringMatching(UUID),
        action,
        ...body,
        is_active: true,
        created_at: expect.any(String),
        changed_at: expect.any(String),
      })),
    );
    const { rows } = await api.store.postgres.query(
      'select guid, action from waybell.subscriptions where account_guid = $1 order by action',
      [accountGuid],
    );
    expect(told).toMatchObject(rows);
  });

  test('tell when and by which rule they were switched off, until they are on again', async () => {
    const { guid, token } = await signUp(api, { interface: interfaceName });
    await subscribe(token, 'order.created');
    await api.store.postgres.query(
      `update waybell.subscriptions set is_active = false, deactivated_at = '2026-11-20T09:30:00Z', deactivation_rule = 'window'
       where account_guid = $1`,
      [guid],
    );
    const deactivation = { at: '2026-11-20T09:30:00.000Z', rule: 'window' };
    expect(await list(token)).toMatchObject([{ is_active: false, deactivation }]);
    if (interfaceName === 'carrier') await api.ask('DELETE', SUBSCRIBE.carrier('order.created'), { token });
    await subscribe(token, 'order.created');
    const [again, ...more] = await list(token);
    expect([again?.['is_active'], again?.['deactivation'], more]).toEqual([true, undefined, []]);
  });
});

test('a subscription whose feature is off is told as suspended, until the feature is on again', async () => {
  const { guid, token } = await signUp(api, { interface: 'shipper', features: ['insurance'] });
  for (const action of ['insurance.issued', 'order.paid']) {
    await api.ask('POST', SUBSCRIBE.shipper(action), { token, body });
  }
  const suspensions = async () => {
    const { objects } = (await api.ask('GET', path, { token })).body.data;
    return objects.map(({ action, suspension }: Record<string, unknown>) => [action, suspension]);
  };
  const setFeatures = (features: string[]) =>
    api.store.postgres.query('update waybell.accounts set features = $2 where guid = $1', [guid, features]);
  expect(await suspensions()).toEqual([
    ['insurance.issued', undefined],
    ['order.paid', undefined],
  ]);
  await setFeatures(['servicepay']);
  expect(await suspensions()).toEqual([
    ['insurance.issued', { reason: 'feature_off', feature: 'insurance' }],
    ['order.paid', undefined],
  ]);
  await setFeatures(['insurance']);
  expect(await suspensions()).toEqual([
    ['insurance.issued', undefined],
    ['order.paid', undefined],
  ]);
});
