import { describe, expect, test } from '@jest/globals';
import { readNetworks } from '@waybell/runtime/networks';
import { Unavailable } from '@waybell/runtime/unavailable';
import type { EndpointOptions } from './call-endpoint.ts';
import { readProxy } from './proxy-tunnel.ts';
import { anAuthority } from '@waybell/runtime/testing/certificate';
import { connectProxy } from '../testing/proxy.ts';
import { httpServer, NOBODY_PORT, tlsServer } from '@waybell/runtime/testing/server';
import { trusted } from '@waybell/runtime/testing/shared';
import { openCaller } from '../testing/caller.ts';

const PUBLIC = [
  { address: '2606:4700::1111', family: 6 },
  { address: '93.184.215.14', family: 4 },
];
const authority = anAuthority('Test authority');
const certificate = authority.issue({ name: 'hooks.example.com' });

trusted(authority.cert);

/** Makes one attempt through the proxy, at a host with two public addresses. */
async function call(proxy: string, url: string, what: Partial<EndpointOptions> = {}) {
  const options = { networks: readNetworks([]), resolveHost: async () => PUBLIC, proxy: readProxy(proxy) };
  await using caller = openCaller({ ...options, ...what });
  return await caller.call(url);
}

describe('a callback through a proxy', () => {
  test('agrees on TLS with the receiver, over a tunnel to the address that was checked', async () => {
    await using receiver = await tlsServer(certificate, (_, response) => response.end());
    await using proxy = await connectProxy(() => receiver);
    const answer = await call(proxy.url, 'https://hooks.example.com/a');
    expect(answer).toMatchObject({ isDelivered: true, status: 200 });
    expect(proxy.asked).toEqual([{ authority: '[2606:4700::1111]:443', authorization: undefined }]);
  });

  test('says the address that the tunnel leads to, and what each part of connecting took', async () => {
    await using receiver = await tlsServer(certificate, (_, response) => response.end());
    await using proxy = await connectProxy((to) => (to.startsWith('[') ? { status: 502 } : receiver));
    const [dnsMs, connectMs, tlsMs] = [1, 2, 3].map(() => expect.any(Number));
    const answer = await call(proxy.url, 'https://hooks.example.com/');
    expect(answer).toMatchObject({ ip: '93.184.215.14', dnsMs, connectMs, tlsMs });
  });

  test('checks the certificate against the name, not the address', async () => {
    await using receiver = await tlsServer(authority.issue({ name: 'other.example.com' }), (_, response) =>
      response.end(),
    );
    await using proxy = await connectProxy(() => receiver);
    expect(await call(proxy.url, 'https://hooks.example.com/')).toMatchObject({ reason: 'tls_name' });
  });

  test('goes without TLS where the address says so', async () => {
    await using receiver = await httpServer((_, response) => response.end());
    await using proxy = await connectProxy(() => receiver);
    expect(await call(proxy.url, 'http://hooks.example.com:8080/')).toMatchObject({ isDelivered: true });
    expect(proxy.asked).toMatchObject([{ authority: '[2606:4700::1111]:8080' }]);
  });

  test('tries the next address where the proxy does not reach the first', async () => {
    await using receiver = await tlsServer(certificate, (_, response) => response.end());
    await using proxy = await connectProxy((to) => (to.startsWith('[') ? { status: 502 } : receiver));
    expect(await call(proxy.url, 'https://hooks.example.com/')).toMatchObject({ isDelivered: true });
    expect(proxy.asked.map((each) => each.authority)).toEqual(['[2606:4700::1111]:443', '93.184.215.14:443']);
  });

  test.each([403, 502, 504])('is unreachable where the proxy answers %i', async (status) => {
    await using proxy = await connectProxy(() => ({ status }));
    const answer = await call(proxy.url, 'https://hooks.example.com/');
    expect(answer).toMatchObject({ reason: 'unreachable', ip: '93.184.215.14' });
    expect(answer).not.toHaveProperty('connectMs');
  });

  test.each([
    ['https://127.0.0.1/', []],
    ['https://[::ffff:10.0.0.1]/', []],
    ['https://inside.example.com/', [{ address: '10.0.0.1', family: 4 }]],
  ])('asks the proxy for nothing where %s is a forbidden address', async (url, addresses) => {
    await using proxy = await connectProxy(() => ({ status: 500 }));
    expect(await call(proxy.url, url, { resolveHost: async () => addresses })).toMatchObject({
      reason: 'blocked_address',
    });
    expect(proxy.asked).toEqual([]);
  });

  test('asks it for those addresses of a host that are permitted, and for no other', async () => {
    await using proxy = await connectProxy(() => ({ status: 502 }));
    const inside = ['10.0.0.1', '64:ff9b::10.0.0.1', 'fd00:ec2::254'].map((address) => ({ address, family: 4 }));
    const translated = { address: '64:ff9b::5db8:d70e', family: 6 };
    const resolveHost = async () => [...inside, translated, ...PUBLIC];
    expect(await call(proxy.url, 'https://mixed.example.com/', { resolveHost })).toMatchObject({
      reason: 'unreachable',
    });
    expect(proxy.asked.map((each) => each.authority)).toEqual([
      '[64:ff9b::5db8:d70e]:443',
      '[2606:4700::1111]:443',
      '93.184.215.14:443',
    ]);
  });

  test('shows the user of its address', async () => {
    await using proxy = await connectProxy(() => ({ status: 502 }));
    await call(proxy.url.replace('//', '//me:p%40ss@'), 'https://hooks.example.com/');
    const authorization = `Basic ${Buffer.from('me:p@ss').toString('base64')}`;
    expect(proxy.asked[0]).toMatchObject({ authorization });
  });

  test('waits, and is no failed attempt, while the proxy is away or refuses the user', async () => {
    await using proxy = await connectProxy(() => ({ status: 407 }));
    const refused = await call(proxy.url, 'https://hooks.example.com/').catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(Unavailable);
    const away = await call(`http://127.0.0.1:${NOBODY_PORT}`, 'https://hooks.example.com/').catch(
      (error: unknown) => error,
    );
    expect(away).toBeInstanceOf(Unavailable);
    await expect((away as Unavailable).probe()).rejects.toThrow('ECONNREFUSED');
  });
});

describe('readProxy', () => {
  test('takes no proxy', () => {
    expect(readProxy('')).toBeUndefined();
  });

  test.each(['proxy:3128', 'socks5://proxy', 'http://proxy/path', 'http://proxy/?a', 'x'])('refuses %s', (setting) => {
    expect(() => readProxy(setting)).toThrow('http://proxy:3128');
  });
});
