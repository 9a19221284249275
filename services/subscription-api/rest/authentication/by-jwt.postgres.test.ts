import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { exportSPKI, importJWK, UnsecuredJWT } from 'jose';
import { until } from '@waybell/runtime/testing/until';
import { wallClockMs } from '@waybell/runtime/testing/wall-clock';
import { shared } from '@waybell/runtime/testing/shared';
import { createAccount, updateAccount } from '../../accounts.ts';
import { closeAccount, openAccount } from '../../close-account.ts';
import { signUp, startApi } from '../../testing/api.ts';
import { aKey, signed, startIssuer, type IssuedKey, type Issuer, someClaims } from '../../testing/issuer.ts';
import type { JwtRules } from './by-jwt.ts';

const path = '/v1/public/webhooks';
const nowS = Math.floor(wallClockMs() / 1_000);

const issuer = shared(() => startIssuer());
const api = shared(() => startApi({ jwt: rulesOf(issuer) }));
let keys: { ec: IssuedKey; rsa: IssuedKey; foreign: IssuedKey; unlisted: IssuedKey };

beforeAll(async () => {
  const [ec, rsa, foreign] = [await aKey('ec'), await aKey('rsa', 'RS256'), await aKey('ec')];
  const unlisted = await aKey('es512', 'ES512');
  keys = { ec, rsa, foreign, unlisted };
  issuer.show([ec, rsa, unlisted]);
  // Fetching its keys has a limit of a few seconds: from here on they are known.
  const token = await signed(ec, ourClaims());
  await until('the keys of the issuer are known', async () => (await ask(token)).status === 200);
});

function rulesOf({ jwksUrl }: Issuer): JwtRules {
  return {
    issuer: 'https://issuer.test/',
    audience: 'waybell',
    jwksUrl,
    algorithms: ['RS256', 'ES256'],
    // Within it by 29 s, beyond it by 30 s: tests come near it no more than that.
    leewayMs: 30_000,
    defaultScopes: [],
    claims: { account: 'https://platform.test/account', client: 'client_id', interface: 'side' },
  };
}

const ourClaims = (more: Record<string, unknown> = {}) =>
  someClaims({
    'https://platform.test/account': randomUUID(),
    side: 'shipper',
    scope: 'openid webhooks:read webhooks:write',
    ...more,
  });

const ask = (token: string, more: Partial<{ method: string; path: string; body: unknown }> = {}) =>
  api.ask(more.method ?? 'GET', more.path ?? path, { token, body: more.body });

