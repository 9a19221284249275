import { generateKeyPairSync } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import type { TLSSocket, TlsOptions } from 'node:tls';
import { describe, expect, test } from '@jest/globals';
import { Registry } from 'prom-client';
import { countCallbacks } from '../delivery-metrics.ts';
import { anAuthority } from '@waybell/runtime/testing/certificate';
import { openedByEach, trusted } from '@waybell/runtime/testing/shared';
import { tcpServer, tlsServer, type TestServer } from '@waybell/runtime/testing/server';
import { openCaller } from '../testing/caller.ts';

const authority = anAuthority('Test authority');
const certificate = authority.issue({ name: '*.receivers.example' });

const opened = openedByEach();
trusted(authority.cert);

const serve = (starting: Promise<TestServer>) => opened.use(starting);

/** Calls hosts below receivers.example, all of them on this machine, and counts how it connected. */
function caller() {
  const metrics = new Registry();
  const made = openCaller({
    resolveHost: async () => [{ address: '127.0.0.1', family: 4 }],
    observe: countCallbacks(metrics),
  });
  opened.push(made);
  return {
    made,
    call: (host: string, port: number) => made.call(`https://${host}.receivers.example:${port}/`),
    count: async () => {
      const counted = await metrics.getMetricsAsJSON();
      const connections = counted.find(({ name }) => name === 'waybell_callback_connections_total')?.values ?? [];
      return Object.fromEntries(connections.map(({ labels, value }) => [labels['handshake'], value]));
    },
  };
}

/** Closes each connection after its request, and returns whether each was resumed. */
async function closingServer(options: Pick<TlsOptions, 'minVersion' | 'maxVersion' | 'ciphers'> = {}) {
  const resumed: boolean[] = [];
  const server = await serve(
    tlsServer({ ...certificate, ...options }, (request, response) => {
      resumed.push((request.socket as TLSSocket).isSessionReused());
      response.setHeader('connection', 'close').end();
    }),
  );
  return { port: server.port, resumed };
}

describe('a TLS session', () => {
  test.each(['TLSv1.2', 'TLSv1.3'] as const)('is resumed once its connection is closed (%s)', async (version) => {
    const { port, resumed } = await closingServer({ minVersion: version, maxVersion: version });
    const { call, count } = caller();
    for (let each = 0; each < 3; each += 1) expect(await call('a', port)).toMatchObject({ isDelivered: true });
    expect(resumed).toEqual([false, true, true]);
    expect(await count()).toEqual({ full: 1, resumed: 2 });
  });

  test('is kept for each of more hosts than undici would remember', async () => {
    const hosts = Array.from({ length: 110 }, (_, index) => `h${index}`);
    const { port, resumed } = await closingServer();
    const { call } = caller();
    for (const host of [...hosts, ...hosts]) await call(host, port);
    expect(resumed).toEqual(hosts.map(() => false).concat(hosts.map(() => true)));
  });

  test('is let go where connecting with it fails', async () => {
    const { port, resumed } = await closingServer();
    const onward = (socket: Socket) => socket.pipe(connect(port, '127.0.0.1')).pipe(socket);
    const refuse = (socket: Socket) => void socket.once('data', () => socket.resetAndDestroy());
    const turns = [onward, refuse, onward];
    const front = await serve(tcpServer((socket) => turns.shift()?.(socket)));
    const { call } = caller();
    await call('a', front.port);
    expect(await call('a', front.port)).toMatchObject({ reason: 'reset' });
    await call('a', front.port);
    expect(resumed).toEqual([false, false]);
  });
});

test.each(['a.receivers.example.', 'a.receivers.example..'])(
  'a host with a dot at its end is called by its name without: %s',
  async (host) => {
    const said: unknown[] = [];
    const SNICallback: TlsOptions['SNICallback'] = (name, done) => {
      said.push(name);
      done(null);
    };
    const { port } = await serve(
      tlsServer({ ...certificate, SNICallback }, ({ headers }, response) => {
        said.push(headers.host);
        response.end();
      }),
    );
    const callbackUrl = `https://${host}:${port}/`;
    const { made } = caller();
    expect(await made.call(callbackUrl)).toMatchObject({ isDelivered: true });
    expect(await made.reach(new URL(callbackUrl).origin)).toMatchObject({ isReached: true });
    expect(said).toEqual(['a.receivers.example', `a.receivers.example:${port}`, 'a.receivers.example']);
  },
);

const weakly = { ciphers: 'ALL:@SECLEVEL=0' };
const weakPair = generateKeyPairSync('rsa', { modulusLength: 1_024 });

test.each<[string, TlsOptions, string]>([
  [
    'a key that is too small',
    { ...authority.issue({ name: '*.receivers.example', pair: weakPair }), ...weakly },
    'too weak',
  ],
  ['another purpose', authority.issue({ name: '*.receivers.example', purpose: 'clientAuth' }), 'INVALID_PURPOSE: '],
  ['an authority that nobody knows', anAuthority('Other').issue({ name: '*.receivers.example' }), 'UNABLE_TO_'],
])('a certificate with %s is not trusted, and what OpenSSL said of it is kept', async (_, options, said) => {
  const { port } = await serve(tlsServer(options, (__, response) => response.end()));
  const failed = await caller().call('a', port);
  expect(failed).toMatchObject({ reason: 'tls_untrusted', error: expect.stringContaining(said) });
});

test.each([
  [70, 'ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION'],
  [80, 'ERR_SSL_TLSV1_ALERT_INTERNAL_ERROR'],
  [112, 'ERR_SSL_TLSV1_UNRECOGNIZED_NAME'],
])('the alert %d of a receiver is kept by its name', async (alert, error) => {
  const { port } = await serve(
    tcpServer((socket) => socket.once('data', () => socket.end(Buffer.from([0x15, 3, 3, 0, 2, 2, alert])))),
  );
  expect(await caller().call('a', port)).toMatchObject({ reason: 'tls_failed', error });
});

test('a connection to a receiver that speaks no TLS version since 1.2 is not made', async () => {
  const { port } = await closingServer({ minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'ALL:@SECLEVEL=0' });
  expect(await caller().call('a', port)).toMatchObject({ isDelivered: false, reason: 'tls_failed' });
});
