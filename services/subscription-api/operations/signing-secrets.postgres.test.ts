import { describe, expect, test } from '@jest/globals';
import { signUp, startApi } from '../testing/api.ts';
import { createToken } from '../tokens.ts';
import { shared } from '@waybell/runtime/testing/shared';

const path = '/v1/signing-secrets';
const HOUR_MS = 3_600_000;

const api = shared(() => startApi({ overlapMs: HOUR_MS }));

type Shown = { secret: string; created_at: string; expires_at: string | null };

async function list(token: string): Promise<Shown[]> {
  const { status, body } = await api.ask('GET', path, { token });
  expect(status).toBe(200);
  return shown(body);
}

/** Shippers get what they are answered wrapped. */
const shown = (body: { data?: { objects: Shown[] }; objects: Shown[] }): Shown[] => (body.data ?? body).objects;

async function rotate(token: string, how: { force?: boolean } = {}): Promise<Shown[]> {
  const { status, body } = await api.ask('POST', `${path}/rotate`, { token, body: how });
  expect(status).toBe(200);
  return shown(body);
}

describe.each(['shipper', 'carrier'] as const)('the signing secrets of a %s', (interfaceName) => {
  test('are one at first, the same whenever it is asked for', async () => {
    const { token } = await signUp(api, { interface: interfaceName });
    const secrets = await list(token);
    expect(secrets).toEqual([
      { secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/), created_at: expect.any(String), expires_at: null },
    ]);
    expect(await list(token)).toEqual(secrets);
  });

  test('are two after a rotation, the earlier one until the overlap is over', async () => {
    const { token } = await signUp(api, { interface: interfaceName });
    const [first] = await list(token);
    const [second, retired, ...more] = await rotate(token);
    expect([second?.expires_at, retired?.secret, more]).toEqual([null, first?.secret, []]);
    expect(second?.secret).not.toBe(first?.secret);
    const retiredAt = Date.parse(retired?.expires_at ?? '') - HOUR_MS;
    expect(retiredAt).toBeGreaterThanOrEqual(Date.parse(first?.created_at ?? ''));
    expect(retiredAt).toBeLessThanOrEqual(Date.parse(second?.created_at ?? ''));
    const [third, ...others] = await rotate(token, { force: true });
    expect(others.map(({ secret }) => secret)).toEqual([second?.secret]);
    expect((await list(token)).map(({ secret }) => secret)).toEqual([third?.secret, second?.secret]);
  });
});

describe('the signing secrets', () => {
  test('are unavailable while the key that opens them is not among those of the process', async () => {
    const { guid, token } = await signUp(api, { interface: 'carrier' });
    await list(token);
    await api.store.postgres.query(`update waybell.signing_secrets set key_id = 'gone' where account_guid = $1`, [
      guid,
    ]);
    const { status, body } = await api.ask('GET', path, { token });
    expect([status, body.type]).toEqual([503, 'urn:waybell:problem:unavailable']);
  });

  test('are there once an account has subscribed, and are made once, however many subscribe and ask at once', async () => {
    const { guid, token } = await signUp(api, { interface: 'shipper' });
    const body = { callback_url: 'https://hooks.test/a' };
    await Promise.all(
      ['order.created', 'order.paid', 'order.booked'].flatMap((action) => [
        api.ask('POST', `/v1/public/webhooks/${action}/subscribe`, { token, body }),
        list(token),
      ]),
    );
    const { rows } = await api.store.postgres.query(
      'select count(*)::int as kept from waybell.signing_secrets where account_guid = $1',
      [guid],
    );
    expect(rows).toEqual([{ kept: 1 }]);
  });

  test('are never more than two, however many rotate at once', async () => {
    const { guid, token } = await signUp(api, { interface: 'carrier' });
    await Promise.all(Array.from({ length: 10 }, () => rotate(token, { force: true })));
    const { rows } = await api.store.postgres.query(
      'select expires_at is null as current from waybell.signing_secrets where account_guid = $1 order by 1',
      [guid],
    );
    expect(rows).toEqual([{ current: false }, { current: true }]);
  });

  test('are rotated once at a time, unless that is forced', async () => {
    const { token } = await signUp(api, { interface: 'carrier' });
    const ask = (body?: object) => api.ask('POST', `${path}/rotate`, { token, body });
    const answers = await Promise.all(Array.from({ length: 5 }, () => ask()));
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409, 409, 409, 409]);
    const secrets = await list(token);
    const { status, body } = await ask({ force: false });
    expect([status, body.type]).toEqual([409, 'urn:waybell:problem:rotation-under-way']);
    expect(body.detail).toContain(secrets[1]?.expires_at);
    expect(await list(token)).toEqual(secrets);
    expect((await ask({ force: 'yes' })).status).toBe(422);
    expect((await ask({ forced: true })).status).toBe(422);
    await rotate(token, { force: true });
    expect((await list(token))[1]?.secret).toBe(secrets[0]?.secret);
  });

  test('of one client are not seen or rotated by another of its account', async () => {
    const { guid, token } = await signUp(api, { interface: 'shipper', clientId: 'one' });
    const other = await createToken(api.store.postgres, { accountGuid: guid, clientId: 'other' });
    const mine = await list(token);
    await rotate(other);
    await rotate(other, { force: true });
    expect(await list(token)).toEqual(mine);
    expect((await list(other)).map(({ secret }) => secret)).not.toContain(mine[0]?.secret);
  });

  test('are shown to no other account, and to no token that may only read', async () => {
    const one = await signUp(api, { interface: 'shipper' });
    const other = await signUp(api, { interface: 'shipper' });
    const [mine] = await list(one.token);
    await rotate(other.token);
    expect(await list(one.token)).toEqual([mine]);
    expect((await list(other.token)).map(({ secret }) => secret)).not.toContain(mine?.secret);
    const reader = await createToken(api.store.postgres, { accountGuid: one.guid, scopes: ['webhooks:read'] });
    for (const [method, at] of [
      ['GET', path],
      ['POST', `${path}/rotate`],
    ] as const) {
      expect((await api.ask(method, at, { token: reader })).status).toBe(403);
    }
    expect(await list(one.token)).toEqual([mine]);
  });

  test('are encrypted at rest', async () => {
    const { guid, token } = await signUp(api, { interface: 'carrier' });
    const [{ secret } = { secret: '' }] = await list(token);
    const { rows } = await api.store.postgres.query('select * from waybell.signing_secrets where account_guid = $1', [
      guid,
    ]);
    const [row] = rows;
    expect(row.sealed.includes(secret.slice('whsec_'.length))).toBe(false);
    expect(row.sealed.includes(Buffer.from(secret.slice('whsec_'.length), 'base64'))).toBe(false);
  });
});
