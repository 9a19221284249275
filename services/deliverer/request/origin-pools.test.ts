import { describe, expect, test } from '@jest/globals';
import { buildConnector } from 'undici';
import { until } from '@waybell/runtime/testing/until';
import type { ClientCertificate } from './connection.ts';
import { openOriginPools, type OriginPoolsOptions, type RequestDispatcher } from './origin-pools.ts';
import { aSelfSignedCertificate } from '@waybell/runtime/testing/certificate';
import { openedByEach } from '@waybell/runtime/testing/shared';
import { httpServer, NOBODY_PORT, type TestServer } from '@waybell/runtime/testing/server';

const opened = openedByEach();

async function serve(...answer: Parameters<typeof httpServer>): Promise<TestServer & { open: () => number }> {
  let open = 0;
  const seen = new Set<object>();
  const server = await httpServer((request, response) => {
    if (!seen.has(request.socket)) {
      seen.add(request.socket);
      open += 1;
      request.socket.on('close', () => (open -= 1));
    }
    return answer[0](request, response);
  });
  opened.push(server);
  return { ...server, open: () => open };
}

function pools(options: Partial<OriginPoolsOptions> = {}) {
  const made = openOriginPools({ connect: buildConnector({}), maxOrigins: 10, keepAliveTimeout: 60_000, ...options });
  opened.push(made);
  return made;
}

type Asking = { over?: 'a new connection'; certificate?: ClientCertificate };

function get(from: RequestDispatcher, origin: string, { over, certificate }: Asking = {}): Promise<number> {
  return new Promise((resolve, reject) => {
    let status = 0;
    from.dispatch(
      { origin, path: '/', method: 'GET' },
      {
        certificate,
        onRequestStart: () => undefined,
        onResponseStart: (_, answered) => void (status = answered),
        onResponseData: () => undefined,
        onResponseEnd: () => resolve(status),
        onResponseError: (_, error) => reject(error),
      },
      over,
    );
  });
}

describe('origin pools', () => {
  test('keep the connection of an origin for its next request', async () => {
    const server = await serve((_, response) => response.end());
    const origins = pools();
    for (let each = 0; each < 5; each += 1) await get(origins, server.url);
    expect(origins.size()).toBe(1);
    expect(server.connections()).toBeLessThanOrEqual(2);
  });

  test('forget an origin whose connections are closed, and know it again', async () => {
    const server = await serve((_, response) => response.setHeader('connection', 'close').end());
    const origins = pools();
    expect(await get(origins, server.url)).toBe(200);
    await until('it is forgotten', () => origins.size() === 0);
    expect(await get(origins, server.url)).toBe(200);
  });

  test('forget an origin that cannot be connected to', async () => {
    const origins = pools();
    await expect(get(origins, `http://127.0.0.1:${NOBODY_PORT}`)).rejects.toThrow('ECONNREFUSED');
    await until('it is forgotten', () => origins.size() === 0);
  });

  test('close the connections of the origin that was not asked for longest when there are too many', async () => {
    const servers = [await serve((_, r) => r.end()), await serve((_, r) => r.end()), await serve((_, r) => r.end())];
    const origins = pools({ maxOrigins: 2 });
    for (const { url } of servers) await get(origins, url);
    expect(origins.size()).toBe(2);
    await until('the first is closed', () => servers[0]?.open() === 0);
    expect(servers.slice(1).map((server) => server.open())).toEqual([1, 1]);
  });

  test('finish a request whose origin had to make room', async () => {
    let answer = (): void => undefined;
    const slow = await serve((_, response) => void (answer = () => response.end()));
    const other = await serve((_, response) => response.end());
    const origins = pools({ maxOrigins: 1 });
    const asked = get(origins, slow.url);
    await until('it is asked', () => slow.open() === 1);
    await get(origins, other.url);
    answer();
    expect(await asked).toBe(200);
    await until('it is closed', () => slow.open() === 0);
  });

  test('cut what is under way when disposed of, also where its origin had to make room', async () => {
    const slow = await serve(() => undefined);
    const other = await serve((_, response) => response.end());
    const origins = openOriginPools({ connect: buildConnector({}), maxOrigins: 1 });
    const asked = get(origins, slow.url).catch((error: unknown) => error);
    await until('it is asked', () => slow.open() === 1);
    await get(origins, other.url);
    await origins[Symbol.asyncDispose]();
    expect(await asked).toBeInstanceOf(Error);
  });

  test('make a connection for a request alone, and close it after that', async () => {
    const server = await serve((_, response) => response.end());
    const origins = pools();
    await get(origins, server.url);
    expect(await get(origins, server.url, { over: 'a new connection' })).toBe(200);
    expect(server.connections()).toBe(2);
    await until('it is closed', () => server.open() === 1);
  });

  test('are of one certificate each, and count as many', async () => {
    const server = await serve((_, response) => response.end());
    const origins = pools({ maxOrigins: 3 });
    const { cert: chain, key } = aSelfSignedCertificate({ name: 'client' });
    for (const guid of ['1', '2', '1', undefined, '2'])
      await get(origins, server.url, guid === undefined ? {} : { certificate: { guid, chain, key } });
    expect(origins.size()).toBe(3);
    expect(server.connections()).toBeGreaterThanOrEqual(3);
    for (const guid of ['3', '4', '5']) await get(origins, server.url, { certificate: { guid, chain, key } });
    expect(origins.size()).toBe(3);
    await until('those before are closed', () => server.open() === 3);
  });

  test('cut a request that has a connection of its own when disposed of', async () => {
    const slow = await serve(() => undefined);
    const origins = openOriginPools({ connect: buildConnector({}), maxOrigins: 1 });
    const asked = get(origins, slow.url, { over: 'a new connection' }).catch((error: unknown) => error);
    await until('it is asked', () => slow.open() === 1);
    await origins[Symbol.asyncDispose]();
    expect(await asked).toBeInstanceOf(Error);
  });
});
