import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { readNetworks } from '@waybell/runtime/forbidden-address';
import { resolverOf } from '@waybell/runtime/names/resolve-host';
import { dnsServer, type DnsServer } from '@waybell/runtime/testing/dns-server';
import { TurnedClock } from '@waybell/runtime/turned-clock';
import { attempting } from '../testing/attempting.ts';
import { aDelivery } from '../testing/delivery.ts';
import { httpServer, type TestServer } from '../testing/server.ts';
import { openEndpoints } from './call-endpoint.ts';

const LONG_MS = 60_000;
const [ALLOWED, FORBIDDEN] = ['127.0.0.1', '127.0.0.2'];
const hosts = new Set<string>();

let server: TestServer;
let names: DnsServer;
let addresses: string[];

beforeAll(async () => {
  server = await httpServer(
    ({ socket }, response) => {
      hosts.add(String(socket.localAddress));
      response.setHeader('connection', 'close').end();
    },
    { host: '0.0.0.0' },
  );
  names = await dnsServer((name) => (name === 'turns.test' ? { addresses, ttlSeconds: 0 } : 'absent'));
});

beforeEach(() => hosts.clear());

afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await names[Symbol.asyncDispose]();
});

describe('a name that changes its answer', () => {
  test('never leads where callbacks do not go, however often it does', async () => {
    const clock = new TurnedClock();
    await using endpoints = openEndpoints({
      limits: { shipper: { handoverMs: LONG_MS, responseMs: 2 * LONG_MS }, carrier: { responseMs: LONG_MS } },
      networks: readNetworks([`${ALLOWED}/32`]),
      connectTimeoutMs: LONG_MS,
      keepAliveMs: 2 * LONG_MS,
      userAgent: 'Waybell',
      clock,
      resolveHost: resolverOf({
        names: { hosts: new Map(), search: [], ndots: 1 },
        servers: [names.address],
        clock,
      }),
    });
    const callbackUrl = `http://turns.test:${server.port}/`;
    const call = () =>
      attempting(endpoints.callEndpoint)({
        delivery: aDelivery(),
        callbackUrl,
        verificationToken: '',
        signingSecrets: [],
      });
    for (const turn of [[ALLOWED], [FORBIDDEN], [ALLOWED, FORBIDDEN], [FORBIDDEN, ALLOWED], [ALLOWED], [FORBIDDEN]]) {
      addresses = turn.map(String);
      // The previous answer is remembered for a second.
      await clock.runFor(1_001);
      expect(await call()).toMatchObject(
        turn.includes(ALLOWED) ? { isDelivered: true, ip: ALLOWED } : { reason: 'blocked_address', ip: FORBIDDEN },
      );
    }
    expect([...hosts]).toEqual([ALLOWED]);
  });
});
