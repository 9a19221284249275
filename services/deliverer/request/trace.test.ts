import { describe, expect, test } from '@jest/globals';
import { endedWithin } from '@waybell/runtime/testing/ended-within';
import { until } from '@waybell/runtime/testing/until';
import { TurnedClock } from '@waybell/runtime/turned-clock';
import type { EndpointOptions } from './call-endpoint.ts';
import { anAuthority } from '@waybell/runtime/testing/certificate';
import { openedByEach, trusted } from '@waybell/runtime/testing/shared';
import { aDelivery } from '../testing/delivery.ts';
import { httpServer, NOBODY_PORT, tcpServer, tlsServer, type TestServer } from '@waybell/runtime/testing/server';
import { openCaller } from '../testing/caller.ts';

const LONG_MS = 60_000;
const authority = anAuthority('Test authority');
const certificate = authority.issue({ name: 'localhost' });
const aNumber: unknown = expect.any(Number);
const at = (...addresses: string[]) => ({
  resolveHost: async () => addresses.map((address) => ({ address, family: 4 as const })),
});

const opened = openedByEach();
trusted(authority.cert);

function caller(what: Partial<EndpointOptions> = {}) {
  const made = openCaller({ ...at('127.0.0.1'), ...what });
  opened.push(made);
  return (callbackUrl: string, delivery = aDelivery(), verificationToken = '') =>
    made.call(callbackUrl, { delivery, verificationToken });
}

const serve = (starting: Promise<TestServer>) => opened.use(starting);

const answering = (text = '') => serve(httpServer((_, response) => response.end(text)));

/** Returns the parts of an answer that connecting took. */
const parts = (answer: object) => Object.keys(answer).filter((name) => /^(dns|connect|tls)Ms$/.test(name));

describe('an attempt says of its connection', () => {
  test('where it led, and what looking up and connecting took', async () => {
    const { port } = await answering();
    const answer = await caller()(`http://me:secret@localhost:${port}/hook?token=secret`);
    expect(answer).toMatchObject({ ip: '127.0.0.1', url: `http://localhost:${port}/hook?token=***` });
    expect(parts(answer)).toEqual(['dnsMs', 'connectMs']);
  });

  test('what TLS took, and nothing of names where the address stands in the URL', async () => {
    const { url } = await serve(tlsServer(certificate, (_, response) => response.end()));
    expect(parts(await caller()(url))).toEqual(['dnsMs', 'connectMs', 'tlsMs']);
    const { port } = await answering();
    expect(parts(await caller()(`http://127.0.0.1:${port}`))).toEqual(['connectMs']);
  });

  test('the address in a URL with dots at its end, which is looked up nowhere', async () => {
    const { port } = await answering();
    const resolveHost = () => Promise.reject(new Error('it is not looked up'));
    expect(await caller({ resolveHost })(`http://127.0.0.1..:${port}/`)).toMatchObject({
      ip: '127.0.0.1',
      status: 200,
    });
  });

  test('how long the name took', async () => {
    const clock = new TurnedClock();
    const { url } = await serve(
      httpServer((_, response) => {
        clock.skipTo(250);
        response.end();
      }),
    );
    const resolveHost = async () => {
      clock.skipTo(100);
      return [{ address: '127.0.0.1', family: 4 }];
    };
    expect(await caller({ resolveHost, clock })(url)).toMatchObject({ dnsMs: 100, connectMs: 0, durationMs: 250 });
  });

  test('which of several addresses it was that answered', async () => {
    const { url } = await answering();
    expect(await caller(at('127.0.0.2', '127.0.0.1'))(url)).toMatchObject({ isDelivered: true, ip: '127.0.0.1' });
  });

  test('only where it led, if it was there before', async () => {
    const { url } = await serve(tlsServer(certificate, (_, response) => response.end()));
    const call = caller();
    await call(url);
    let answer = await call(url);
    // If asked again at once, undici opens a second connection, because the first is still busy with its last request.
    for (let tries = 0; tries < 3 && parts(answer).length > 0; tries += 1) answer = await call(url);
    expect(answer).toMatchObject({ isDelivered: true, ip: '127.0.0.1', firstByteMs: aNumber });
    expect(parts(answer)).toEqual([]);
  });

  test('what connecting took each time, where each request has to', async () => {
    const { url } = await serve(httpServer((_, response) => response.setHeader('connection', 'close').end()));
    const call = caller();
    for (let each = 0; each < 3; each += 1) expect(parts(await call(url))).toEqual(['dnsMs', 'connectMs']);
  });

  test('what connecting took it, of many at once', async () => {
    const { url, connections } = await answering();
    const call = caller();
    const first = await Promise.all(Array.from({ length: 20 }, () => call(url)));
    expect(first.filter((answer) => parts(answer).length > 0)).toHaveLength(connections());
  });

  test('the same with a body that undici takes its time for', async () => {
    const { url } = await answering();
    const answer = await caller()(url, aDelivery({ body: Buffer.alloc(100_000) }));
    expect(answer).toMatchObject({ ip: '127.0.0.1' });
    expect(parts(answer)).toEqual(['dnsMs', 'connectMs']);
  });
});