describe('a JWT', () => {
  test.each(['ec', 'rsa'] as const)('by a key of its issuer (%s) is an access token', async (name) => {
    expect((await ask(await signed(keys[name], ourClaims()))).status).toBe(200);
  });

  test('is for several audiences, or typed in full, and still one', async () => {
    expect((await ask(await signed(keys.ec, ourClaims({ aud: ['other', 'waybell'] })))).status).toBe(200);
    expect((await ask(await signed(keys.ec, ourClaims(), { typ: 'application/at+jwt' }))).status).toBe(200);
  });

  const bad: [what: string, claims: Record<string, unknown>, detail: RegExp][] = [
    ['of another issuer', { iss: 'https://issuer.test' }, /claim iss /],
    ['for another audience', { aud: 'waybell2' }, /claim aud /],
    ['for no audience', { aud: undefined }, /claim aud /],
    ['that expired before the leeway', { exp: nowS - 60 }, /expired/],
    ['that never expires', { exp: undefined }, /claim exp /],
    ['that is not valid yet', { nbf: nowS + 3_600 }, /claim nbf /],
    ['without a subject', { sub: undefined }, /claim sub /],
    ['without an id', { jti: undefined }, /claim jti /],
    ['with an id that is no text', { jti: { a: 1 } }, /claim jti /],
    ['with a subject of two lines', { sub: 'one\ntwo' }, /claim sub /],
    ['with a subject that Postgres cannot hold', { sub: 'a\0b' }, /claim sub /],
    ['with a subject that turns what follows', { sub: 'a\u202eb' }, /claim sub /],
    ['with a subject that is no text', { sub: { a: 1 } }, /claim (sub|iss) /],
    ['with no subject to speak of', { sub: '' }, /claim sub /],
    ['with too long a subject', { sub: 'a'.repeat(256) }, /claim sub /],
    ['that was issued in the future', { iat: nowS + 60 }, /claim iat /],
    ['that expires after all time', { exp: 1e300 }, /claim exp /],
    ['without a client', { client_id: undefined }, /claim client_id /],
    ['with a client that is no name', { client_id: 'a b' }, /claim client_id /],
    ['with a client that is no text', { client_id: 7 }, /claim client_id /],
    ['without an account', { 'https://platform.test/account': undefined }, /claim https:..platform.test.account /],
    ['with an account that is no guid', { 'https://platform.test/account': '1' }, /claim https:..platform/],
    ['of no interface', { side: 'broker' }, /claim side /],
  ];
  test.each(bad)('%s answers 401 and says so', async (_what, claims, detail) => {
    const answer = await ask(await signed(keys.ec, ourClaims(claims)));
    expect([answer.status, answer.body.detail]).toEqual([401, expect.stringMatching(detail)]);
    expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer realm="waybell", error="invalid_token", /);
  });

  test('may be as late as the leeway', async () => {
    const justNowS = Math.floor(wallClockMs() / 1_000);
    expect((await ask(await signed(keys.ec, ourClaims({ exp: justNowS - 1, nbf: justNowS + 1 })))).status).toBe(200);
  });

  test('that is forged in any known way answers 401', async () => {
    const publicKey = new TextEncoder().encode(await exportSPKI((await importJWK(keys.rsa.shown)) as CryptoKey));
    const good = await signed(keys.ec, ourClaims());
    const [head = '', body = '', signature = ''] = good.split('.');
    const other = Buffer.from(JSON.stringify(ourClaims({ sub: 'admin' }))).toString('base64url');
    const forged: Record<string, string> = {
      'signed by a stranger under a known name': await signed(keys.foreign, ourClaims()),
      'signed by nobody': new UnsecuredJWT(ourClaims()).encode(),
      'signed with the public key as a secret': await signed(
        { kid: 'rsa', alg: 'HS256', privateKey: publicKey },
        ourClaims(),
      ),
      'by an algorithm not listed': await signed(keys.unlisted, ourClaims()),
      'that brings its own key': await signed(keys.foreign, ourClaims(), { kid: 'mine', jwk: keys.foreign.shown }),
      'of another type': await signed(keys.ec, ourClaims(), { typ: 'JWT' }),
      'of no type': await signed(keys.ec, ourClaims(), { typ: undefined }),
      'with other claims under the signature': [head, other, signature].join('.'),
      'without its signature': `${head}.${body}.`,
      'cut short': good.slice(0, -4),
    };
    for (const [what, token] of Object.entries(forged)) expect([what, (await ask(token)).status]).toEqual([what, 401]);
    expect((await ask(good)).status).toBe(200);
  });

  test('creates its account when it is the first, without any feature', async () => {
    const guid = randomUUID();
    const claims = ourClaims({ 'https://platform.test/account': guid.toUpperCase() });
    const tokens = await Promise.all([1, 2, 3].map(() => signed(keys.ec, claims)));
    const answers = await Promise.all(tokens.map((token) => ask(token)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    const { rows } = await api.store.postgres.query(
      'select interface, features from waybell.accounts where guid = $1',
      [guid],
    );
    expect(rows).toEqual([{ interface: 'shipper', features: [] }]);
    await updateAccount(api.store.postgres, { guid, addFeatures: ['insurance'] });
    const { text } = await ask(tokens[0] ?? '', { path: `${path}/action_types` });
    expect(text).toContain('insurance.issued');
  });

  test('creates nothing when it does not hold', async () => {
    const guid = randomUUID();
    await ask(await signed(keys.foreign, ourClaims({ 'https://platform.test/account': guid })));
    const { rows } = await api.store.postgres.query('select from waybell.accounts where guid = $1', [guid]);
    expect(rows).toEqual([]);
  });

  test('of the other interface than its account answers 401', async () => {
    const { guid } = await createAccount(api.store.postgres, { interface: 'carrier' });
    const answer = await ask(await signed(keys.ec, ourClaims({ 'https://platform.test/account': guid })));
    expect(answer.status).toBe(401);
  });

  test('may do what its scopes say, and nothing where it has none', async () => {
    const subscribe = {
      method: 'POST',
      path: `${path}/order.paid/subscribe`,
      body: { callback_url: 'https://a.test/' },
    };
    const may = async (claims: Record<string, unknown>) => {
      const token = await signed(keys.ec, ourClaims({ scope: undefined, ...claims }));
      return [(await ask(token)).status, (await ask(token, subscribe)).status];
    };
    expect(await may({ scope: 'webhooks:read' })).toEqual([200, 403]);
    expect(await may({ scp: ['webhooks:write', 'profile'] })).toEqual([403, 200]);
    expect(await may({ scope: 'openid' })).toEqual([403, 403]);
    expect(await may({ scope: 7 })).toEqual([401, 401]);
  });

  test('without any claim that has scopes is told so, unless a setting gives it some', async () => {
    const token = await signed(keys.ec, ourClaims({ scope: undefined }));
    const lacking = await ask(token);
    expect([lacking.status, lacking.body.detail]).toEqual([
      403,
      'This needs the scope webhooks:read; the access token has none: it has no claim scope, scp, permissions or roles.',
    ]);
    await using lenient = await startApi({
      beside: api,
      jwt: { ...rulesOf(issuer), defaultScopes: ['webhooks:read'] },
    });
    await until('the keys are known', async () => (await lenient.ask('GET', path, { token })).status === 200);
    expect((await lenient.ask('POST', '/v1/signing-secrets/rotate', { token })).status).toBe(403);
  });

  test("is no token on the operators' interface, whatever its scopes", async () => {
    const token = await signed(keys.ec, ourClaims({ scope: 'admin webhooks:read' }));
    expect((await ask(token)).status).toBe(200);
    expect((await api.admin.ask('GET', '/v1/admin/accounts', { token })).status).toBe(401);
  });

  test('and an opaque token of the same client see the same subscriptions', async () => {
    const { guid, token } = await signUp(api, { interface: 'shipper', clientId: 'tms' });
    await ask(token, {
      method: 'POST',
      path: `${path}/order.paid/subscribe`,
      body: { callback_url: 'https://a.test/' },
    });
    const { body } = await ask(await signed(keys.ec, ourClaims({ 'https://platform.test/account': guid })));
    expect(body.data.objects).toMatchObject([{ action: 'order.paid' }]);
  });

  test('is asked again later with 503 while the keys of its issuer cannot be had; opaque tokens go on', async () => {
    await using broken = await startIssuer();
    broken.show(null);
    await using alone = await startApi({ beside: api, jwt: rulesOf(broken) });
    const { token } = await signUp(alone, { interface: 'shipper' });
    const answer = await alone.ask('GET', path, { token: await signed(keys.ec, ourClaims()) });
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, expect.any(String)]);
    expect((await alone.ask('GET', path, { token })).status).toBe(200);
  });
});

test('a JWT of a closed account is refused until the account is open again', async () => {
  const { guid } = await createAccount(api.store.postgres, { interface: 'shipper' });
  const token = await signed(keys.ec, ourClaims({ 'https://platform.test/account': guid }));
  expect((await ask(token)).status).toBe(200);
  await closeAccount(api.store.postgres, { account: guid, isDry: false });
  const refused = await ask(token);
  expect([refused.status, refused.body.detail]).toEqual([401, 'The account of the access token is closed.']);
  await openAccount(api.store.postgres, guid);
  expect((await ask(token)).status).toBe(200);
});
