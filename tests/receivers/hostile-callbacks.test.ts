import { isIP } from 'node:net';
import { afterAll, describe, expect, test } from '@jest/globals';
import type { ResolveHost } from '@waybell/runtime/names/resolve-host';
import { connectProxy } from '@waybell/deliverer/testing/proxy';
import { DENIED_PORTS, readPorts, readNetworks } from '@waybell/runtime/networks';
import { readCallbackUrl } from '@waybell/subscription-api/callback-url';
import { openCaller } from '@waybell/deliverer/testing/caller';
import { tcpServer } from '@waybell/runtime/testing/server';
import { shared } from '@waybell/runtime/testing/shared';
import { hostileCallbacks } from './hostile-callbacks.ts';
import { createHook } from 'node:async_hooks';

/** Each address with what a subscribe answers; null is that it is taken. `names` is what its name means, if anything. */
const table = hostileCallbacks.flatMap(({ form, answer, names = [], urls }) =>
  urls.map((url) => ({ form, answer, names, url })),
);

const taken = table.filter(({ answer }) => answer === null);
const refused = table.filter(({ answer }) => answer !== null);

const PUBLIC = '93.184.215.14';
/** No address of the table, and of this machine. */
const HERE = '127.99.99.99';
// No limit is what ends these attempts, however long the machine stands still.
const nothing = readNetworks([]);
const loopback = readNetworks(['127.0.0.0/8']);
const deniedPorts = readPorts(DENIED_PORTS);

/** Every address in the table, whether written out or meant by a name. */
const addresses = new Set([
  ...table.map(({ url }) => hostOf(url)).filter((host) => isIP(host) !== 0),
  ...table.flatMap(({ names }) => names),
]);

function hostOf(text: string): string {
  return (URL.parse(text)?.hostname ?? '').replace(/^\[(.*)\]$/, '$1');
}

/** A name without addresses does not resolve. */
const subscribe = (url: string, names: string[]) => {
  const resolve = async () => (names.length === 0 ? undefined : names);
  return readCallbackUrl(url, { isHttpAllowed: false, networks: nothing, deniedPorts, resolve });
};

type Circumstances = { names: string[]; networks?: typeof nothing; proxy?: URL };

function open({ names, networks = nothing, proxy }: Circumstances) {
  const resolveHost: ResolveHost = async () => names.map((address) => ({ address, family: isIP(address) }));
  return openCaller({ networks, deniedPorts, resolveHost, ...(proxy && { proxy }) });
}

/** One attempt, where names mean these addresses. */
async function deliver(url: string, circumstances: Circumstances): Promise<string | undefined> {
  await using caller = open(circumstances);
  const { reason } = await caller.call(url);
  return reason;
}

/** One request for an access token, at a token URL. */
async function askForToken(url: string, circumstances: Circumstances): Promise<string | undefined> {
  await using endpoints = open(circumstances);
  const { result } = await endpoints.callTokenUrl({
    url,
    headers: {},
    body: 'grant_type=client_credentials',
    secrets: [],
  });
  return result.reason;
}

let arrived = 0;
const connections = countConnections();
afterAll(() => connections[Symbol.dispose]());

/** On every address of this machine. */
const listener = shared(() =>
  tcpServer(
    (socket) => {
      arrived += 1;
      socket.destroy();
    },
    { host: '::' },
  ),
);
const proxy = shared(() => connectProxy(() => ({ status: 403 })));

/** The same address, at the port where every connection to this machine arrives. */
function atListener(text: string): string {
  const url = URL.parse(text);
  if (url === null) return text;
  url.port = String(listener.port);
  return url.href;
}

/** Observations so far: connections begun to any address, those that arrived, and requests to the proxy. */
const seen = () => ({ begun: connections.begun(), arrived, asked: proxy.asked.length });

/** How attempts at it, and requests for a token, end, directly and through a proxy, and whether anything was seen of them. */
async function attempts(url: string, names: string[]): Promise<{ reasons: (string | undefined)[]; wasSeen: boolean }> {
  const before = seen();
  const reasons: (string | undefined)[] = [];
  for (const circumstances of [{ names }, { names, proxy: new URL(proxy.url) }]) {
    reasons.push(await deliver(url, circumstances), await askForToken(url, circumstances));
  }
  return { reasons, wasSeen: JSON.stringify(seen()) !== JSON.stringify(before) };
}