describe('an attempt that fails says', () => {
  test('the address that refuses', async () => {
    const answer = await caller()(`http://localhost:${NOBODY_PORT}`);
    expect(answer).toMatchObject({ reason: 'connect_refused', ip: '127.0.0.1' });
    expect(parts(answer)).toEqual(['dnsMs']);
  });

  test.each([
    ['http://169.254.169.254/', {}, '169.254.169.254'],
    ['http://inside.example.com/', at('10.0.0.1', '10.0.0.2'), '10.0.0.1'],
  ])('the address that is blocked: %s', async (url, what, ip) => {
    expect(await caller(what)(url)).toMatchObject({ reason: 'blocked_address', ip });
  });

  test('no address where the port is blocked', async () => {
    const answer = await caller({ deniedPorts: new Set([25]) })('http://hooks.example.com:25/');
    expect(answer).toMatchObject({ reason: 'blocked_address', url: 'http://hooks.example.com:25/' });
    expect(answer).not.toHaveProperty('ip');
  });

  test('where it was connecting to when its time was up, and how far it came', async () => {
    const greeted = Promise.withResolvers<void>();
    const { port } = await serve(tcpServer((socket) => socket.once('data', () => greeted.resolve())));
    const clock = new TurnedClock();
    const attempt = caller({ clock })(`https://localhost:${port}`);
    await greeted.promise;
    const answer = await endedWithin({ clock, limitMs: LONG_MS }, attempt);
    expect(answer).toMatchObject({ reason: 'connect_timeout', ip: '127.0.0.1', durationMs: LONG_MS });
    expect(parts(answer)).toEqual(['dnsMs', 'connectMs']);
  });

  test('the address that it could not trust', async () => {
    const { url } = await serve(tlsServer(anAuthority('Another').issue({ name: 'localhost' }), () => undefined));
    expect(await caller()(url)).toMatchObject({ reason: 'tls_untrusted', ip: '127.0.0.1', connectMs: aNumber });
  });
});

describe('an attempt says of the answer', () => {
  test('when it began, however long its body takes', async () => {
    const { url } = await serve(httpServer((_, response) => response.writeHead(200).write('and so on')));
    const clock = new TurnedClock();
    const answer = caller({ clock })(url);
    // The body is read for a second.
    await until('it has begun', () => clock.nextAt() === 1_000);
    expect(await endedWithin({ clock, limitMs: 1_000 }, answer)).toMatchObject({ firstByteMs: 0, durationMs: 1_000 });
  });

  test('how it begins, whatever the status', async () => {
    const { url } = await serve(httpServer((_, response) => response.writeHead(500).end('no\0pe')));
    expect(await caller()(url)).toMatchObject({ status: 500, body: 'no\ufffdpe' });
  });

  test('4 KiB of it, without half a character', async () => {
    const { url } = await answering(`a${'é'.repeat(10_000)}`);
    expect((await caller()(url)).body).toBe(`a${'é'.repeat(2_047)}`);
  });

  test('not the token, where it is sent back', async () => {
    const { url } = await serve(
      httpServer(({ headers }, response) => response.end(`got ${String(headers['x-service-verification-token'])}`)),
    );
    expect((await caller()(url, aDelivery(), 'token-1')).body).toBe('got ***');
  });

  test('nothing where it has no body', async () => {
    const { url } = await answering();
    expect(await caller()(url)).not.toHaveProperty('body');
  });
});
