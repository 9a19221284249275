import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { ClientCredentials } from '@waybell/notifications/receiver-credentials';
import { readNetworks } from '@waybell/runtime/networks';
import { until } from '@waybell/runtime/testing/until';
import { TurnedClock } from '@waybell/runtime/turned-clock';
import type { EndpointOptions } from '../request/call-endpoint.ts';
import { aSelfSignedCertificate } from '@waybell/runtime/testing/certificate';
import {
  httpServer,
  NOBODY_PORT,
  sayingServer,
  tcpServer,
  tlsServer,
  type TestServer,
} from '@waybell/runtime/testing/server';
import { openedByEach } from '@waybell/runtime/testing/shared';
import { fetchingTokens } from './access-tokens.ts';
import { openCaller } from '../testing/caller.ts';

const SECRET = 'of: hush+of/us&more%';
const TOKEN = 'token-of-the-issuer.4711';
const CREDENTIALS: Omit<ClientCredentials, 'tokenUrl'> = {
  clientId: 'us:two',
  clientSecret: SECRET,
  secretIn: 'header',
};

const opened = openedByEach();
const serve = (starting: Promise<TestServer>) => opened.use(starting);

function fetching(what: Partial<EndpointOptions> = {}) {
  const caller = openCaller({ keepAliveMs: 15_000, userAgent: 'Waybell/1.2.3', ...what });
  opened.push(caller);
  const fetch = fetchingTokens(caller.callTokenUrl);
  return (tokenUrl: string, how: Partial<ClientCredentials> = {}) =>
    fetch({ guid: '', callbackUrl: '', oauth2: { ...CREDENTIALS, ...how, tokenUrl } });
}

type Asked = { headers: IncomingHttpHeaders; body: string };

/** A token endpoint that answers so, and what it was asked. */
async function aTokenUrl(answer: (response: ServerResponse, asked: Asked) => void) {
  const asked: Asked[] = [];
  const server = await serve(
    httpServer(async (request, response) => {
      const one = { headers: request.headers, body: await text(request) };
      asked.push(one);
      answer(response, one);
    }),
  );
  return { url: `${server.url}/token`, asked };
}

const saying = (body: unknown, status = 200, headers: Record<string, string> = {}) =>
  aTokenUrl((response) =>
    response.writeHead(status, headers).end(typeof body === 'string' ? body : JSON.stringify(body)),
  );

const bearer = { access_token: TOKEN, token_type: 'Bearer' };

