import type { Socket } from 'node:net';
import { createServer, type TLSSocket } from 'node:tls';
import { describe, expect, test } from '@jest/globals';
import { until } from '@waybell/runtime/testing/until';
import { endedWithin } from '@waybell/runtime/testing/ended-within';
import { TurnedClock } from '@waybell/runtime/turned-clock';
import { anAuthority } from '@waybell/runtime/testing/certificate';
import { openedByEach, trusted } from '@waybell/runtime/testing/shared';
import { aDelivery } from '../testing/delivery.ts';
import { connectProxy } from '../testing/proxy.ts';
import { tcpServer, type TestServer } from '@waybell/runtime/testing/server';
import type { EndpointOptions } from './call-endpoint.ts';
import { readProxy } from './proxy-tunnel.ts';
import { openCaller } from '../testing/caller.ts';

const LONG_MS = 60_000;
const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok';
const IDLE = 'HTTP/1.1 408 Request Timeout\r\ncontent-length: 0\r\n\r\n';
const authority = anAuthority('Test authority');

trusted(authority.cert);

const opened = openedByEach();

function caller(url: string, what: Partial<EndpointOptions> & { body?: Buffer } = {}) {
  const { body = Buffer.from('{"a":1}'), ...options } = what;
  const made = openCaller(options);
  opened.push(made);
  return () => made.call(url, { delivery: aDelivery({ body, attempt: 3 }), verificationToken: 'token' });
}

type Seen = { over: number; text: string };

/**
 * Takes requests with bodies of `bodyBytes`, and does this to the second one of its first connection, and `then` to each after
 * it.
 */
async function receiver(act: (socket: Socket) => void, then: (socket: Socket) => void = answer, bodyBytes = 7) {
  const seen: Seen[] = [];
  let connections = 0;
  const take = (socket: Socket) => {
    const over = (connections += 1);
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
      const head = text.indexOf('\r\n\r\n');
      if (head === -1 || text.length - head - 4 < bodyBytes) return;
      seen.push({ over, text });
      text = '';
      if (seen.length === 1) answer(socket);
      else if (seen.length === 2) act(socket);
      else then(socket);
    });
  };
  const server = await tcpServer(take);
  opened.push(server);
  return { server, seen, take };
}

const answer = (socket: Socket) => void socket.write(OK);