describe('a subscribe', () => {
  test('is tried with at least 120 hostile addresses', () => {
    expect(new Set(refused.map(({ url }) => url)).size).toBeGreaterThanOrEqual(120);
  });

  test.each(refused)('to $url, $form, is refused: $answer', async ({ url, answer, names }) => {
    expect(await subscribe(url, names)).toEqual({ fault: expect.stringContaining(answer ?? '') });
  });

  test.each(taken)('to $url, $form, is taken', async ({ url }) => {
    expect(await subscribe(url, [])).toEqual({ url: URL.parse(url)?.href });
  });
});

describe('an attempt, and a request for an access token,', () => {
  test('arrives, directly and through a proxy, where nothing forbids it, and is seen to', async () => {
    const url = atListener('http://hooks.example.com/');
    expect(await deliver(url, { names: ['127.0.0.1'], networks: loopback })).toBe('reset');
    expect(seen()).toMatchObject({ begun: 1, arrived: 1 });
    expect(await deliver(url, { names: [PUBLIC], proxy: new URL(proxy.url) })).toBe('unreachable');
    expect(seen()).toMatchObject({ begun: 2, arrived: 1, asked: 1 });
    expect(await askForToken(url, { names: ['127.0.0.1'], networks: loopback })).toBe('reset');
    expect(await askForToken(url, { names: [PUBLIC], proxy: new URL(proxy.url) })).toBe('unreachable');
    expect(seen()).toMatchObject({ begun: 4, arrived: 2, asked: 2 });
  });

  test.each(table)('at $url, $form, makes no connection, whatever its name means now', async ({ url }) => {
    const isUrl = /^https?:$/.test(URL.parse(url)?.protocol ?? '');
    const reason = isUrl ? 'blocked_address' : 'unknown';
    expect(await attempts(atListener(url), ['127.0.0.1'])).toEqual({
      reasons: [reason, reason, reason, reason],
      wasSeen: false,
    });
  });

  test.each([...addresses])('at a name makes no connection once it changed its answer to %s', async (address) => {
    const url = 'https://rebinding.example.com/';
    expect(await subscribe(url, [PUBLIC])).toEqual({ url });
    const { reasons, wasSeen } = await attempts(atListener(url), [address]);
    expect([new Set(reasons), wasSeen]).toEqual([new Set(['blocked_address']), false]);
  });

  test.each([...addresses])('at a name connects to what else it means alone, never to %s', async (address) => {
    const url = atListener('http://rebinding.example.com/');
    for (const names of [
      [HERE, address],
      [address, HERE],
    ]) {
      const before = seen();
      expect(await deliver(url, { names, networks: readNetworks([`${HERE}/32`]) })).toBe('reset');
      expect(seen()).toEqual({ ...before, begun: before.begun + 1, arrived: before.arrived + 1 });
    }
    await deliver(url, { names: [address, PUBLIC], proxy: new URL(proxy.url) });
    expect(proxy.asked.at(-1)?.authority).toBe(new URL(url).host.replace(/^[^:]*/, PUBLIC));
  });

  test('at a network that is denied makes no connection, even where a wider one is allowed', async () => {
    const before = seen();
    const networks = readNetworks(['127.0.0.0/8'], ['127.0.0.0/24']);
    const url = atListener('http://hooks.example.com/');
    expect(await deliver(url, { names: ['127.0.0.1'], networks })).toBe('blocked_address');
    expect(seen()).toEqual(before);
  });

  test.each([...deniedPorts])('at port %i makes no connection', async (port) => {
    const before = seen();
    const url = `http://hooks.example.com:${port}/`;
    expect(await deliver(url, { names: ['127.0.0.1'], networks: loopback })).toBe('blocked_address');
    expect(await askForToken(url, { names: ['127.0.0.1'], networks: loopback })).toBe('blocked_address');
    expect(seen()).toEqual(before);
  });
});

/**
 * Counts the connections that this process begins, to whatever address, answered or not: a listener only sees those that
 * lead to it.
 */
function countConnections(): { begun(): number } & Disposable {
  let begun = 0;
  const hook = createHook({
    init(_id, type) {
      if (type === 'TCPCONNECTWRAP') begun += 1;
    },
  }).enable();
  return { begun: () => begun, [Symbol.dispose]: () => void hook.disable() };
}
