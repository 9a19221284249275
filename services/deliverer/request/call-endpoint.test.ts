import { createHash, randomBytes } from 'node:crypto';
import diagnostics from 'node:diagnostics_channel';
import type { IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import tls from 'node:tls';
import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import type { Delivery } from '@waybell/line/delivery';
import { NameServersAway } from '@waybell/runtime/names/name-servers';
import { resolverOf } from '@waybell/runtime/names/resolve-host';
import { readNetworks } from '@waybell/runtime/networks';
import { dnsServer } from '@waybell/runtime/testing/dns-server';
import { endedWithin } from '@waybell/runtime/testing/ended-within';
import { until } from '@waybell/runtime/testing/until';
import { TurnedClock } from '@waybell/runtime/turned-clock';
import { Unavailable } from '@waybell/runtime/unavailable';
import { type EndpointOptions } from './call-endpoint.ts';
import { anAuthority, aSelfSignedCertificate } from '@waybell/runtime/testing/certificate';
import { attempting } from '../testing/attempting.ts';
import { aDelivery } from '../testing/delivery.ts';
import { openedByEach } from '@waybell/runtime/testing/shared';
import {
  httpServer,
  NOBODY_PORT,
  sayingServer,
  tcpServer,
  tlsServer,
  type TestServer,
} from '@waybell/runtime/testing/server';
import { openCaller } from '../testing/caller.ts';

const LONG_MS = 60_000;
const nothing = readNetworks([]);
const LONG_AGO = new Date('2020-01-01');

const opened = openedByEach();
const unhandled: unknown[] = [];
const noteUnhandled = (error: unknown) => unhandled.push(error);

function endpoints(what: Partial<EndpointOptions> = {}) {
  const made = openCaller({ keepAliveMs: 15_000, userAgent: 'Waybell/1.2.3', ...what });
  opened.push(made);
  return attempting(made.callEndpoint);
}

const carrierLimit = (responseMs: number) => ({
  limits: { shipper: { handoverMs: LONG_MS, responseMs: 2 * LONG_MS }, carrier: { responseMs } },
});
const shipperLimits = (handoverMs: number, responseMs: number) => ({
  limits: { shipper: { handoverMs, responseMs }, carrier: { responseMs: LONG_MS } },
});

const serve = (starting: Promise<TestServer>) => opened.use(starting);

/** Makes one attempt at `url`, with all limits far away by default. */
function call(url: string, what: Partial<EndpointOptions> & { delivery?: Partial<Delivery> } = {}) {
  const { delivery, ...options } = what;
  const asked = { delivery: aDelivery(delivery), callbackUrl: url, verificationToken: 'token-1', signingSecrets: [] };
  return endpoints(options)(asked);
}

/** Turns the clock by this much as soon as the receiver has something of the attempt. */
async function callFor(passedMs: number, what: Parameters<typeof call>[1] & { scheme?: string } = {}) {
  const { scheme = 'http', ...options } = what;
  const begun = Promise.withResolvers<Socket>();
  const server = await serve(
    tcpServer((socket) =>
      socket.once('data', (chunk) => {
        socket.pause().unshift(chunk);
        begun.resolve(socket);
      }),
    ),
  );
  const clock = new TurnedClock();
  const answer = call(`${scheme}://localhost:${server.port}`, { clock, ...options });
  const socket = await begun.promise;
  return { answer: await endedWithin({ clock, limitMs: passedMs }, answer), socket };
}

/** Limit of reading a body after the status. */
const BODY_MS = 1_000;
const untilAnswered = (clock: TurnedClock) =>
  until('there is a status', () => clock.nextAt() === clock.now() + BODY_MS);

async function read(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(Buffer.from(chunk as Uint8Array));
  return Buffer.concat(chunks);
}

const defaultAuthorities = tls.getCACertificates('default');
const trust = (cert: string) => tls.setDefaultCACertificates([...defaultAuthorities, cert]);

beforeAll(() => void process.on('unhandledRejection', noteUnhandled));
afterEach(async () => {
  if (unhandled.length > 0) throw new AggregateError(unhandled.splice(0), 'a promise was rejected unseen');
});
afterAll(() => {
  process.off('unhandledRejection', noteUnhandled);
  tls.setDefaultCACertificates(defaultAuthorities);
});

describe('callEndpoint sends', () => {
  test('these headers, spelled so, and no others', async () => {
    let seen: string[] = [];
    const server = await serve(
      httpServer((request, response) => {
        seen = request.rawHeaders;
        response.end();
      }),
    );
    await call(`${server.url}/hook`, {
      delivery: { attempt: 3, body: Buffer.from('{}') },
      now: () => 1_795_219_200_999,
    });
    const pairs = seen.flatMap((name, index) => (index % 2 === 0 ? [[name, seen[index + 1]]] : []));
    expect(Object.fromEntries(pairs)).toEqual({
      host: `localhost:${server.port}`,
      connection: 'keep-alive',
      'Content-Type': 'application/json; charset=utf-8',
      'content-length': '2',
      'Accept-Encoding': 'identity',
      'User-Agent': 'Waybell/1.2.3',
      'X-Service-Verification-Token': 'token-1',
      'X-Webhook-Attempt': '3',
      'webhook-id': aDelivery().guid,
      'webhook-timestamp': '1795219200',
    });
  });

  test('a signature for each secret, which the library of Standard Webhooks takes with either of them', async () => {
    const [current, previous] = ['b', 'a'].map((text) => `whsec_${Buffer.alloc(32, text).toString('base64')}`);
    const body = Buffer.from('{"name":"Mü\u2028ller","id":12345678901234567890}');
    let seen: Record<string, string> = {};
    const server = await serve(
      httpServer((request, response) => {
        seen = request.headers as Record<string, string>;
        response.end();
      }),
    );
    const signingSecrets = [current, previous] as string[];
    const asked = { delivery: aDelivery({ body }), callbackUrl: server.url, verificationToken: '', signingSecrets };
    await endpoints()(asked);
    for (const secret of signingSecrets) {
      const { name } = new Webhook(secret).verify(body.toString(), seen) as { name: string };
      expect(name).toBe('Mü\u2028ller');
      expect(() => new Webhook(secret).verify(`${body.toString()} `, seen)).toThrow('No matching signature');
    }
  });

  test('that it is a test, where it is one, and of what is sent again nothing but the number of the attempt', async () => {
    const seen: unknown[] = [];
    const server = await serve(
      httpServer((request, response) => {
        seen.push([request.headers['x-webhook-test'], request.headers['x-webhook-attempt']]);
        response.end();
      }),
    );
    await call(server.url, { delivery: { byHand: { why: 'test', fromAttempt: 1 } } });
    await call(server.url, { delivery: { attempt: 5, byHand: { why: 'resend', fromAttempt: 5 } } });
    expect(seen).toEqual([
      ['true', '1'],
      [undefined, '5'],
    ]);
  });

  test('the trace only where the delivery has one, and a setting says so', async () => {
    const seen: unknown[] = [];
    const server = await serve(
      httpServer((request, response) => {
        seen.push(request.headers['traceparent']);
        response.end();
      }),
    );
    const delivery = { traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01' };
    await call(server.url, { delivery, passesTraceparent: true });
    await call(server.url, { passesTraceparent: true });
    await call(server.url, { delivery });
    expect(seen).toEqual([delivery.traceparent, undefined, undefined]);
  });

  test('an access token, which its answer is shown without', async () => {
    const accessToken = 'header.payload.of-the-token';
    const server = await serve(
      httpServer(({ headers }, response) => response.writeHead(403).end(`not ${headers.authorization}`)),
    );
    const attempt = { delivery: aDelivery(), verificationToken: 'token-1', signingSecrets: [] };
    const answer = await endpoints()({ ...attempt, callbackUrl: server.url, accessToken });
    expect(answer).toMatchObject({ status: 403, body: 'not Bearer ***' });
  });

  test('a POST to path and query as they were subscribed', async () => {
    let seen = '';
    const server = await serve(
      httpServer((request, response) => {
        seen = `${request.method} ${request.url}`;
        response.end();
      }),
    );
    await call(`${server.url}/a%20b//c?d=%C3%A9&e`);
    expect(seen).toBe('POST /a%20b//c?d=%C3%A9&e');
  });

  test.each([
    ['every byte value', Buffer.from(Array.from({ length: 256 }, (_, index) => index))],
    ['what JSON.parse would change', Buffer.from('{"id": 12345678901234567890, "a": 1.0, "a": "\\ud800"}\n')],
    ['a mebibyte', randomBytes(2 ** 20)],
  ])('the exact bytes of the body: %s', async (_, body) => {
    let received: Buffer = Buffer.alloc(0);
    const server = await serve(
      httpServer(async (request, response) => {
        received = await read(request);
        response.end();
      }),
    );
    expect(await call(server.url, { delivery: { body } })).toMatchObject({ isDelivered: true });
    const hashOf = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');
    expect(hashOf(received)).toBe(hashOf(body));
  });

  test.each([1, 100_000])('many requests over the same connections, with bodies of %d bytes', async (size) => {
    const server = await serve(
      httpServer(async (request, response) => {
        await read(request);
        response.end('thanks');
      }),
    );
    const callEndpoint = endpoints();
    const delivery = aDelivery({ body: Buffer.alloc(size) });
    for (let each = 0; each < 20; each += 1) {
      await callEndpoint({ delivery, callbackUrl: server.url, verificationToken: '', signingSecrets: [] });
    }
    // If asked again at once, undici opens a second connection, because the first is still busy with its last request.
    expect(server.connections()).toBeLessThanOrEqual(2);
  });
});

describe('a host with several addresses', () => {
  const resolveHost = async () => [
    { address: '127.0.0.1', family: 4 },
    { address: '127.0.0.9', family: 4 },
  ];

  test('is connected to at the first, however late a busy process notices that it is', async () => {
    const server = await serve(httpServer((_, response) => response.end()));
    const pauseAll = () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_000);
    // Node publishes the socket on this channel.
    const standStill = (published: unknown) =>
      (published as { socket: Socket }).socket.once('connectionAttempt', () => process.nextTick(pauseAll));
    diagnostics.subscribe('net.client.socket', standStill);
    const answer = await call(`http://two.example:${server.port}`, { resolveHost });
    diagnostics.unsubscribe('net.client.socket', standStill);
    expect(answer).toMatchObject({ isDelivered: true });
  });
});

describe('callEndpoint answers', () => {
  test.each([
    [200, { isDelivered: true, status: 200 }],
    [204, { isDelivered: true, status: 204 }],
    [299, { isDelivered: true, status: 299 }],
    [304, { isDelivered: false, status: 304, reason: 'redirect' }],
    [400, { isDelivered: false, status: 400, reason: 'http_4xx' }],
    [410, { isDelivered: false, status: 410, reason: 'http_4xx' }],
    [429, { isDelivered: false, status: 429, reason: 'http_4xx' }],
    [500, { isDelivered: false, status: 500, reason: 'http_5xx' }],
    [503, { isDelivered: false, status: 503, reason: 'http_5xx' }],
    [999, { isDelivered: false, status: 999, reason: 'http_other' }],
  ])('status %d', async (status, answer) => {
    const server = await serve(httpServer((_, response) => response.writeHead(status).end()));
    const { isDelivered, status: told, reason } = await call(server.url);
    expect({ isDelivered, status: told, reason }).toEqual({ reason: undefined, ...answer });
  });

  test.each([301, 302, 303, 307, 308])('status %d, and does not follow it', async (status) => {
    let requests = 0;
    const server = await serve(
      httpServer((_, response) => {
        requests += 1;
        response.writeHead(status, { location: '/elsewhere?key=of-theirs#part' }).end();
      }),
    );
    const location = `${server.url}/elsewhere?key=***`;
    expect(await call(server.url)).toMatchObject({ isDelivered: false, status, reason: 'redirect', location });
    expect(requests).toBe(1);
  });

  test.each([
    ['//other.example/a?token=of-theirs', 'http://other.example/a?token=***'],
    ['ftp://user:of-theirs@other.example/', 'ftp:'],
    ['mailto:of-theirs@other.example', 'mailto:'],
    ['http://[of?token=of-theirs', 'http://[of'],
  ])('a redirect to %s, without what may be secret', async (location, shown) => {
    const server = await serve(
      sayingServer(`HTTP/1.1 302 Found\r\nlocation: ${location}\r\ncontent-length: 0\r\n\r\n`),
    );
    expect(await call(server.url)).toMatchObject({ reason: 'redirect', location: shown });
  });

  test.each([
    ['100 Continue', 'HTTP/1.1 100 Continue\r\n\r\n'],
    ['102 and 103', 'HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n'],
    ['several 100', 'HTTP/1.1 100 Continue\r\n\r\n'.repeat(3)],
  ])('the final status after interim ones: %s', async (_, interim) => {
    const server = await serve(sayingServer(`${interim}HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n`));
    expect(await call(server.url)).toMatchObject({ isDelivered: true, status: 202 });
  });

  test('the final status after an interim one that comes byte by byte', async () => {
    const server = await serve(
      tcpServer((socket) =>
        socket.once('data', () => {
          let left = 'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 500 No\r\ncontent-length: 0\r\n\r\n';
          const drip = () => {
            socket.write(left.slice(0, 1), () => left !== '' && setImmediate(drip));
            left = left.slice(1);
          };
          drip();
        }),
      ),
    );
    expect(await call(server.url)).toMatchObject({ isDelivered: false, status: 500 });
  });

  test('how long it took', async () => {
    const clock = new TurnedClock();
    const server = await serve(
      httpServer((_, response) => {
        clock.skipTo(100);
        response.end();
      }),
    );
    expect(await call(server.url, { clock })).toMatchObject({ durationMs: 100 });
  });
});

describe('callEndpoint, once there is a 2xx status, answers success', () => {
  test('and lets go of a body that does not end, after a second', async () => {
    const closed = Promise.withResolvers<void>();
    const server = await serve(
      httpServer((request, response) => {
        request.socket.on('close', () => closed.resolve());
        response.writeHead(200).write('and so on');
      }),
    );
    const clock = new TurnedClock();
    const answer = call(server.url, { clock });
    await untilAnswered(clock);
    const ended = endedWithin({ clock, limitMs: BODY_MS }, answer);
    expect(await ended).toMatchObject({ isDelivered: true, durationMs: BODY_MS });
    await closed.promise;
  });

  test('and reads no more than it needs of an endless body', async () => {
    let sentBytes = 0;
    let hasEnded = (): void => undefined;
    const ended = new Promise<void>((resolve) => (hasEnded = resolve));
    const server = await serve(
      httpServer((_, response) => {
        const chunk = Buffer.alloc(64 * 1024);
        const push = () => {
          do sentBytes += chunk.length;
          while (response.write(chunk));
        };
        response.writeHead(200).on('drain', push).on('close', hasEnded);
        push();
      }),
    );
    expect(await call(server.url)).toMatchObject({ isDelivered: true, status: 200 });
    await ended;
    // The kernel's buffers hold bytes beyond the 64 KiB.
    expect(sentBytes).toBeLessThan(32 * 2 ** 20);
  });

  test('where the connection is reset in the body', async () => {
    const clock = new TurnedClock();
    const server = await serve(
      tcpServer((socket) =>
        socket.once('data', () => {
          socket.write('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf');
          void untilAnswered(clock).finally(() => socket.resetAndDestroy());
        }),
      ),
    );
    expect(await call(server.url, { clock })).toMatchObject({ isDelivered: true, status: 200 });
  });

  test('where the body is not what HTTP says', async () => {
    const server = await serve(sayingServer('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nnot a size\r\n'));
    expect(await call(server.url)).toMatchObject({ isDelivered: true, status: 200 });
  });

  test('without inflating a compression bomb', async () => {
    const bomb = gzipSync(Buffer.alloc(48 * 2 ** 20));
    const server = await serve(
      httpServer((_, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb)),
    );
    const before = process.memoryUsage().arrayBuffers;
    expect(await call(server.url)).toMatchObject({ isDelivered: true });
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(24 * 2 ** 20);
  });
});

describe('callEndpoint keeps the limit', () => {
  test.each([
    ['of a carrier response, also where nothing is answered at all', carrierLimit(3_000), 'carrier', 3_000],
    [
      'of a shipper response from the start, past that of the handover',
      shipperLimits(10_000, 60_000),
      'shipper',
      60_000,
    ],
    ['of a shipper response, where that of the handover is longer', shipperLimits(60_000, 10_000), 'shipper', 10_000],
  ] as const)('%s', async (_, limits, name, limitMs) => {
    const { answer } = await callFor(limitMs, { ...limits, delivery: { interface: name } });
    expect(answer).toMatchObject({ isDelivered: false, reason: 'response_timeout', durationMs: limitMs });
  });

  test('of the handover, where the receiver does not take the body', async () => {
    const delivery = { interface: 'shipper' as const, body: Buffer.alloc(32 * 2 ** 20) };
    const { answer } = await callFor(10_000, { ...shipperLimits(10_000, LONG_MS), delivery });
    expect(answer).toMatchObject({ isDelivered: false, reason: 'handover_timeout', durationMs: 10_000 });
  });

  test.each([
    ['carrier', carrierLimit(3_000)],
    ['shipper', shipperLimits(3_000, LONG_MS)],
  ] as const)('of the connection, where a %s does not agree on TLS', async (name, limits) => {
    const { answer } = await callFor(3_000, { ...limits, scheme: 'https', delivery: { interface: name } });
    expect(answer).toMatchObject({ isDelivered: false, reason: 'connect_timeout', durationMs: 3_000 });
  });

  test('of the connection, where it is the shortest', async () => {
    const server = await serve(tcpServer(() => undefined));
    const answer = await call(`https://localhost:${server.port}`, { connectTimeoutMs: 100 });
    expect(answer).toMatchObject({ isDelivered: false, reason: 'connect_timeout' });
  });

  test('and sends nothing where the connection is made too late', async () => {
    let requests = 0;
    const authority = anAuthority('Test authority');
    trust(authority.cert);
    const secure = await serve(tlsServer(authority.issue({ name: 'localhost' }), () => void (requests += 1)));
    const { answer, socket } = await callFor(1_000, { ...carrierLimit(1_000), scheme: 'https' });
    expect(answer).toMatchObject({ reason: 'connect_timeout' });
    await tunnel(socket, secure.port);
    expect(requests).toBe(0);
  });
});

/** Passes bytes on both ways, until the client's side ends. */
async function tunnel(socket: Socket, port: number): Promise<void> {
  const onward = connect(port, '127.0.0.1').on('error', () => undefined);
  socket.pipe(onward).pipe(socket);
  await new Promise((resolve) => socket.once('close', resolve));
  onward.destroy();
}

describe('callEndpoint says why there was no answer', () => {
  test.each([
    ['invalid_response', 'bytes that are not HTTP', 'SSH-2.0-OpenSSH_9.2\r\n'],
    ['invalid_response', 'zeros', '\0\0\0\0'],
    ['invalid_response', 'a content length that is none', 'HTTP/1.1 200 OK\r\ncontent-length: x\r\n\r\n'],
    ['invalid_response', 'headers beyond measure', `HTTP/1.1 200 OK\r\nx: ${'y'.repeat(65 * 1024)}\r\n\r\n`],
    ['invalid_response', 'a status below 100', 'HTTP/1.1 099 What\r\n\r\n'],
  ])('%s: %s', async (reason, _, text) => {
    const server = await serve(sayingServer(text));
    const answer = await call(server.url);
    expect(answer).toMatchObject({ isDelivered: false, reason, durationMs: expect.any(Number) });
    expect(answer).not.toHaveProperty('status');
  });

  test.each([
    ['which rule was broken', 'HTTP/1.1 200 OK\r\nno colon\r\n\r\n', 'line 1 of its headers has no colon'],
    ['that there is no status', 'SSH-2.0-OpenSSH_9.2\r\n', 'it does not begin with HTTP/'],
    [
      'that it is too long',
      `HTTP/1.1 200 OK\r\nx: ${'y'.repeat(65 * 1024)}\r\n\r\n`,
      'its headers are longer than 66560 bytes',
    ],
  ])('and keeps the beginning of what came, and says %s', async (_, text, brokenRule) => {
    const server = await serve(sayingServer(text));
    const body = text.slice(0, 4 * 1024);
    expect(await call(server.url)).toMatchObject({ reason: 'invalid_response', brokenRule, body });
  });

  test('and keeps what came of a response that did not come whole, without the secrets of the request', async () => {
    const server = await serve(
      tcpServer((socket) => void socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\nx: token-1'))),
    );
    const answer = await call(server.url);
    expect(answer).toMatchObject({ reason: 'reset', body: 'HTTP/1.1 200 OK\r\nx: ***' });
    expect(answer).not.toHaveProperty('brokenRule');
  });

  test.each([
    ['resets at once', (socket: Socket) => void socket.resetAndDestroy()],
    ['resets after the request', (socket: Socket) => void socket.once('data', () => socket.resetAndDestroy())],
    ['closes at once', (socket: Socket) => void socket.end()],
    ['closes after the request', (socket: Socket) => void socket.once('data', () => socket.end())],
    ['closes within the status line', (socket: Socket) => void socket.once('data', () => socket.end('HTTP/1.1 20'))],
  ])('reset: the receiver %s', async (_, connected) => {
    const server = await serve(tcpServer(connected));
    expect(await call(server.url)).toMatchObject({ isDelivered: false, reason: 'reset' });
  });

  test('connect_refused', async () => {
    const answer = await call(`http://localhost:${NOBODY_PORT}`);
    expect(answer).toMatchObject({ isDelivered: false, reason: 'connect_refused' });
  });

  test.each(['nobody.invalid', `${'a'.repeat(64)}.example`])('dns: %s', async (host) => {
    // Not this machine's name servers: they may be slow or away, which is no answer.
    await using server = await dnsServer(() => 'absent');
    const names = { hosts: new Map(), search: [], ndots: 1 };
    const resolveHost = resolverOf({ names, servers: [server.address], clock: new TurnedClock() });
    expect(await call(`http://${host}/`, { resolveHost })).toMatchObject({ isDelivered: false, reason: 'dns' });
  });

  test.each([
    'http://127.0.0.1',
    'http://2130706433',
    'http://0x7f.1',
    'http://10.0.0.1',
    'http://169.254.169.254',
    'http://[::1]',
    'http://[::ffff:127.0.0.1]',
    'http://[64:ff9b::7f00:1]',
    'http://localhost',
  ])('blocked_address: %s, where loopback is not allowed', async (base) => {
    const server = await serve(httpServer((_, response) => response.end()));
    const answer = await call(`${base}:${server.port}/`, { networks: nothing });
    expect(answer).toMatchObject({ isDelivered: false, reason: 'blocked_address' });
    expect(server.connections()).toBe(0);
  });

  const authority = anAuthority('Test authority');
  test.each([
    ['tls_untrusted', 'a certificate that vouches for itself', aSelfSignedCertificate({ name: 'localhost' })],
    ['tls_untrusted', 'an authority nobody knows', anAuthority('Another').issue({ name: 'localhost' })],
    ['tls_name', 'the certificate of another', authority.issue({ name: 'elsewhere.example' })],
    ['tls_expired', 'a certificate of years ago', authority.issue({ name: 'localhost', notAfter: LONG_AGO })],
  ])('%s: %s', async (reason, _, certificate) => {
    trust(authority.cert);
    const server = await serve(tlsServer(certificate, (__, response) => response.end()));
    const answer = await call(server.url);
    expect(answer).toMatchObject({ isDelivered: false, reason, durationMs: expect.any(Number) });
    expect(answer).not.toHaveProperty('status');
  });

  test('tls_failed: the receiver speaks no TLS', async () => {
    const server = await serve(sayingServer('HTTP/1.1 400 Bad Request\r\n\r\n'));
    expect(await call(`https://localhost:${server.port}`)).toMatchObject({ reason: 'tls_failed' });
  });

  test('nothing, where the certificate is good', async () => {
    trust(authority.cert);
    const server = await serve(tlsServer(authority.issue({ name: 'localhost' }), (_, response) => response.end()));
    expect(await call(server.url)).toMatchObject({ isDelivered: true, status: 200 });
  });
});

describe('callEndpoint counts nothing against a receiver', () => {
  test.each(['EMFILE', 'ENFILE'])('where there is no file descriptor for another connection: %s', async (code) => {
    const lack = Object.assign(new Error(`connect ${code}`), { code });
    const failed = await call('http://receiver.test/', { resolveHost: () => Promise.reject(lack) }).catch(
      (error: unknown) => error,
    );
    expect(failed).toBeInstanceOf(Unavailable);
    // A file descriptor is free now.
    await (failed as Unavailable).probe();
  });

  test('where no name is answered for', async () => {
    const away = new NameServersAway(['192.0.2.53']);
    const answer = await call('http://receiver.test/', { resolveHost: () => Promise.reject(away) });
    expect(answer).toMatchObject({ reason: 'dns', lostAt: 'here' });
  });
});

describe('callEndpoint leaves no timer behind', () => {
  test.each([
    ['an answer', 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'],
    ['nonsense', 'nonsense\r\n'],
    ['an enormous body', `HTTP/1.1 200 OK\r\n\r\n${'y'.repeat(200_000)}`],
  ])('after %s', async (_, text) => {
    const server = await serve(sayingServer(text));
    const clock = new TurnedClock();
    await call(server.url, { clock });
    expect(clock.nextAt()).toBeUndefined();
  });

  test('after a request that could not even begin', async () => {
    const clock = new TurnedClock();
    await call('ftp://127.0.0.1/', { clock });
    expect(clock.nextAt()).toBeUndefined();
  });
});
