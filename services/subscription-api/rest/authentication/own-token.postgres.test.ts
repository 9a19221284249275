import { describe, expect, test } from '@jest/globals';
import { signUp, startApi } from '../../testing/api.ts';
import { shared } from '@waybell/runtime/testing/shared';

const api = shared(() => startApi());

describe('GET /v1/token', () => {
  test.each(['shipper', 'carrier'] as const)('says whose the token of a %s is', async (interfaceName) => {
    const { guid, token } = await signUp(api, {
      interface: interfaceName,
      name: 'Acme',
      clientId: 'tms',
      scopes: ['webhooks:read'],
      features: ['insurance'],
    });
    const { status, body } = await api.ask('GET', '/v1/token', { token });
    expect(status).toBe(200);
    const told = {
      interface: interfaceName,
      account_guid: guid,
      account_name: 'Acme',
      client_id: 'tms',
      scopes: ['webhooks:read'],
      features: ['insurance'],
    };
    expect(body).toEqual(interfaceName === 'shipper' ? { status: 'success', data: { object: told } } : told);
  });

  test('answers a token of any scope', async () => {
    for (const scope of ['webhooks:read', 'webhooks:write', 'admin']) {
      const { token } = await signUp(api, { interface: 'carrier', scopes: [scope] });
      expect((await api.ask('GET', '/v1/token', { token })).body.scopes).toEqual([scope]);
    }
  });

  test('answers no request without a token', async () => {
    expect((await api.ask('GET', '/v1/token')).status).toBe(401);
  });
});

describe('GET /v1/admin/token', () => {
  test('says whose the token of an operator is, and nothing to others', async () => {
    const { guid, token } = await signUp(api, { interface: 'carrier', clientId: 'ops', scopes: ['admin'] });
    const { body } = await api.admin.ask('GET', '/v1/admin/token', { token });
    expect(body).toEqual({ account_guid: guid, account_name: null, client_id: 'ops', scopes: ['admin'] });
    const { token: other } = await signUp(api, { interface: 'carrier' });
    expect((await api.admin.ask('GET', '/v1/admin/token', { token: other })).status).toBe(403);
  });
});
