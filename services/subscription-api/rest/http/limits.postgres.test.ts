import { randomBytes, randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { connectRedis } from '@waybell/runtime/redis';
import { borrowRedis } from '@waybell/runtime/testing/borrow';
import { until } from '@waybell/runtime/testing/until';
import { wallClockMs } from '@waybell/runtime/testing/wall-clock';
import { signUp, startApi, type TestApi } from '../../testing/api.ts';
import { aKey, signed, startIssuer } from '../../testing/issuer.ts';
import { Detour } from '@waybell/runtime/testing/detour';
import { shared } from '@waybell/runtime/testing/shared';
import { PATIENT_MS, silentLog } from '@waybell/runtime/testing/patience';
import { createToken, revokeToken } from '../../tokens.ts';

const path = '/v1/public/webhooks';
const limits = { requestsPerMinute: 3, failuresPerMinute: 2 };

const api = shared(() => startApi({ limits, trustedProxies: ['127.0.0.0/8'] }));

/** Each test has a network of its own, because all share one Redis. */
function aNetwork(): (host: string) => Record<string, string> {
  const network = `2001:db8:${randomBytes(2).toString('hex')}:${randomBytes(1).toString('hex')}`;
  return (host) => ({ 'x-forwarded-for': `${network}00::${host}` });
}

const expectTooMany = (answer: Awaited<ReturnType<TestApi['ask']>>) => {
  expect(answer).toMatchObject({ status: 429, body: { type: 'urn:waybell:problem:too-many-requests' } });
  expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
};

describe('a client', () => {
  test('has its requests a minute, hears how many are left, and then gets 429', async () => {
    const { guid, token } = await signUp(api, { interface: 'shipper' });
    const { token: other } = await signUp(api, { interface: 'shipper' });
    const headers = aNetwork()('1');
    for (const left of [2, 1, 0]) {
      const answer = await api.ask('GET', path, { token, headers });
      expect([answer.status, answer.headers.get('ratelimit')]).toEqual([200, expect.stringContaining(`r=${left};`)]);
      expect(answer.headers.get('ratelimit-policy')).toContain('q=3; w=60;');
    }
    expectTooMany(await api.ask('GET', path, { token, headers }));
    expect((await api.ask('GET', path, { token: other, headers })).status).toBe(200);
    // Another of its tokens names the same client.
    const more = await createToken(api.store.postgres, { accountGuid: guid });
    expectTooMany(await api.ask('GET', path, { token: more, headers }));
  });

  test('is counted by whatever endpoint it asks, and documents without a token are not counted', async () => {
    const { token } = await signUp(api, { interface: 'carrier' });
    const headers = aNetwork()('1');
    const subscriptions = '/v1/webhooks/order.created/subscriptions';
    for (const each of ['/v1/webhooks', subscriptions, path]) await api.ask('GET', each, { token, headers });
    expectTooMany(await api.ask('DELETE', subscriptions, { token, headers }));
    for (let each = 0; each < 5; each += 1) expect((await api.ask('GET', '/schemas/nope')).status).toBe(404);
  });

  test('has its limit in each process while Redis is away', async () => {
    await using proxy = await Detour.to((await borrowRedis()).url);
    await using alone = await startApi({ beside: api, limits, redisUrl: proxy.url });
    await proxy.shut();
    const { token } = await signUp(alone, { interface: 'shipper' });
    for (let each = 0; each < 3; each += 1) expect((await alone.ask('GET', path, { token })).status).toBe(200);
    expectTooMany(await alone.ask('GET', path, { token }));
  });
});

describe('a JWT', () => {
  test('is counted by whom it is for, however it is spelled', async () => {
    await using issuer = await startIssuer();
    const key = await aKey('ec');
    issuer.show([key]);
    const claims = { account: 'account', client: 'client', interface: 'side' };
    const rules = {
      issuer: 'https://issuer.test/',
      audience: 'waybell',
      algorithms: ['ES256'],
      leewayMs: 60_000,
      defaultScopes: ['webhooks:read'] as const,
      claims,
    };
    await using known = await startApi({ beside: api, limits, jwt: { ...rules, jwksUrl: issuer.jwksUrl } });
    const nowS = Math.floor(wallClockMs() / 1_000);
    const facts = { iss: 'https://issuer.test/', aud: 'waybell', sub: 'user', iat: nowS, exp: nowS + 3_600 };
    const account = randomUUID();
    const token = await signed(key, { ...facts, jti: '1', account, client: 'tms', side: 'shipper' });
    await until('the keys are known', async () => (await known.ask('GET', path, { token })).status !== 503);
    await until('it has asked too much', async () => (await known.ask('GET', path, { token })).status === 429);
    // The last character of a signature has bits that no decoder reads.
    const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    const place = letters.indexOf(token.slice(-1));
    const spellings = [0, 1, 2, 3].map((low) => `${token.slice(0, -1)}${letters[(place & ~3) | low]}`);
    const another = await signed(key, { ...facts, jti: '2', account, client: 'tms', side: 'shipper' });
    for (const each of [...spellings, another]) expectTooMany(await known.ask('GET', path, { token: each }));
  });
});

describe('an address', () => {
  test('has its tokens that are not valid, and then no new token of it is looked at', async () => {
    const from = aNetwork();
    const { guid, token } = await signUp(api, { interface: 'shipper' });
    const unseen = await createToken(api.store.postgres, { accountGuid: guid, clientId: 'another' });
    expect((await api.ask('GET', path, { token, headers: from('1') })).status).toBe(200);
    for (const guess of ['wbl_a', 'wbl_b']) {
      expect((await api.ask('GET', path, { token: guess, headers: from('1') })).status).toBe(401);
    }
    for (const each of ['wbl_c', unseen])
      expectTooMany(await api.ask('GET', path, { token: each, headers: from('1') }));
    // The next address of the same network is the same client's; another network is not.
    expectTooMany(await api.ask('GET', path, { token: unseen, headers: from('2') }));
    expect((await api.ask('GET', path, { token: unseen, headers: aNetwork()('1') })).status).toBe(200);
    // A client that was known before is not locked out by a guesser at the same address, as long as the token holds.
    expect((await api.ask('GET', path, { token, headers: from('1') })).status).toBe(200);
    await revokeToken(api.store.postgres, token);
    expect((await api.ask('GET', path, { token, headers: from('1') })).status).toBe(401);
    expectTooMany(await api.ask('GET', path, { token, headers: from('3') }));
  });

  test('is one address, whatever port and spelling a proxy forwards it with', async () => {
    const { 'x-forwarded-for': address = '' } = aNetwork()('1');
    const spellings = [`[${address}]:50001`, `"[${address.toUpperCase()}]:50002"`, `203.0.113.9, ${address}%eth0`];
    const statuses = [];
    for (const each of spellings) {
      const headers = { 'x-forwarded-for': each };
      statuses.push((await api.ask('GET', path, { token: 'wbl_a', headers })).status);
    }
    expect(statuses).toEqual([401, 401, 429]);
  });

  test('leaves one count, however many tokens it guesses', async () => {
    const { url } = await borrowRedis();
    await using counted = await startApi({ beside: api, limits, redisUrl: url });
    await using redis = connectRedis({ url, timeoutMs: PATIENT_MS, log: silentLog });
    await until('both are connected', async () => (await redis.ping()) === 'PONG');
    for (let each = 0; each < 20; each += 1) await counted.ask('GET', path, { token: `wbl_${each}` });
    expect((await redis.keys('*')).filter((key) => key.startsWith('waybell:limit:'))).toHaveLength(1);
  });

  test('loses nothing by requests without a token, or without the right', async () => {
    const headers = aNetwork()('1');
    const { token } = await signUp(api, { interface: 'shipper' });
    for (let each = 0; each < 4; each += 1) expect((await api.ask('GET', path, { headers })).status).toBe(401);
    for (let each = 0; each < 3; each += 1) {
      expect((await api.ask('GET', '/v1/webhooks', { token, headers })).status).toBe(403);
    }
    expect((await api.ask('GET', path, { token: 'wbl_a', headers })).status).toBe(401);
  });

  test('is what the connection says where no proxy is trusted', async () => {
    await using open = await startApi({ beside: api, limits });
    await until('it has asked too much', async () => {
      const answer = await open.ask('GET', path, {
        token: `wbl_${randomBytes(8).toString('hex')}`,
        headers: aNetwork()('1'),
      });
      return answer.status === 429;
    });
  });
});