describe('a token', () => {
  test('is asked for with the secret in a header, encoded as RFC 6749 says', async () => {
    const { url, asked } = await saying({ ...bearer, expires_in: 60 });
    expect(await fetching()(url)).toEqual({ kind: 'issued', token: TOKEN, lifeMs: 60_000 });
    const [{ headers, body } = { headers: {}, body: '' }] = asked;
    const [name, secret] = atob(headers.authorization?.slice('Basic '.length) ?? '').split(':');
    expect([name, secret].map((each = '') => new URLSearchParams(`v=${each}`).get('v'))).toEqual(['us:two', SECRET]);
    expect(headers).toMatchObject({ 'user-agent': 'Waybell/1.2.3', accept: 'application/json' });
    expect(headers['content-type']).toMatch(/^application\/x-www-form-urlencoded/);
    expect(body).toBe('grant_type=client_credentials');
  });

  test('is asked for with the secret in the body, a scope and an audience', async () => {
    const { url, asked } = await saying(bearer);
    await fetching()(url, { secretIn: 'body', scope: 'read write', audience: 'urn:them' });
    expect(asked[0]?.headers).not.toHaveProperty('authorization');
    expect(Object.fromEntries(new URLSearchParams(asked[0]?.body))).toEqual({
      grant_type: 'client_credentials',
      client_id: 'us:two',
      client_secret: SECRET,
      scope: 'read write',
      audience: 'urn:them',
    });
  });

  test.each([
    ['https://hooks.example:8443/token', true],
    ['https://hooks.example/token', false],
    ['https://tokens.example:8443/token', false],
  ])('is asked for at %s with the certificate that is for the host of the callbacks: %s', async (url, isShown) => {
    const certificate = { guid: 'one', chain: 'of certificates', key: 'of them' };
    const need = { guid: 'one', callbackUrl: 'https://hooks.example:8443/hook', certificate };
    const shown: unknown[] = [];
    const fetch = fetchingTokens(async (request) => {
      shown.push(request.certificate);
      return { result: { isDelivered: false, reason: 'dns', durationMs: 0 }, body: '' };
    });
    await fetch({ ...need, oauth2: { ...CREDENTIALS, tokenUrl: url } });
    expect(shown).toEqual([isShown ? certificate : undefined]);
  });

  const long = 'x'.repeat(20_000);
  test.each<[string, object, string, number]>([
    ['in lower case', { ...bearer, token_type: 'bearer', expires_in: 1 }, TOKEN, 1_000],
    ['with its life as a text', { ...bearer, expires_in: '90' }, TOKEN, 90_000],
    ['with no life, for some minutes', bearer, TOKEN, 300_000],
    ['with an absurd life, for a day', { ...bearer, expires_in: 1e300 }, TOKEN, 86_400_000],
    ...[0, -1, 'soon', '2026-12-01T00:00:00Z', null, {}].map<[string, object, string, number]>((life) => [
      `with a life that is none (${JSON.stringify(life)}), for some minutes`,
      { ...bearer, expires_in: life },
      TOKEN,
      300_000,
    ]),
    ...[undefined, null, '', 'BEARER', 'BearerToken', 'Bearer Token', ' bearer '].map<[string, object, string, number]>(
      (type) => [`with the type ${JSON.stringify(type)}`, { access_token: TOKEN, token_type: type }, TOKEN, 300_000],
    ),
    ['with a blank after it', { access_token: `${TOKEN}\n` }, TOKEN, 300_000],
    [
      'beside members that are not used, whatever they are',
      { ...bearer, refresh_token: null, scope: null, id_token: null, error: null, extra: { a: 1 }, issued_at: 'x' },
      TOKEN,
      300_000,
    ],
    ['of 20 KB', { ...bearer, access_token: long, expires_in: 1 }, long, 1_000],
  ])('is taken %s', async (_, body, token, lifeMs) => {
    const { url } = await saying(body, 200, { 'content-type': 'text/html' });
    expect(await fetching()(url)).toEqual({ kind: 'issued', token, lifeMs });
  });

  test('is taken after a byte order mark', async () => {
    const { url } = await saying(`\ufeff${JSON.stringify(bearer)}`);
    expect(await fetching()(url)).toMatchObject({ kind: 'issued', token: TOKEN });
  });

  test.each([
    [401, ''],
    [400, '{"error":"invalid_client"}'],
  ])('is asked for once more, with the pair as written, where the server answers %s %s', async (status, body) => {
    const plain = `${CREDENTIALS.clientId}:${SECRET}`;
    const { url, asked } = await aTokenUrl((response, { headers }) => {
      const isKnown = atob(headers.authorization?.slice('Basic '.length) ?? '') === plain;
      response.writeHead(isKnown ? 200 : status).end(isKnown ? JSON.stringify(bearer) : body);
    });
    const fetch = fetching();
    expect(await fetch(url)).toMatchObject({ kind: 'issued', token: TOKEN });
    expect(asked).toHaveLength(2);
    // It is remembered.
    expect(await fetch(url)).toMatchObject({ kind: 'issued', token: TOKEN });
    expect(asked).toHaveLength(3);
    expect(await fetch(url, { clientSecret: 'other' })).toMatchObject({ kind: 'refused' });
  });

  test('is asked for once where both forms of the pair are the same', async () => {
    const { url, asked } = await saying('{"error":"invalid_client"}', 401);
    const fetched = await fetching()(url, { clientId: '3f6b1c2e-8b5e', clientSecret: 's-e_c.r' });
    expect(asked).toHaveLength(1);
    expect(atob(asked[0]?.headers.authorization?.slice('Basic '.length) ?? '')).toBe('3f6b1c2e-8b5e:s-e_c.r');
    expect(JSON.stringify(fetched)).toContain(String.raw`in the body: \"secret_in\": \"body\"`);
  });

  test('is taken with another status of success', async () => {
    const { url } = await saying({ ...bearer, expires_in: 1 }, 201);
    expect(await fetching()(url)).toMatchObject({ kind: 'issued' });
  });
});

