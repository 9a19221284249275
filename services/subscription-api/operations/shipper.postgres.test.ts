import { describe, expect, test } from '@jest/globals';
import type { Action } from '@waybell/catalog/action';
import { actions, findAction } from '@waybell/catalog/actions';
import { shared } from '@waybell/runtime/testing/shared';
import { updateAccount } from '../accounts.ts';
import { signUp, startApi } from '../testing/api.ts';
import { createToken } from '../tokens.ts';

const deprecated: Action = {
  ...(findAction('shipper', 'order.paid') as Action),
  name: 'order.settled',
  deprecated: { since: '2026-01-01', sunset: '2027-01-01' },
};
const base = '/v1/public/webhooks';
const callback_url = 'https://hooks.test/a';
const timestamp = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+0000$/;

const api = shared(() => startApi({ catalog: [...actions, deprecated] }));

const subscribe = (token: string, action: string, body: object = { callback_url }) =>
  api.ask('POST', `${base}/${action}/subscribe`, { token, body });
const unsubscribe = (token: string, action: string) => api.ask('POST', `${base}/${action}/unsubscribe`, { token });
const aShipper = (more: { features?: string[]; clientId?: string; scopes?: string[] } = {}) =>
  signUp(api, { interface: 'shipper', ...more });

describe('GET action_types', () => {
  test('lists every action without a feature, with description and audit fields, at both addresses', async () => {
    const { token } = await aShipper();
    const answer = await api.ask('GET', `${base}/action_types`, { token });
    const plain = actions.filter((action) => action.interface === 'shipper' && action.feature === undefined);
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({
      status: 'success',
      data: {
        objects: plain.map(({ name, description, auditFields }) =>
          auditFields === undefined
            ? { action: name, description }
            : { action: name, description, audit_fields: auditFields },
        ),
      },
    });
    expect((await api.ask('GET', '/webhooks/action_types/', { token })).body).toEqual(answer.body);
  });

  test('lists gated actions where the feature is enabled, and no deprecated one', async () => {
    const { token } = await aShipper({ features: ['insurance', 'servicepay'] });
    const { body } = await api.ask('GET', `${base}/action_types`, { token });
    const names = body.data.objects.map(({ action }: { action: string }) => action);
    expect(names).toEqual(actions.filter((action) => action.interface === 'shipper').map(({ name }) => name));
  });
});

