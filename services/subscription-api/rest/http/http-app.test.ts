import { describe, expect, test } from '@jest/globals';
import { apiUrlOf, clientBy, loggedPath } from './http-app.ts';

const PROXY = '10.0.0.1';

/** Returns the client address that a service which trusts these networks finds for a request from there with these headers. */
function located(forwarded: string[], { from = PROXY, trusted = ['10.0.0.0/8', 'fd00::/8'] } = {}) {
  const headersDistinct = forwarded.length === 0 ? {} : { 'x-forwarded-for': forwarded };
  return clientBy(trusted)({ headersDistinct, socket: { remoteAddress: from } }).address;
}

describe('the address of a client', () => {
  test.each<[forwarded: string[], address: string]>([
    [['192.0.2.1:51234'], '192.0.2.1'],
    [['"[2001:db8::1]:51234"'], '2001:db8::1'],
    [['192.0.2.1:51234, 10.0.0.7:443'], '192.0.2.1'],
    [['192.0.2.1:51234, [::ffff:10.0.0.7]:443, [fd00::7]:443'], '192.0.2.1'],
    [['192.0.2.1:51234', '10.0.0.7:443'], '192.0.2.1'],
    [['192.0.2.1,, 10.0.0.7 ,'], '192.0.2.1'],
    [['10.0.0.9:1,10.0.0.7:1'], '10.0.0.9'],
  ])('behind proxies that forward %j is %s', (forwarded, address) => {
    expect(located(forwarded)).toBe(address);
    expect(located(forwarded, { from: `::ffff:${PROXY}` })).toBe(address);
  });

  test('is the nearest that no proxy of ours has, whatever a client wrote before it', () => {
    expect(located(['203.0.113.9, 192.0.2.1:51234, 10.0.0.7'])).toBe('192.0.2.1');
  });

  test.each<[forwarded: string[], address: string]>([
    [[], PROXY],
    [['unknown'], PROXY],
    [['203.0.113.9, unknown'], PROXY],
    [['203.0.113.9, _hidden:1, 10.0.0.7:443'], '10.0.0.7'],
    [['', ' , '], PROXY],
  ])('is that of the nearest proxy where %j names none', (forwarded, address) => {
    expect(located(forwarded)).toBe(address);
  });

  test('is that of the connection where that is no proxy', () => {
    expect(located(['203.0.113.9'], { from: '192.0.2.1' })).toBe('192.0.2.1');
    expect(located(['203.0.113.9'], { from: '::ffff:192.0.2.1' })).toBe('192.0.2.1');
    expect(located(['203.0.113.9'], { trusted: [] })).toBe(PROXY);
  });
});

describe('the URL of the API', () => {
  const urlOf = (headers: Record<string, string>, proxies = 0) =>
    apiUrlOf(
      { headersDistinct: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value]])) },
      proxies,
    );

  test.each([
    ['api.example.com', 'http://api.example.com'],
    ['API.example.com:80', 'http://api.example.com'],
    ['localhost:3000', 'http://localhost:3000'],
    ['[::1]:3000', 'http://[::1]:3000'],
    ['waybell_api', 'http://waybell_api'],
  ])('is by the Host %s: %s', (host, url) => {
    expect(urlOf({ host })).toBe(url);
  });

  const forwarded = {
    host: 'internal:3000',
    'x-forwarded-proto': 'https',
    'x-forwarded-host': 'api.example.com',
    'x-forwarded-prefix': '/waybell/',
  };

  test('is what proxies of ours say, and of no others', () => {
    expect(urlOf(forwarded, 1)).toBe('https://api.example.com/waybell');
    expect(urlOf(forwarded, 2)).toBe('https://api.example.com/waybell');
    expect(urlOf(forwarded)).toBe('http://internal:3000');
  });

  test.each([
    ['http, https, http', 2, 'https:'],
    ['http, https', 1, 'https:'],
    ['https,, http ,', 2, 'https:'],
    [' , ', 1, 'http:'],
  ])('begins as the outermost of our proxies says, of %j from %i', (scheme, proxies, expected) => {
    expect(new URL(urlOf({ ...forwarded, 'x-forwarded-proto': scheme }, proxies) ?? '').protocol).toBe(expected);
  });

  test.each([
    '',
    '<script>',
    'a"b',
    "a'b",
    'a b',
    'a/b',
    'u@a',
    'a?b',
    'a#b',
    'a:b',
    'a:99999',
    '1.2.3.999',
    '[',
    'a'.repeat(10_000),
  ])('is not known by the Host %j', (host) => {
    expect(urlOf({ host })).toBeUndefined();
    expect(urlOf({ ...forwarded, 'x-forwarded-host': host || '"' }, 1)).toBeUndefined();
  });

  test.each([
    ['x-forwarded-proto', 'javascript'],
    ['x-forwarded-proto', 'https://evil.example.com/?'],
    ['x-forwarded-prefix', '//evil.example.com'],
    ['x-forwarded-prefix', '/a"b'],
    ['x-forwarded-prefix', 'a'],
    ['x-forwarded-prefix', '/'.repeat(10_000)],
  ])('is not known by %s: %j', (name, value) => {
    expect(urlOf({ ...forwarded, [name]: value }, 1)).toBeUndefined();
  });
});

test.each([
  '/v1/credentials',
  '/v1/credentials/hooks.test',
  '/v1/credentials/hooks.test:8443/',
  '/v1/credentials/m%C3%BCnchen.example%3A8443',
  '/v1/subscriptions/..%2f..%2fadmin',
])('the log has %s as it is', (path) => {
  expect(loggedPath(path)).toBe(path);
});

test.each([
  ['/v1/admin/tokens/wbl_s3cret', '/v1/admin/tokens/wbl_***'],
  ['/console/%23link=wbk_s3cret-_', '/console/%23link=wbk_***'],
  ['/v1/credentials/wbl_s3cret', '/v1/credentials/wbl_***'],
  ['/v1/credentials/https%3A%2F%2Fu%3As3cret%40hooks.test', '/v1/credentials/***'],
  ['/v1/credentials/https%3a%2f%2fhooks.test%2fs3cret', '/v1/credentials/***'],
  ['/v1/credentials/https://u:s3cret@hooks.test/', '/v1/credentials/***'],
  ['/v1/credentials/https://hooks.test/s3cret/', '/v1/credentials/***'],
  ['/v1/credentials/u:s3cret@hooks.test', '/v1/credentials/***'],
  ['/v1/credentials/hooks.test%3Fkey=s3cret', '/v1/credentials/***'],
  ['/v1/credentials/hooks.test%23s3cret', '/v1/credentials/***'],
  ['/v1/credentials/hooks.test/s3cret', '/v1/credentials/***'],
  ['//v1//credentials/hooks.test/s3cret', '//v1//credentials/***'],
])('the log has %s as %s', (path, logged) => {
  expect(loggedPath(path)).toBe(logged);
});