describe('an answer without a token that can be used', () => {
  const unusable = (what: object) => JSON.stringify({ ...bearer, ...what });
  test.each<[string, string, string]>([
    ['HTML', '<html>Sign in</html>', 'JSON'],
    ['nothing', '', 'JSON'],
    ['a list', `["${TOKEN}"]`, 'object'],
    ['no token', '{"token_type":"Bearer"}', 'access_token'],
    ['an empty token', unusable({ access_token: '' }), 'access_token'],
    ['a token of another type', unusable({ access_token: 7 }), 'access_token'],
    ['a token that breaks the header', unusable({ access_token: `${TOKEN}\r\nX-Own: 1` }), 'access_token'],
    ['a token with what no header has', unusable({ access_token: `${TOKEN}\u20ac` }), 'access_token'],
    ['a blank token', unusable({ access_token: ' ' }), 'access_token'],
    ['an error beside a status of success', '{"error":"unauthorized_client"}', 'unauthorized_client'],
    ['a type of before', unusable({ token_type: 'mac' }), String.raw`\"token_type\" is \"mac\"`],
    ['a type that needs a proof', unusable({ token_type: 'DPoP' }), 'DPoP'],
    ['a type that is no text', unusable({ token_type: 7 }), String.raw`\"token_type\" is 7`],
    ['a body that is too large', unusable({ more: 'x'.repeat(100_000) }), 'JSON'],
    ['a body that is compressed though that was not asked for', gzipSync(unusable({})).toString('latin1'), 'JSON'],
  ])('says what is wrong with it, and nothing of it: %s', async (_, body, why) => {
    const { url } = await saying(body);
    const fetched = await fetching()(`${url}?key=of-the-query`);
    expect(fetched).toMatchObject({
      kind: 'unusable',
      failure: { isDelivered: false, reason: 'credentials_unavailable' },
    });
    const shown = JSON.stringify(fetched);
    expect(shown).toContain(`The token URL ${url}?key=*** answered 200, which cannot be used: `);
    expect(shown).toContain(why);
    expect(shown).not.toContain(TOKEN.slice(0, 8));
    expect(shown).not.toContain('of-the-query');
    expect(fetched).not.toHaveProperty('failure.url');
    expect(fetched).not.toHaveProperty('failure.status');
  });

  test('ends when its body does not', async () => {
    const clock = new TurnedClock();
    const { url } = await aTokenUrl((response) => response.writeHead(200).write('{"access_token":"'));
    const fetched = fetching({ clock })(url);
    await until('the body is waited for', () => clock.nextAt() === 2_000);
    clock.step();
    expect(await fetched).toMatchObject({ kind: 'unusable' });
  });
});