describe('POST subscribe', () => {
  test('answers with the subscription, in the order of the specification', async () => {
    const { token } = await aShipper();
    const { status, body } = await subscribe(token, 'order.created', { callback_url, audit_field_set: ['price'] });
    expect(status).toBe(200);
    expect(body).toEqual({
      status: 'success',
      data: {
        object: {
          is_active: true,
          created_at: expect.stringMatching(timestamp),
          changed_at: expect.stringMatching(timestamp),
          action: 'order.created',
          verification_token: expect.stringMatching(/^[\w-]{43}$/),
          callback_url,
          guid: expect.stringMatching(/^[0-9a-f-]{36}$/),
          audit_field_set: ['price'],
        },
      },
    });
    expect(Object.keys(body.data.object)).toEqual(
      'is_active created_at changed_at action verification_token callback_url guid audit_field_set'.split(' '),
    );
  });

  test('again replaces URL and audit fields; guid, created_at and token stay, the generation rises', async () => {
    const { guid, token } = await aShipper();
    const first = (await subscribe(token, 'order.modified', { callback_url, audit_field_set: ['number'] })).body.data
      .object;
    await api.store.postgres.query(
      `update waybell.subscriptions set is_active = false, deactivated_at = now(), deactivation_rule = 'window',
         failing_since = now(), last_failure_at = now() where account_guid = $1`,
      [guid],
    );
    const second = (await subscribe(token, 'order.modified', { callback_url: 'https://hooks.test/b' })).body.data
      .object;
    const { audit_field_set, ...rest } = first;
    expect(audit_field_set).toEqual(['number']);
    expect(second).toEqual({
      ...rest,
      callback_url: 'https://hooks.test/b',
      changed_at: expect.stringMatching(timestamp),
    });
    expect(second.changed_at >= first.changed_at).toBe(true);
    const { rows } = await api.store.postgres.query('select * from waybell.subscriptions where account_guid = $1', [
      guid,
    ]);
    expect(rows).toMatchObject([{ generation: 2, is_active: true, deactivated_at: null, failing_since: null }]);
  });

  test('after unsubscribe makes a new subscription with a new guid and token; the old row stays', async () => {
    const { guid, token } = await aShipper();
    const first = (await subscribe(token, 'order.paid')).body.data.object;
    const ended = await unsubscribe(token, 'order.paid');
    expect(ended).toMatchObject({
      status: 200,
      body: { status: 'success', data: { object: { guid: first.guid, is_active: false } } },
    });
    const second = (await subscribe(token, 'order.paid')).body.data.object;
    expect(second.guid).not.toBe(first.guid);
    expect(second.verification_token).not.toBe(first.verification_token);
    const { rows } = await api.store.postgres.query(
      'select guid, ended_at is null as current from waybell.subscriptions where account_guid = $1 order by ended_at',
      [guid],
    );
    expect(rows).toEqual([
      { guid: first.guid, current: false },
      { guid: second.guid, current: true },
    ]);
  });

  test('many at once leave one subscription and answer all with it', async () => {
    const { guid, token } = await aShipper();
    const answers = await Promise.all(Array.from({ length: 20 }, () => subscribe(token, 'order.booked')));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(new Set(answers.map(({ body }) => body.data.object.guid)).size).toBe(1);
    expect(new Set(answers.map(({ body }) => body.data.object.verification_token)).size).toBe(1);
    const { rows } = await api.store.postgres.query(
      'select generation from waybell.subscriptions where account_guid = $1',
      [guid],
    );
    expect(rows).toEqual([{ generation: 20 }]);
  });

  test('and unsubscribe, many at once, never leave more than one current subscription', async () => {
    const { guid, token } = await aShipper();
    const asks = Array.from({ length: 30 }, (_, i) => (i % 3 === 2 ? unsubscribe : subscribe)(token, 'order.booked'));
    const statuses = new Set((await Promise.all(asks)).map(({ status }) => status));
    expect([...statuses].every((status) => status === 200 || status === 404)).toBe(true);
    const { rows } = await api.store.postgres.query(
      'select count(*)::int as current from waybell.subscriptions where account_guid = $1 and ended_at is null',
      [guid],
    );
    expect(rows[0].current).toBeLessThanOrEqual(1);
  });

  test('to a gated action answers 409 until the feature is enabled; disabled later, it can still be ended', async () => {
    const { guid, token } = await aShipper();
    for (const action of [
      'insurance.issued',
      'insurance.canceled',
      'servicepay.updated',
      'servicepay_settings.updated',
    ]) {
      expect(await subscribe(token, action)).toMatchObject({
        status: 409,
        body: { type: 'urn:waybell:problem:feature-off' },
      });
    }
    await updateAccount(api.store.postgres, { guid, addFeatures: ['insurance'] });
    expect((await subscribe(token, 'insurance.issued')).status).toBe(200);
    expect((await subscribe(token, 'servicepay.updated')).status).toBe(409);
    await updateAccount(api.store.postgres, { guid, removeFeatures: ['insurance'] });
    expect((await subscribe(token, 'insurance.issued')).status).toBe(409);
    expect((await unsubscribe(token, 'insurance.issued')).status).toBe(200);
  });

  test('to a deprecated action works and says so', async () => {
    const { token } = await aShipper();
    const { status, headers } = await subscribe(token, 'order.settled');
    expect(status).toBe(200);
    expect(headers.get('deprecation')).toBe('@1767225600');
    expect(headers.get('sunset')).toBe('Fri, 01 Jan 2027 00:00:00 GMT');
  });

  test.each([
    ['order.created', 'vehicles.vin'],
    ['order.modified', 'pickup.venue'],
    ['vehicle.created', 'price'],
    ['vehicle.modified', 'vin'],
    ['vehicle.deleted', 'vehicles'],
  ])('to %s takes no field "%s", and says so of each entry', async (action, field) => {
    const { token } = await aShipper();
    const allowed = findAction('shipper', action)?.auditFields ?? [];
    const body = { callback_url, audit_field_set: [...allowed, field, allowed[0]] };
    const answer = await subscribe(token, action, body);
    expect(answer.status).toBe(422);
    expect(answer.body.errors).toEqual([
      { pointer: `#/audit_field_set/${allowed.length}`, detail: `"${field}" is no field of ${action}` },
      { pointer: `#/audit_field_set/${allowed.length + 1}`, detail: `"${allowed[0]}" is there twice` },
    ]);
    expect((await subscribe(token, action, { callback_url, audit_field_set: allowed })).status).toBe(200);
  });

  test('keeps an empty audit_field_set apart from none', async () => {
    const { token } = await aShipper();
    const empty = await subscribe(token, 'vehicle.created', { callback_url, audit_field_set: [] });
    expect(empty.body.data.object.audit_field_set).toEqual([]);
    expect((await subscribe(token, 'vehicle.created')).body.data.object).not.toHaveProperty('audit_field_set');
  });
});