/** Waits until a connection is free for another request: a turn of the event loop after its response. */
async function untilKept(): Promise<void> {
  for (let turn = 0; turn < 3; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

async function callTwice(call: ReturnType<typeof caller>) {
  expect(await call()).toMatchObject({ isDelivered: true });
  await untilKept();
  return call();
}

const endings: [string, (socket: Socket) => void][] = [
  ['is reset', (socket) => socket.resetAndDestroy()],
  ['is closed', (socket) => socket.end()],
  ['is destroyed', (socket) => socket.destroy()],
  ['is told that it was idle', (socket) => socket.end(IDLE)],
  ['brings what was left of the response before', (socket) => socket.end('k, and more')],
  ['brings an empty line and is closed', (socket) => socket.end('\r\n')],
];

describe('a request over a connection that was kept', () => {
  test.each(endings)('is sent again over a new one, the same to the byte, where it %s', async (_, act) => {
    const { server, seen } = await receiver(act);
    expect(await callTwice(caller(server.url))).toMatchObject({ isDelivered: true, status: 200 });
    expect(seen.map(({ over }) => over)).toEqual([1, 1, 2]);
    expect(seen[2]?.text).toBe(seen[1]?.text);
    expect(seen[2]?.text).toContain('X-Webhook-Attempt: 3\r\n');
  });

  test.each([
    ['reset', (socket: Socket) => void socket.resetAndDestroy()],
    ['closed', (socket: Socket) => void socket.end()],
    ['given what nobody asked for', (socket: Socket) => void socket.write('nobody asked for this')],
    ['told that it was idle', (socket: Socket) => void socket.end(IDLE)],
  ])('is sent over a new one where that is %s before it begins', async (_, act) => {
    const kept: Socket[] = [];
    const server = await tcpServer((socket) => {
      kept.push(socket);
      socket.on('data', () => answer(socket));
    });
    opened.push(server);
    const call = caller(server.url);
    await call();
    await untilKept();
    const [first] = kept;
    if (first === undefined) throw new Error('there is a connection');
    act(first);
    // The request is on its way before this process has read what `act` did to the connection.
    expect(await call()).toMatchObject({ isDelivered: true });
    expect(server.connections()).toBe(2);
  });

  test('is sent again over a new one, though others were kept', async () => {
    const asked: Socket[] = [];
    let isOver = false;
    const server = await tcpServer((socket) =>
      socket.on('data', () => {
        const isSecond = asked.includes(socket);
        asked.push(socket);
        if (isSecond) socket.end();
        else if (isOver) answer(socket);
      }),
    );
    opened.push(server);
    const call = caller(server.url);
    const both = [call(), call()];
    await until('there are two', () => asked.length === 2);
    isOver = true;
    for (const socket of asked) answer(socket);
    await Promise.all(both);
    await untilKept();
    expect(await call()).toMatchObject({ isDelivered: true });
    expect([asked.length, server.connections()]).toEqual([4, 3]);
  });

  test('is sent again where a part of it had been written', async () => {
    const body = Buffer.alloc(4 * 2 ** 20, 'y');
    let requests = 0;
    const server = await tcpServer((socket) => {
      let bytes = 0;
      socket.on('data', (chunk) => {
        bytes += chunk.length;
        // The second request of the first connection has begun.
        if (requests === 1 && bytes > body.length + 2_000) return void socket.resetAndDestroy();
        if (bytes < body.length) return;
        requests += 1;
        if (requests > 1) bytes = 0;
        answer(socket);
      });
    });
    opened.push(server);
    expect(await callTwice(caller(server.url, { body }))).toMatchObject({ isDelivered: true });
    expect([requests, server.connections()]).toEqual([2, 2]);
  });

  test.each([
    ['ends its session', (socket: TLSSocket) => void socket.end()],
    ['is reset beneath it', (socket: TLSSocket) => void socket.destroy()],
  ])('is sent again where TLS %s', async (_, act) => {
    // `act` gets the connection that TLS is spoken over.
    const { take, seen } = await receiver((socket) => act(socket as TLSSocket));
    const server = await secureServer(take);
    expect(await callTwice(caller(server.url))).toMatchObject({ isDelivered: true });
    expect(seen.map(({ over }) => over)).toEqual([1, 1, 2]);
  });

  test('is sent again through a proxy, over a new tunnel', async () => {
    const { server, seen } = await receiver((socket) => socket.end());
    const proxy = await connectProxy(() => server);
    opened.push(proxy);
    const resolveHost = async () => [{ address: '93.184.215.14', family: 4 }];
    const call = caller('http://hooks.example.com/', { proxy: readProxy(proxy.url), resolveHost });
    expect(await callTwice(call)).toMatchObject({ isDelivered: true });
    expect([seen.length, proxy.asked.length]).toEqual([3, 2]);
  });

  test('is told of as one attempt, and its parts as those of the connection that was new', async () => {
    const counted = { requests: 0, connections: 0 };
    const observe = { requested: () => void (counted.requests += 1), connected: () => void (counted.connections += 1) };
    const { server } = await receiver((socket) => socket.end());
    const second = await callTwice(caller(server.url, { observe }));
    expect(counted).toEqual({ requests: 2, connections: 2 });
    expect(second).toMatchObject({ connectMs: expect.any(Number), firstByteMs: expect.any(Number) });
  });

  test('is sent again once: what that comes to is its outcome', async () => {
    const reset = (socket: Socket) => void socket.resetAndDestroy();
    const { server, seen } = await receiver(reset, reset);
    expect(await callTwice(caller(server.url))).toMatchObject({ isDelivered: false, reason: 'reset' });
    expect(seen).toHaveLength(3);
  });

  test('is not sent again where a byte of a response came', async () => {
    const { server, seen } = await receiver((socket) => socket.end('H'));
    expect(await callTwice(caller(server.url))).toMatchObject({ isDelivered: false, reason: 'reset', body: 'H' });
    expect(seen).toHaveLength(2);
  });

  test('is not sent again where it was not answered in time', async () => {
    const { server, seen } = await receiver(() => undefined);
    const clock = new TurnedClock();
    const call = caller(server.url, { clock });
    await call();
    await untilKept();
    const second = call();
    await until('it is asked', () => seen.length === 2);
    expect(await endedWithin({ clock, limitMs: LONG_MS }, second)).toMatchObject({ reason: 'response_timeout' });
    expect(seen).toHaveLength(2);
  });

  test('has all of its time for the handover again, and no more for its response', async () => {
    const clock = new TurnedClock();
    const limits = { shipper: { responseMs: LONG_MS }, carrier: { handoverMs: 10_000, responseMs: 12_000 } };
    const { server, seen } = await receiver(
      (socket) => {
        clock.skipTo(clock.now() + 9_000);
        socket.resetAndDestroy();
      },
      () => undefined,
    );
    const call = caller(server.url, { clock, limits });
    await call();
    await untilKept();
    const second = call();
    await until('it is sent again', () => seen.length === 3);
    expect(await endedWithin({ clock, limitMs: 3_000 }, second)).toMatchObject({
      reason: 'response_timeout',
      durationMs: 12_000,
    });
  });

  test('has not been handed over because it was to the connection that ended', async () => {
    const body = Buffer.alloc(16 * 2 ** 20, 'y');
    let [bytes, connections] = [0, 0];
    const server = await tcpServer((socket) => {
      connections += 1;
      // The second connection takes nothing.
      if (connections > 1) return void socket.pause();
      socket.on('data', (chunk) => {
        const isSecond = bytes > body.length;
        bytes += chunk.length;
        if (isSecond) socket.resetAndDestroy();
        else if (bytes > body.length) answer(socket);
      });
    });
    opened.push(server);
    const clock = new TurnedClock();
    const limits = { shipper: { responseMs: LONG_MS }, carrier: { handoverMs: 10_000, responseMs: LONG_MS } };
    const call = caller(server.url, { clock, limits, body });
    expect(await call()).toMatchObject({ isDelivered: true });
    await untilKept();
    const second = call();
    await until('it is sent again', () => connections === 2);
    expect(await endedWithin({ clock, limitMs: 10_000 }, second)).toMatchObject({ reason: 'handover_timeout' });
  });

  test('comes to its own end where requests are cut', async () => {
    let cut = (): void => undefined;
    const { server } = await receiver((socket) => {
      cut();
      socket.resetAndDestroy();
    });
    const call = caller(server.url);
    cut = () => void opened.pop()?.[Symbol.asyncDispose]();
    expect(await callTwice(call)).toMatchObject({ isDelivered: false });
  });
});

describe('a request over a new connection', () => {
  test.each(endings.slice(0, 3))('is not sent again where it %s', async (_, act) => {
    const seen: unknown[] = [];
    const server = await tcpServer((socket) =>
      socket.once('data', () => {
        seen.push(socket);
        act(socket);
      }),
    );
    opened.push(server);
    expect(await caller(server.url)()).toMatchObject({ isDelivered: false, reason: 'reset' });
    expect(seen).toHaveLength(1);
  });
});

describe('a connection is kept', () => {
  test('a second less than the receiver says, and so not at all where that is one', async () => {
    const server = await tcpServer((socket) =>
      socket.on('data', () => socket.write(`HTTP/1.1 200 OK\r\nkeep-alive: timeout=1\r\ncontent-length: 0\r\n\r\n`)),
    );
    opened.push(server);
    await callTwice(caller(server.url));
    expect(server.connections()).toBe(2);
  });

  test('where the receiver says nothing, until it has been idle for as long as is set', async () => {
    let closed = 0;
    const { take } = await receiver(answer);
    const server = await tcpServer((socket) => {
      socket.on('close', () => (closed += 1));
      take(socket);
    });
    opened.push(server);
    await caller(server.url, { keepAliveMs: 50 })();
    await until('it is closed', () => closed === 1);
  });

  test('after no response that was not plain', async () => {
    const server = await tcpServer((socket) => socket.on('data', () => socket.write(OK.replaceAll('\r\n', '\n'))));
    opened.push(server);
    await callTwice(caller(server.url));
    expect(server.connections()).toBe(2);
  });
});

/** Starts a TLS server for localhost, and passes its connections to `take`. */
async function secureServer(take: (socket: Socket) => void): Promise<Pick<TestServer, 'url'>> {
  const sockets = new Set<Socket>();
  const server = createServer(authority.issue({ name: 'localhost' }), (socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    take(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  opened.push({
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => {
        server.close(resolve);
      });
    },
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('it listens on a port');
  return { url: `https://localhost:${address.port}` };
}
