import { validateHeaderName, validateHeaderValue } from 'node:http';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { readNetworks } from '@waybell/runtime/networks';
import type { Problem } from '../rest/http/problem.ts';
import { credentialsRequest, headerFaults, readCredentialsRequest } from './credential-rules.ts';
import { judging } from './serve-operations.ts';

const rules = {
  isHttpAllowed: false,
  networks: readNetworks([]),
  deniedPorts: new Set([6379]),
  resolve: async (host: string) => ({ 'login.test': ['93.184.215.14'], 'inside.test': ['10.0.0.1'] })[host],
};
const SECRET = 's3cret-p4ssw0rd';
const basic = { username: 'waybell', password: SECRET };
const oauth2 = { token_url: 'https://login.test/token', client_id: 'waybell', client_secret: SECRET };
const header = (name: string, value: unknown = SECRET) => ({ headers: { [name]: value } });

const judge = judging(credentialsRequest);
const read = async (body: unknown) => readCredentialsRequest(judge(body), { rules, nowMs: 0 });

/** Its faults, as `<pointer> <detail>`. */
async function faultsOf(body: unknown): Promise<string[]> {
  const refused = await read(body).then(
    () => undefined,
    (error: Problem) => error,
  );
  expect(refused?.kind).toBe('invalid-body');
  expect(refused?.message).not.toContain(SECRET);
  return (refused?.faults ?? []).map((fault) => ('pointer' in fault ? `${fault.pointer} ${fault.detail}` : ''));
}

