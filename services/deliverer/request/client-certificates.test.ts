import type { ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import type { SecureVersion, TLSSocket, TlsOptions } from 'node:tls';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { until } from '@waybell/runtime/testing/until';
import { wallClockMs } from '@waybell/runtime/testing/wall-clock';
import type { Credentials } from '../credentials/credentials.ts';
import { anAuthority, type Certificate } from '@waybell/runtime/testing/certificate';
import { openedByEach, trusted } from '@waybell/runtime/testing/shared';
import { aDelivery } from '../testing/delivery.ts';
import { connectProxy } from '../testing/proxy.ts';
import { NOBODY_PORT, tcpServer, tlsServer, type TestServer } from '@waybell/runtime/testing/server';
import type { EndpointOptions } from './call-endpoint.ts';
import { readProxy } from './proxy-tunnel.ts';
import { openCaller } from '../testing/caller.ts';

const DAY_MS = 86_400_000;
const authority = anAuthority('Authority of receivers');
const clients = anAuthority('Authority of clients');
const ofReceiver = authority.issue({ name: 'localhost' });

trusted(authority.cert);

const opened = openedByEach();

/** Credentials with a certificate in that name, said in a header too. */
function certified(name: string, { cert, key }: Certificate = clients.issue({ name })): Credentials {
  return {
    guid: `guid of ${name}`,
    headers: { 'x-name': name },
    secrets: [],
    certificate: { guid: `guid of ${name}`, chain: cert, key },
  };
}

const plain: Credentials = { guid: 'guid of none', headers: { 'x-name': 'none' }, secrets: [] };

/** A request as a receiver saw it: who its certificate and its header say that it is of. */
type Seen = { certificate: string; header: unknown; isResumed: boolean };

type Receiving = TlsOptions & { answer?: (response: ServerResponse, each: number) => unknown; closesEach?: number };

/** Asks for certificates and requires them, unless said otherwise. Closes each `closesEach`th connection after its request. */
async function receiver({ answer = (response) => response.end(), closesEach = Infinity, ...options }: Receiving = {}) {
  const seen: Seen[] = [];
  const open = new Set<Socket>();
  const asked = { ...ofReceiver, ca: [clients.cert], requestCert: true, rejectUnauthorized: true, ...options };
  const server = await tlsServer(asked, (request, response) => {
    const socket = request.socket as TLSSocket;
    if (!open.has(socket)) socket.once('close', () => open.delete(socket));
    open.add(socket);
    const subject = socket.getPeerX509Certificate()?.subject ?? 'CN=none';
    const isResumed = socket.isSessionReused();
    seen.push({ certificate: subject.slice('CN='.length), header: request.headers['x-name'], isResumed });
    if (seen.length % closesEach === 0) response.setHeader('connection', 'close');
    const each = seen.length;
    request.resume().on('end', () => answer(response, each));
  });
  opened.push(server);
  return { ...server, seen, open };
}

function caller(url: string, { body, ...options }: Partial<EndpointOptions> & { body?: Buffer } = {}) {
  const made = openCaller(options);
  opened.push(made);
  const delivery = aDelivery(body && { body });
  return {
    call: (credentials?: Credentials) => made.call(url, { delivery, credentials }),
    reach: () => made.reach(new URL(url).origin),
  };
}

const versions: SecureVersion[] = ['TLSv1.2', 'TLSv1.3'];

describe.each(versions)('a certificate of a client (%s)', (version) => {
  const only = { minVersion: version, maxVersion: version };

  test('is shown to the receiver that asks for one, beside headers', async () => {
    const { url, seen } = await receiver(only);
    expect(await caller(url).call(certified('one'))).toMatchObject({ isDelivered: true });
    expect(seen).toEqual([{ certificate: 'one', header: 'one', isResumed: false }]);
  });

  test('is shown with its intermediates', async () => {
    const intermediate = clients.authority('Intermediate');
    const { cert, key } = intermediate.issue({ name: 'leaf' });
    const { url, seen } = await receiver(only);
    expect(await caller(url).call(certified('leaf', { cert: cert + intermediate.cert, key }))).toMatchObject({
      isDelivered: true,
    });
    expect(seen).toMatchObject([{ certificate: 'leaf' }]);
  });

  test('is shown through a proxy', async () => {
    const { port, seen } = await receiver(only);
    const proxy = await connectProxy(() => ({ port }));
    opened.push(proxy);
    const { call } = caller('https://localhost/', { proxy: readProxy(proxy.url) });
    expect(await call(certified('one'))).toMatchObject({ isDelivered: true });
    expect(seen).toMatchObject([{ certificate: 'one' }]);
  });

  test.each([
    ['of another authority', anAuthority('Another').issue({ name: 'one' })],
    ['that is over', clients.issue({ name: 'one', notAfter: new Date(wallClockMs() - DAY_MS) })],
  ])('%s is refused as the receiver does it: Node.js ends the connection', async (_, certificate) => {
    const { url, seen } = await receiver(only);
    expect(await caller(url).call(certified('one', certificate))).toMatchObject({
      isDelivered: false,
      reason: 'reset',
    });
    expect(seen).toEqual([]);
  });

  test('is shown again where a request is sent again over a new connection', async () => {
    const { port, seen } = await receiver(only);
    const front = await cutting([port, port]);
    const { call } = caller(`https://localhost:${front.port}`);
    const one = certified('one');
    await call(one);
    await untilKept();
    front.cutNext();
    expect(await call(one)).toMatchObject({ isDelivered: true });
    expect(front.connections()).toBe(2);
    expect(seen.map(({ certificate }) => certificate)).toEqual(['one', 'one']);
  });

  test('is never seen with what another client sends, nor resumed by it: 200 requests side by side', async () => {
    const { url, seen } = await receiver({ ...only, rejectUnauthorized: false, closesEach: 3 });
    const { call } = caller(url);
    const both = [certified('one'), certified('two'), plain];
    const sent = Array.from({ length: 200 }, (_, each) => both[each % 3]);
    for (let from = 0; from < 200; from += 10) await Promise.all(sent.slice(from, from + 10).map(call));
    expect(seen).toHaveLength(200);
    expect(seen.filter(({ certificate, header }) => certificate !== header)).toEqual([]);
    for (const name of ['one', 'two', 'none'])
      expect(seen.filter(({ header, isResumed }) => header === name && isResumed).length).toBeGreaterThan(5);
  });

  test('has its session resumed once its connection was closed as idle', async () => {
    const { url, seen, open } = await receiver(only);
    const { call } = caller(url, { keepAliveMs: 20 });
    const one = certified('one');
    for (let each = 0; each < 3; each += 1) {
      expect(await call(one)).toMatchObject({ isDelivered: true });
      await until('its connection is closed', () => open.size === 0);
    }
    expect(seen.map(({ isResumed }) => isResumed)).toEqual([false, true, true]);
  });

  test('that was refused has no session resumed', async () => {
    const answer: Receiving['answer'] = (response, each) => response.writeHead(each === 2 ? 403 : 200).end();
    const { url, seen } = await receiver({ ...only, closesEach: 1, answer });
    const { call } = caller(url);
    const one = certified('one');
    for (let each = 0; each < 4; each += 1) await call(one);
    expect(seen.map(({ isResumed }) => isResumed)).toEqual([false, true, false, true]);
  });

  test('that replaces one is shown at once, and what is under way ends with the one before', async () => {
    const held: ServerResponse[] = [];
    const answer: Receiving['answer'] = (response, each) => (each === 1 ? held.push(response) : response.end());
    const { url, seen, open } = await receiver({ ...only, answer });
    const { call } = caller(url, { keepAliveMs: 20 });
    const before = call(certified('before'));
    await until('it is asked', () => held.length === 1);
    expect(await call(certified('after'))).toMatchObject({ isDelivered: true });
    for (const response of held) response.end();
    expect(await before).toMatchObject({ isDelivered: true });
    await until('both connections are closed', () => open.size === 0);
    expect(seen.map(({ certificate }) => certificate)).toEqual(['before', 'after']);
  });

  test('that is missing leaves a receiver reachable, as far as our own network is concerned', async () => {
    const { url } = await receiver(only);
    expect(await caller(url).reach()).toMatchObject({ isReached: true });
  });
});

describe('a receiver that wants the certificate after the handshake, which Node.js cannot show by TLS 1.3', () => {
  const byVersion = async (refuse: (response: ServerResponse) => unknown, options: Receiving = {}) => {
    const versionsSeen: (string | null)[] = [];
    const answer: Receiving['answer'] = (response) => {
      const socket = response.socket as TLSSocket;
      versionsSeen.push(socket.getProtocol());
      if (socket.getProtocol() === 'TLSv1.2') response.end();
      else refuse(response);
    };
    const receiving = await receiver({ requestCert: false, answer, ...options });
    return { ...receiving, versionsSeen };
  };

  test.each<[string, (response: ServerResponse) => unknown]>([
    ['403', (response) => response.writeHead(403).end('no')],
    ['403 with a body without an end', (response) => response.writeHead(403).write('x'.repeat(100_000))],
    ['401', (response) => response.writeHead(401).end()],
    ['a reset', (response) => response.destroy()],
  ])('and answers %s is sent the request again by TLS 1.2, and all others from then on', async (_, refuse) => {
    const { url, versionsSeen } = await byVersion(refuse);
    const { call } = caller(url, { body: Buffer.from('{}') });
    const one = certified('one');
    expect(await call(one)).toMatchObject({ isDelivered: true, status: 200 });
    expect(await call(one)).toMatchObject({ isDelivered: true });
    expect(versionsSeen).toEqual(['TLSv1.3', 'TLSv1.2', 'TLSv1.2']);
    // Without a certificate there is nothing to show.
    expect(await call(plain)).toMatchObject({ isDelivered: false });
    expect(versionsSeen.slice(3)).toEqual(['TLSv1.3']);
  });

  test('and refuses that too is heard', async () => {
    const { url, seen } = await receiver({
      requestCert: false,
      answer: (response) => response.writeHead(403).end('no'),
    });
    expect(await caller(url).call(certified('one'))).toMatchObject({ status: 403, reason: 'http_4xx', body: 'no' });
    expect(seen).toHaveLength(2);
  });

  test('and speaks no TLS 1.2 is heard', async () => {
    const { url, seen } = await byVersion((response) => response.writeHead(403).end('no'), { minVersion: 'TLSv1.3' });
    expect(await caller(url).call(certified('one'))).toMatchObject({ status: 403, reason: 'http_4xx', body: 'no' });
    expect(seen).toHaveLength(1);
  });

  test('but asked for it before is not sent it again', async () => {
    const { url, seen } = await receiver({ answer: (response) => response.writeHead(403).end() });
    expect(await caller(url).call(certified('one'))).toMatchObject({ status: 403 });
    expect(seen).toHaveLength(1);
  });
});

test('whatever clients send in whatever order, the receiver sees the certificate of each', async () => {
  const known = [plain, certified('one'), certified('two'), certified('three')];
  const { url, seen } = await receiver({ rejectUnauthorized: false, closesEach: 4 });
  const groups = fc.array(fc.array(fc.integer({ min: 0, max: 3 }), { minLength: 1, maxLength: 6 }), { maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(groups, async (sent) => {
      const { call } = caller(url);
      for (const group of sent) await Promise.all(group.map((each) => call(known[each])));
      await opened.pop()?.[Symbol.asyncDispose]();
      for (const { certificate, header } of seen.splice(0)) expect(certificate).toBe(header);
    }),
    { numRuns: 30 },
  );
});

describe('a receiver that requires a certificate, and is shown none,', () => {
  const refused = { isDelivered: false, reason: 'tls_certificate_required' };

  test('is told apart by TLS 1.3, and has not been lost on the way', async () => {
    const { url, seen } = await receiver();
    const result = await caller(url).call();
    expect(result).toMatchObject({ ...refused, ip: '127.0.0.1', tlsMs: expect.any(Number) });
    expect(result).not.toHaveProperty('lostAt');
    expect(seen).toEqual([]);
  });

  test('is told apart where the request does not go out at once', async () => {
    const { url } = await receiver();
    expect(await caller(url, { body: Buffer.alloc(64 * 1024, 'y') }).call()).toMatchObject(refused);
  });

  test('is told apart where it has required none over the connection before', async () => {
    const [open, closed] = [await receiver({ requestCert: false }), await receiver()];
    const front = await cutting([open.port, closed.port]);
    const { call } = caller(`https://localhost:${front.port}`);
    expect(await call()).toMatchObject({ isDelivered: true });
    await untilKept();
    front.cutNext();
    const result = await call();
    expect(result).toMatchObject(refused);
    expect(result).not.toHaveProperty('lostAt');
  });

  test('is not told apart by TLS 1.2', async () => {
    const { url } = await receiver({ maxVersion: 'TLSv1.2' });
    expect(await caller(url).call()).toMatchObject({ reason: 'tls_failed', lostAt: 'connecting' });
  });
});

test.each([
  [42, 'bad_certificate'],
  [43, 'unsupported_certificate'],
  [44, 'certificate_revoked'],
  [45, 'certificate_expired'],
  [46, 'certificate_unknown'],
  [48, 'unknown_ca'],
  [49, 'access_denied'],
  [116, 'certificate_required'],
])(
  'alert %d, %s, says that a certificate is required; before the receiver has shown itself, anything may have sent it',
  async (alert) => {
    const server = await tcpServer((socket) =>
      socket.once('data', () => socket.end(Buffer.from([21, 3, 3, 0, 2, 2, alert]))),
    );
    opened.push(server);
    const result = await caller(server.url.replace('http:', 'https:')).call(certified('one'));
    expect(result).toMatchObject({ reason: 'tls_certificate_required', lostAt: 'connecting' });
  },
);

test('a certificate that TLS does not take fails the attempt, and nothing is connected to', async () => {
  const { url, connections } = await receiver();
  const { cert } = clients.issue({ name: 'one' });
  const unusable = certified('one', { cert, key: clients.key });
  const { call } = caller(url);
  for (let each = 0; each < 2; each += 1) {
    const result = await call(unusable);
    expect(result).toMatchObject({ isDelivered: false, reason: 'credentials_unavailable' });
    expect(result).not.toHaveProperty('lostAt');
  }
  expect(connections()).toBe(0);
});

/** Passes connections on to these ports in turn, and resets one when told to, as soon as its client sends more. */
async function cutting(ports: number[]): Promise<TestServer & { cutNext: () => void }> {
  let isToBeCut = false;
  const server = await tcpServer((socket) => {
    const onward = connect(ports.shift() ?? NOBODY_PORT, '127.0.0.1').on('error', () => undefined);
    socket.on('close', () => onward.destroy());
    socket.on('data', (chunk) => {
      if (isToBeCut) socket.resetAndDestroy();
      else onward.write(chunk);
      isToBeCut = false;
    });
    onward.pipe(socket);
  });
  opened.push(server);
  return { ...server, cutNext: () => void (isToBeCut = true) };
}

/** Waits until a connection is free for another request: a turn of the event loop after its response. */
async function untilKept(): Promise<void> {
  for (let turn = 0; turn < 3; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}