describe('a token URL that refuses', () => {
  test('is quoted, without secrets however they are written', async () => {
    const { url } = await aTokenUrl((response, { headers, body }) => {
      const pair = headers.authorization?.slice('Basic '.length) ?? '';
      const said = `${JSON.stringify({ access_token: TOKEN })} <access_token>${TOKEN}</access_token>`;
      const echo = {
        pair,
        decoded: atob(pair),
        body,
        secret: SECRET,
        form: encodeURIComponent(SECRET),
        plus: SECRET.replaceAll(' ', '+'),
      };
      response
        .writeHead(401)
        .end(JSON.stringify({ error: 'invalid_client', echo, access_token: TOKEN, id_token: `id.${TOKEN}`, said }));
    });
    for (const secretIn of ['header', 'body'] as const) {
      const fetched = await fetching()(url, { secretIn });
      expect(fetched).toMatchObject({ kind: 'refused', failure: { reason: 'credentials_unavailable' } });
      // They are not the receiver's.
      expect(fetched).not.toHaveProperty('failure.url');
      expect(fetched).not.toHaveProperty('failure.ip');
      const { failure: { body = '' } = {} } = fetched.kind === 'issued' ? {} : fetched;
      expect(body).toContain(`The token URL ${url} answered 401: {"error":"invalid_client"`);
      expect(body).not.toContain('hush');
      // The port of the URL may have these digits, too.
      expect(body.replace(url, '')).not.toContain('4711');
      expect(body).not.toContain(btoa('us%3Atwo:').slice(0, 8));
      expect(fetched).not.toHaveProperty('failure.status');
      expect(fetched).not.toHaveProperty('failure.isHung');
    }
  });

  test('by a status that ends a subscription, or says when to come again, has the latter alone', async () => {
    const { url: gone } = await saying('', 410);
    expect(await fetching()(gone)).toMatchObject({ failure: { body: `The token URL ${gone} answered 410` } });
    const { url } = await saying('', 429, { 'retry-after': '7' });
    expect(await fetching()(url)).toMatchObject({ failure: { tooMuch: { askedMs: 7_000 } } });
  });

  test('is shown up to 4 KiB', async () => {
    const { url } = await saying('ä'.repeat(10_000), 500);
    const fetched = await fetching()(url);
    if (fetched.kind === 'issued') throw new Error('there is no token');
    expect(Buffer.byteLength(fetched.failure.body ?? '')).toBeGreaterThan(4_000);
    expect(Buffer.byteLength(fetched.failure.body ?? '')).toBeLessThanOrEqual(4_096);
  });

  test('by a redirect is not followed', async () => {
    let arrived = 0;
    const inside = await serve(httpServer((_, response) => response.end(String((arrived += 1)))));
    for (const status of [301, 302, 303, 307, 308]) {
      const { url } = await saying('', status, { location: inside.url });
      expect(await fetching()(url)).toMatchObject({
        kind: 'refused',
        failure: { body: `The token URL ${url} answered ${status}` },
      });
    }
    expect(arrived).toBe(0);
  });

  test('shows neither secret nor token, wherever they are in its answer', async () => {
    let said = '';
    const { url } = await aTokenUrl((response) => response.writeHead(400).end(said));
    const fetch = fetching();
    const noise = fc.string({ unit: fc.constantFrom('"', '{', ' ', '=', '&', 'a', '%', '\\', 'é', 'token') });
    const written = fc.constantFrom(
      SECRET,
      JSON.stringify(SECRET),
      encodeURIComponent(SECRET),
      new URLSearchParams({ client_secret: SECRET }).toString(),
      SECRET.replaceAll('&', '&amp;'),
      `"access_token":"${TOKEN}"`,
      `'access_token' : '${TOKEN}'`,
      `refresh_token=${TOKEN}&`,
      `id_token: ${TOKEN},`,
    );
    await fc.assert(
      fc.asyncProperty(noise, written, noise, async (...parts) => {
        said = parts.join(' ');
        const shown = JSON.stringify(await fetch(url));
        expect(shown).toContain('***');
        expect(shown).not.toContain('hush');
        expect(shown).not.toContain('4711');
      }),
      { numRuns: 200 },
    );
  });
});

describe('a token URL without an answer', () => {
  test('that hangs is given up, and slows its endpoint down', async () => {
    const clock = new TurnedClock();
    const server = await serve(tcpServer(() => undefined));
    const fetched = fetching({ clock })(server.url);
    await until('it is connected to', () => server.connections() === 1);
    await clock.runFor(10_000);
    expect(await fetched).toMatchObject({
      kind: 'unanswered',
      failure: { reason: 'credentials_unavailable', isHung: true, durationMs: 10_000 },
    });
  });

  test.each<[string, () => Promise<string>, string]>([
    [
      'closes',
      async () => (await serve(tcpServer((socket) => socket.once('data', () => socket.destroy())))).url,
      'reset',
    ],
    ['says nonsense', async () => (await serve(sayingServer('220 mail ready\r\n'))).url, 'begin with HTTP/'],
    ['is not there', async () => `http://localhost:${NOBODY_PORT}`, 'connect_refused'],
    [
      'nobody vouches for',
      async () => (await serve(tlsServer(aSelfSignedCertificate({ name: 'localhost' }), () => undefined))).url,
      'tls_untrusted',
    ],
  ])('is named with why: it %s', async (_, start, why) => {
    const fetched = await fetching()(await start());
    expect(fetched).toMatchObject({ kind: 'unanswered', failure: { body: expect.stringContaining(why) } });
    expect(fetched).not.toHaveProperty('failure.isHung');
  });

  test('as its name leads inside is never connected to', async () => {
    const server = await serve(httpServer((_, response) => response.end(JSON.stringify(bearer))));
    const resolveHost = async () => [{ address: '127.0.0.1', family: 4 }];
    const fetch = fetching({ networks: readNetworks([]), resolveHost });
    for (const host of ['token.example', '127.0.0.1', '[::ffff:127.0.0.1]', '2130706433']) {
      expect(await fetch(`http://${host}:${server.port}/token`)).toMatchObject({
        kind: 'unanswered',
        failure: { body: expect.stringContaining('blocked_address') },
      });
    }
    expect(server.connections()).toBe(0);
  });
});
