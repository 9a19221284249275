import { describe, expect, test } from '@jest/globals';
import { readPorts } from '@waybell/runtime/callback-ports';
import { readNetworks } from '@waybell/runtime/forbidden-address';
import { findCallbackUrlFault, resolveWithin } from './callback-url.ts';

const known: Record<string, string[]> = {
  'hooks.example.com': ['93.184.215.14'],
  'inside.example.com': ['10.0.0.1', 'fd00::1'],
  'mixed.example.com': ['10.0.0.1', '93.184.215.14'],
};
const rules = {
  isHttpAllowed: false,
  networks: readNetworks([]),
  deniedPorts: readPorts(['6379', '1-79']),
  resolve: async (host: string) => known[host] ?? [],
};

describe('findCallbackUrlFault', () => {
  test.each([
    'https://hooks.example.com',
    'https://hooks.example.com:8443/a/b?c=d@e',
    'HTTPS://HOOKS.example.com/%20',
    'https://mixed.example.com/',
    'https://not-there-yet.example.com/',
    'https://93.184.215.14/',
    'https://[2606:2800:21f:cb07:6820:80da:af6b:8b2c]/',
    'https://bücher.example/ä',
    `https://hooks.example.com/${'a'.repeat(2_048 - 26)}`,
  ])('takes %s', async (url) => {
    expect(await findCallbackUrlFault(url, rules)).toBeNull();
  });

  test.each([
    ['', 'not an absolute'],
    ['/relative', 'not an absolute'],
    ['hooks.example.com', 'not an absolute'],
    ['//hooks.example.com', 'not an absolute'],
    ['https:hooks.example.com', 'not an absolute'],
    ['https:///', 'not an absolute'],
    ['https:///hooks.example.com/', 'not an absolute'],
    ['https://exa mple.com', 'space'],
    [' https://hooks.example.com', 'space'],
    ['https:\\\\hooks.example.com', 'backslash'],
    ['https://hooks.example.com/\u0000', 'control'],
    ['https://hooks.example.com/\ud800', 'control'],
    ['https://hooks.example.com:99999/', 'not an absolute'],
    ['http://hooks.example.com/', 'not https'],
    ['ftp://hooks.example.com/', 'not https'],
    ['https://user:pass@hooks.example.com/', 'user info'],
    ['https://@hooks.example.com/', 'user info'],
    ['https://hooks.example.com/#part', 'fragment'],
    ['https://hooks.example.com/#', 'fragment'],
    [`https://hooks.example.com/${'a'.repeat(2_048 - 25)}`, 'longer than 2048'],
    ['https://127.0.0.1/', 'never go'],
    ['https://2130706433/', 'never go'],
    ['https://0x7f.1/', 'never go'],
    ['https://0177.0.0.1/', 'never go'],
    ['https://127.1/', 'never go'],
    ['https://[::1]/', 'never go'],
    ['https://[::ffff:10.0.0.1]/', 'never go'],
    ['https://[64:ff9b::10.0.0.1]/', 'never go'],
    ['https://169.254.169.254/latest', 'never go'],
    ['https://100.64.0.1/', 'never go'],
    ['https://inside.example.com/', 'resolves only'],
  ])('refuses %j: %s', async (url, reason) => {
    expect(await findCallbackUrlFault(url, rules)).toContain(reason);
  });

  test('takes http and forbidden networks where the settings allow them', async () => {
    const open = { ...rules, isHttpAllowed: true, networks: readNetworks(['127.0.0.0/8']) };
    expect(await findCallbackUrlFault('http://127.0.0.1:9000/hooks', open)).toBeNull();
    expect(await findCallbackUrlFault('http://10.0.0.1/', open)).toContain('never go');
    expect(await findCallbackUrlFault('ftp://127.0.0.1/', open)).toContain('not https or http');
  });
});

describe('resolveWithin', () => {
  test('finds addresses, and none for what does not resolve', async () => {
    const resolve = resolveWithin(60_000);
    expect(await resolve('localhost')).toContain('127.0.0.1');
    expect(await resolve('no-such-host.invalid')).toEqual([]);
  });
});
