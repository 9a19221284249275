import { describe, expect, test } from '@jest/globals';
import type { Action } from '@waybell/catalog/action';
import { actions, actionsOf, findAction } from '@waybell/catalog/actions';
import { shared } from '@waybell/runtime/testing/shared';
import { signUp, startApi } from '../testing/api.ts';
import { createToken } from '../tokens.ts';

const callback_url = 'https://hooks.test/a';
const deprecated: Action = {
  ...(findAction('carrier', 'order.updated') as Action),
  name: 'order.amended',
  deprecated: { since: '2026-01-01', sunset: '2027-01-01' },
};

const api = shared(() => startApi({ catalog: [...actions, deprecated] }));

const path = (action: string) => `/v1/webhooks/${action}/subscriptions/`;
const subscribe = (token: string, action: string) => api.ask('POST', path(action), { token, body: { callback_url } });
const unsubscribe = (token: string, action: string) => api.ask('DELETE', path(action), { token });
const aCarrier = () => signUp(api, { interface: 'carrier' });

describe('GET /v1/webhooks/', () => {
  test('answers with a bare array of actions, the deprecated ones left out', async () => {
    const { token } = await aCarrier();
    const { status, body } = await api.ask('GET', '/v1/webhooks/', { token });
    expect(status).toBe(200);
    expect(body).toEqual(actionsOf('carrier').map(({ name, description }) => ({ action: name, description })));
  });
});

describe('POST subscriptions', () => {
  test('answers 201 with exactly the four fields', async () => {
    const { token } = await aCarrier();
    const { status, text, body } = await subscribe(token, 'order.created');
    expect(status).toBe(201);
    const { verification_token } = body;
    expect(text).toBe(JSON.stringify({ is_active: true, action: 'order.created', verification_token, callback_url }));
  });

  test('when subscribed answers 409 and says to DELETE first, active or deactivated', async () => {
    const { guid, token } = await aCarrier();
    await subscribe(token, 'order.created');
    const active = await subscribe(token, 'order.created');
    expect(active).toMatchObject({
      status: 409,
      body: { detail: expect.stringMatching(/already subscribed.*DELETE/) },
    });
    await api.store.postgres.query(
      `update waybell.subscriptions set is_active = false, deactivated_at = now(), deactivation_rule = 'exhausted'
       where account_guid = $1`,
      [guid],
    );
    const deactivated = await subscribe(token, 'order.created');
    expect(deactivated).toMatchObject({ status: 409, body: { detail: expect.stringMatching(/deactivated.*DELETE/) } });
  });

  test('after DELETE gives a new token', async () => {
    const { token } = await aCarrier();
    const first = await subscribe(token, 'order.created');
    expect(await unsubscribe(token, 'order.created')).toMatchObject({ status: 204, text: '' });
    const second = await subscribe(token, 'order.created');
    expect(second.status).toBe(201);
    expect(second.body.verification_token).not.toBe(first.body.verification_token);
  });

  test('many at once: one is made, the others are told', async () => {
    const { guid, token } = await aCarrier();
    const answers = await Promise.all(Array.from({ length: 20 }, () => subscribe(token, 'damage.created')));
    const statuses = answers.map(({ status }) => status).toSorted((a, b) => a - b);
    expect(statuses).toEqual([201, ...Array<number>(19).fill(409)]);
    const { rowCount } = await api.store.postgres.query('select from waybell.subscriptions where account_guid = $1', [
      guid,
    ]);
    expect(rowCount).toBe(1);
  });

  test('clients of one account have a subscription each', async () => {
    const { guid, token } = await aCarrier();
    const other = await createToken(api.store.postgres, { accountGuid: guid, clientId: 'other' });
    expect((await subscribe(token, 'order.created')).status).toBe(201);
    expect((await subscribe(other, 'order.created')).status).toBe(201);
  });

  test('knows no audit_field_set', async () => {
    const { token } = await aCarrier();
    const body = { callback_url, audit_field_set: [] };
    const { status, body: problem } = await api.ask('POST', path('order.created'), { token, body });
    expect(status).toBe(422);
    expect(problem.errors).toEqual([
      { pointer: '#/audit_field_set', detail: expect.stringContaining('not known here; known are: callback_url') },
    ]);
  });
});

describe('a deprecated action', () => {
  test('can be subscribed to, looked at and ended, and each answer says that it is deprecated', async () => {
    const { token } = await aCarrier();
    const answers = [
      await subscribe(token, 'order.amended'),
      await subscribe(token, 'order.amended'),
      await api.ask('GET', path('order.amended'), { token }),
      await unsubscribe(token, 'order.amended'),
      await unsubscribe(token, 'order.amended'),
    ];
    expect(answers.map(({ status }) => status)).toEqual([201, 409, 200, 204, 404]);
    for (const { headers } of answers) {
      expect(headers.get('deprecation')).toBe('@1767225600');
      expect(headers.get('sunset')).toBe('Fri, 01 Jan 2027 00:00:00 GMT');
    }
  });

  test('is not among the nearest names of an unknown one', async () => {
    const { token } = await aCarrier();
    const { body } = await subscribe(token, 'order.amende');
    expect(body.detail).toMatch(/The nearest are: /);
    expect(body.detail).not.toContain('order.amended');
  });
});

describe('GET subscriptions', () => {
  test('answers with an array of the current subscription, or none', async () => {
    const { guid, token } = await aCarrier();
    const reader = await createToken(api.store.postgres, { accountGuid: guid, scopes: ['webhooks:read'] });
    expect(await api.ask('GET', path('order.created'), { token })).toMatchObject({ status: 200, body: [] });
    const made = (await subscribe(token, 'order.created')).body;
    expect((await api.ask('GET', path('order.created'), { token })).body).toEqual([made]);
    expect((await api.ask('GET', path('order.created'), { token: reader })).body).toEqual([
      { is_active: true, action: 'order.created', callback_url },
    ]);
  });
});

describe('DELETE subscriptions', () => {
  test('answers 404 where nothing is subscribed, and ends a deactivated one', async () => {
    const { guid, token } = await aCarrier();
    expect(await unsubscribe(token, 'order.created')).toMatchObject({
      status: 404,
      body: { type: 'urn:waybell:problem:not-subscribed' },
    });
    await subscribe(token, 'order.created');
    await api.store.postgres.query(
      `update waybell.subscriptions set is_active = false, deactivated_at = now(), deactivation_rule = 'window'
       where account_guid = $1`,
      [guid],
    );
    expect((await unsubscribe(token, 'order.created')).status).toBe(204);
    expect((await unsubscribe(token, 'order.created')).status).toBe(404);
  });

  test('many at once: one ends it, the others find nothing', async () => {
    const { token } = await aCarrier();
    await subscribe(token, 'order.created');
    const answers = await Promise.all(Array.from({ length: 10 }, () => unsubscribe(token, 'order.created')));
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([204, ...Array<number>(9).fill(404)]);
  });
});
