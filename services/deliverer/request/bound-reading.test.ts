import { afterEach, describe, expect, test } from '@jest/globals';
import { systemClock } from '@waybell/runtime/clock';
import { readNetworks } from '@waybell/runtime/networks';
import { attempting } from '../testing/attempting.ts';
import { aDelivery } from '../testing/delivery.ts';
import { httpServer, sayingServer, type TestServer } from '../testing/server.ts';
import { openEndpoints } from './call-endpoint.ts';

const LONG_MS = 60_000;

const opened: AsyncDisposable[] = [];
afterEach(async () => {
  for (const each of opened.splice(0).toReversed()) await each[Symbol.asyncDispose]();
});

/** Calls that server, with ample limits. */
async function caller(starting: Promise<TestServer>) {
  const server = await starting;
  const endpoints = openEndpoints({
    limits: { shipper: { handoverMs: LONG_MS, responseMs: 2 * LONG_MS }, carrier: { responseMs: LONG_MS } },
    networks: readNetworks(['127.0.0.0/8', '::1/128']),
    connectTimeoutMs: LONG_MS,
    keepAliveMs: 2 * LONG_MS,
    userAgent: 'Waybell',
  });
  opened.push(server, endpoints);
  const call = () =>
    attempting(endpoints.callEndpoint)({
      delivery: aDelivery(),
      callbackUrl: server.url,
      verificationToken: '',
      signingSecrets: [],
    });
  return { server, call };
}

describe('a receiver that sends more than any receiver needs', () => {
  test.each([
    ['interim answers', 'HTTP/1.1 102 Processing\r\n\r\n'],
    ['empty lines', '\r\n'],
  ])('has its connection ended: %s', async (_what, text) => {
    const { call } = await caller(sayingServer(text.repeat(200_000)));
    expect(await call()).toMatchObject({ isDelivered: false, reason: 'invalid_response' });
  });

  test('is not one that answers many requests over one connection', async () => {
    // Bytes are counted while each answer is awaited.
    const answer = 'y'.repeat(60_000);
    const { server, call } = await caller(
      httpServer((_, response) => systemClock.after(150, () => response.end(answer))),
    );
    // Enough requests that each of two connections carries more than one answer may have, with one to spare.
    for (let each = 0; each < 12; each += 1) expect(await call()).toMatchObject({ isDelivered: true });
    // If asked again at once, undici opens a second connection, because the first is still busy with its last request.
    expect(server.connections()).toBeLessThanOrEqual(2);
  });
});