describe('an unknown action', () => {
  test.each([
    ['order.canceled', 'order.cancel'],
    ['order.picked-up', 'order.picked_up'],
    ['offer.accepted.ignore', 'offer.accepted.ignored'],
    ['insurance.cancelled', 'insurance.canceled'],
    ['ORDER.CREATED', 'order.created'],
  ])('%s answers 404, and %s is the nearest', async (unknown, nearest) => {
    const { token } = await aShipper();
    const { status, body } = await subscribe(token, unknown);
    expect([status, /The nearest are: ([^,]+),/.exec(body.detail)?.[1]]).toEqual([404, nearest]);
  });
});

describe('GET webhooks', () => {
  test("lists the client's own current subscriptions, the deactivated ones too", async () => {
    const { guid, token } = await aShipper();
    const other = await createToken(api.store.postgres, { accountGuid: guid, clientId: 'other' });
    expect((await api.ask('GET', base, { token })).body).toEqual({ status: 'success', data: { objects: [] } });
    await subscribe(token, 'order.paid');
    await subscribe(token, 'order.removed');
    await subscribe(token, 'order.booked');
    await unsubscribe(token, 'order.booked');
    await subscribe(other, 'order.paid', { callback_url: 'https://hooks.test/other' });
    await api.store.postgres.query(
      `update waybell.subscriptions set is_active = false, deactivated_at = now(), deactivation_rule = 'exhausted'
       where account_guid = $1 and action = 'order.removed'`,
      [guid],
    );
    const { objects } = (await api.ask('GET', `${base}/`, { token })).body.data;
    expect(objects).toMatchObject([
      { action: 'order.paid', is_active: true, callback_url, verification_token: expect.any(String) },
      { action: 'order.removed', is_active: false },
    ]);
    expect(objects).toHaveLength(2);
    const others = (await api.ask('GET', base, { token: other })).body.data.objects;
    expect(others).toMatchObject([{ action: 'order.paid', callback_url: 'https://hooks.test/other' }]);
    expect((await unsubscribe(other, 'order.removed')).status).toBe(404);
  });

  test('shows the verification token only to those who may write', async () => {
    const { guid, token } = await aShipper();
    const reader = await createToken(api.store.postgres, { accountGuid: guid, scopes: ['webhooks:read'] });
    await subscribe(token, 'order.paid');
    const { body, text } = await api.ask('GET', base, { token: reader });
    expect(body.data.objects).toMatchObject([{ action: 'order.paid' }]);
    expect(text).not.toContain('verification_token');
  });
});