describe('what is put in', () => {
  test('is read with what may be told of it', async () => {
    const headers = { 'X-Api-Key': SECRET, 'x-tenant': 'a b' };
    expect(await read({ headers, basic })).toEqual({
      credentials: { headers, basic },
      shown: { headers: ['X-Api-Key', 'x-tenant'], basic: { username: 'waybell' } },
    });
    const asked = { scope: 'a b:c', audience: 'us', secret_in: 'body' };
    const given = { ...oauth2, token_url: 'https://LOGIN.test:443/token?key=k3y', ...asked };
    expect(await read({ headers, oauth2: given })).toEqual({
      credentials: {
        headers,
        oauth2: {
          tokenUrl: 'https://login.test/token?key=k3y',
          clientId: 'waybell',
          clientSecret: SECRET,
          scope: 'a b:c',
          audience: 'us',
          secretIn: 'body',
        },
      },
      shown: {
        headers: ['X-Api-Key', 'x-tenant'],
        oauth2: { token_url: 'https://login.test/token?key=***', client_id: 'waybell', ...asked },
      },
    });
  });

  test.each<[what: string, body: object]>([
    ['a header Authorization by itself', header('Authorization', `Bearer ${SECRET}`)],
    ['a cookie', header('Cookie', 'a=b; c=d')],
    ['the longest value', header('x', 'a'.repeat(4_096))],
    ['a password without a username', { basic: { username: '', password: SECRET } }],
    ['a username without a password', { basic: { username: 'key', password: '' } }],
    ['a password of any language', { basic: { username: 'wäybell', password: 'пароль: 🔑' } }],
  ])('may be %s', async (_what, body) => {
    expect(await read(body)).toMatchObject({ credentials: body });
  });

  test('has the secret in a header where nothing else is said', async () => {
    expect(await read({ oauth2 })).toMatchObject({
      credentials: { oauth2: { secretIn: 'header' } },
      shown: { oauth2: { secret_in: 'header' } },
    });
  });

  test.each<[what: string, body: unknown, faults: string[]]>([
    ['nothing', {}, ['# must have at least one of: headers, basic, oauth2, certificate']],
    ['no object', [SECRET], ['# must be a JSON object']],
    [
      'another kind',
      { bearer: SECRET },
      ['#/bearer is not known here; known are: headers, basic, oauth2, certificate', '# must have at least one of'],
    ],
    ['a kind that is null', { basic: null }, ['#/basic must be a JSON object']],
    ['no header', { headers: {} }, ['#/headers has no header: give one, or leave it out']],
    ['headers in a list', { headers: [SECRET] }, ['#/headers must be a JSON object']],
    [
      'too many headers',
      { headers: Object.fromEntries(['a', 'b', 'c', 'd', 'e', 'f'].map((name) => [name, SECRET])) },
      ['#/headers has more than 5 headers: give fewer'],
    ],
    ['a header that is a number', header('x-key', 4711), ['#/headers/x-key must be a string']],
    ['an empty header', header('x-key', ''), ['#/headers/x-key is empty: give a value, or leave the header out']],
    ['a long header', header('x-key', SECRET.repeat(300)), ['#/headers/x-key is longer than 4096 characters']],
    ['a blank at the end', header('x-key', `${SECRET} `), ['#/headers/x-key begins or ends with a blank']],
    ['a line end', header('x-key', `${SECRET}\r\nx: y`), ['#/headers/x-key must be visible ASCII characters']],
    ['a tabulator', header('x-key', `${SECRET}\t1`), ['#/headers/x-key must be visible ASCII characters']],
    ['another alphabet', header('x-key', `${SECRET}ä`), ['#/headers/x-key must be visible ASCII characters']],
    ['a value for a name', header(`Bearer ${SECRET}`, 'Authorization'), ['#/headers has a name, number 1, that']],
    ['a value for a name of a number', header(`Bearer ${SECRET}`, 4711), ['#/headers has a name, number 1, that']],
    ['a name without a letter', header(''), ['#/headers has a name, number 1, that no header can have']],
    ['a long name', header('x'.repeat(101)), ['#/headers has a name, number 1, that no header can have']],
    [
      'a name twice',
      { headers: { 'X-Key': SECRET, 'x-key': SECRET } },
      ['#/headers/x-key is there twice: in capitals or not, it is the same header'],
    ],
    ['basic without its parts', { basic: {} }, ['#/basic/username is required', '#/basic/password is required']],
    ['nobody', { basic: { username: '', password: '' } }, ['#/basic has neither a username nor a password']],
    ['a colon', { basic: { ...basic, username: `a:${SECRET}` } }, ['#/basic/username must be a text of at most 1,024']],
    ['a bell', { basic: { ...basic, password: `${SECRET}\u0007` } }, ['#/basic/password must be a text of at most']],
    ['half a character', { basic: { ...basic, username: '\ud800' } }, ['#/basic/username holds half a character']],
    ['a long password', { basic: { ...basic, password: SECRET.repeat(100) } }, ['#/basic/password must be']],
    ['no client secret', { oauth2: { ...oauth2, client_secret: '' } }, ['#/oauth2/client_secret must be a text of 1']],
    ['no client', { oauth2: { ...oauth2, client_id: undefined } }, ['#/oauth2/client_id is required']],
    ['scopes in a list', { oauth2: { ...oauth2, scope: ['a'] } }, ['#/oauth2/scope must be scopes with one blank']],
    ['two blanks', { oauth2: { ...oauth2, scope: 'a  b' } }, ['#/oauth2/scope must be scopes with one blank']],
    ['quoted scopes', { oauth2: { ...oauth2, scope: '"a"' } }, ['#/oauth2/scope must be scopes with one blank']],
    [
      'another place',
      { oauth2: { ...oauth2, secret_in: 'query' } },
      ['#/oauth2/secret_in must be one of: header, body'],
    ],
    [
      'a token URL without TLS',
      { oauth2: { ...oauth2, token_url: `http://login.test/${SECRET}` } },
      ['#/oauth2/token_url is not https'],
    ],
    [
      'a token URL with a password',
      { oauth2: { ...oauth2, token_url: `https://a:${SECRET}@login.test/` } },
      ['#/oauth2/token_url contains a user name or password: remove it'],
    ],
    [
      'a token URL that leads inside',
      { oauth2: { ...oauth2, token_url: `https://inside.test/?${SECRET}` } },
      ['#/oauth2/token_url points to inside.test, which has no public address: callbacks go to public addresses only'],
    ],
    [
      'the address of metadata',
      { oauth2: { ...oauth2, token_url: 'https://169.254.169.254/' } },
      [
        '#/oauth2/token_url points to 169.254.169.254, which is private or reserved: callbacks go to public addresses only',
      ],
    ],
    ['two that authenticate', { basic, oauth2 }, ['#/oauth2 cannot be beside basic: give one of them']],
    [
      'a header beside basic',
      { basic, ...header('AUTHORIZATION') },
      ['#/headers/AUTHORIZATION is what basic would be sent as: give one of them'],
    ],
    [
      'a header beside oauth2',
      { oauth2, ...header('authorization') },
      ['#/headers/authorization is what oauth2 would be sent as: give one of them'],
    ],
    [
      'many things',
      { ...header('host'), basic: { ...basic, username: ':' }, certificate: { chain: SECRET } },
      ['#/certificate/key is required', '#/basic/username must be', '#/headers/host is a header that callbacks have'],
    ],
  ])('is refused as %s, and told why without a secret', async (_what, body, faults) => {
    const found = await faultsOf(body);
    expect(found).toHaveLength(faults.length);
    for (const fault of faults) expect(found).toContainEqual(expect.stringContaining(fault));
  });

  const OWN_NAMES = [
    'X-Service-Verification-Token webhook-id Webhook-Signature webhook-anything X-Webhook-Attempt User-Agent Host Date',
    'Content-Type content-length Content-Encoding traceparent tracestate Connection Keep-Alive Proxy-Authorization TE',
    'proxy-connection Trailer Transfer-Encoding Upgrade Expect Accept-Encoding __proto__',
  ];

  test.each(OWN_NAMES.flatMap((names) => names.split(' ')))('is no header %s', async (name) => {
    const body: unknown = JSON.parse(`{"headers": {"${name}": "${SECRET}"}}`);
    expect(await faultsOf(body)).toEqual([`#/headers/${name} ${OWN}`]);
  });
});

const OWN = 'is a header that callbacks have, or may not have: give another, or leave it out';

describe('headers', () => {
  const nearly = fc.oneof(
    fc.string(),
    fc.string({ unit: 'binary' }),
    fc.constantFrom('X-Api-Key', 'a b', 'é', ' a', '\r\n'),
  );

  test('that are taken can be sent as they are, whichever they are', () => {
    fc.assert(
      fc.property(fc.dictionary(nearly, nearly), (headers) => {
        if (headerFaults(headers).length > 0) return;
        for (const [name, value] of Object.entries(headers)) {
          validateHeaderName(name);
          validateHeaderValue(name, value);
          expect(new Headers({ [name]: value }).get(name)).toBe(value);
        }
      }),
    );
  });

  test('that are not taken are refused without their values', () => {
    fc.assert(
      fc.property(nearly, fc.string({ minLength: 20, unit: fc.constantFrom('§', '\n', 'ß') }), (name, value) => {
        const faults = headerFaults({ [name]: value });
        expect(faults).toHaveLength(1);
        expect(JSON.stringify(faults)).not.toContain(JSON.stringify(value).slice(1, -1));
      }),
    );
  });
});
