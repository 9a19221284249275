import { beforeEach, describe, expect, test } from '@jest/globals';
import { resolverOf } from '@waybell/runtime/names/resolve-host';
import { readNetworks } from '@waybell/runtime/networks';
import { dnsServer } from '@waybell/runtime/testing/dns-server';
import { TurnedClock } from '@waybell/runtime/turned-clock';
import { shared } from '@waybell/runtime/testing/shared';
import { httpServer } from '@waybell/runtime/testing/server';
import { openCaller } from '../testing/caller.ts';

const [ALLOWED, FORBIDDEN, OTHER] = ['127.0.0.1', '127.0.0.2', '127.0.0.3'] as const;
const hosts = new Set<string>();

let addresses: string[];

const server = shared(() =>
  httpServer(
    ({ socket }, response) => {
      hosts.add(String(socket.localAddress));
      response.setHeader('connection', 'close').end();
    },
    { host: '0.0.0.0' },
  ),
);
const names = shared(() => dnsServer((name) => (name === 'turns.test' ? { addresses, ttlSeconds: 0 } : 'absent')));

beforeEach(() => hosts.clear());

/** Calls the server by the name, whose answers are remembered for a second. */
function caller(clock: TurnedClock, port: number) {
  const made = openCaller({
    networks: readNetworks([`${ALLOWED}/32`, `${OTHER}/32`]),
    clock,
    resolveHost: resolverOf({
      names: { hosts: new Map(), search: [], ndots: 1 },
      servers: [names.address],
      clock,
    }),
  });
  return { ...made, call: () => made.call(`http://turns.test:${port}/`) };
}

describe('a name that changes its answer', () => {
  test.each([
    ['followed within a minute, over however busy a connection', OTHER, { isDelivered: true, ip: OTHER }],
    ['left within a minute where it is forbidden now', FORBIDDEN, { reason: 'blocked_address', ip: FORBIDDEN }],
  ])('is %s', async (_, movedTo, result) => {
    // The cache of names counts an entry of time 0 as one without an end.
    const clock = new TurnedClock(1);
    await using kept = await httpServer((__, response) => response.end(), { host: '0.0.0.0' });
    await using called = caller(clock, kept.port);
    addresses = [ALLOWED];
    expect(await called.call()).toMatchObject({ ip: ALLOWED });
    addresses = [movedTo];
    for (let second = 0; second <= 63; second += 1) {
      await clock.runFor(1_000);
      await called.call();
    }
    // Over each of the connections, if there are two: undici opens one while the first is still busy with its last request.
    for (let each = 0; each < 4; each += 1) expect(await called.call()).toMatchObject(result);
    expect(kept.connections()).toBeLessThanOrEqual(4);
  });

  test('never leads where callbacks do not go, however often it does', async () => {
    const clock = new TurnedClock();
    await using called = caller(clock, server.port);
    for (const turn of [[ALLOWED], [FORBIDDEN], [ALLOWED, FORBIDDEN], [FORBIDDEN, ALLOWED], [ALLOWED], [FORBIDDEN]]) {
      addresses = [...turn];
      // The previous answer is remembered for a second.
      await clock.runFor(1_001);
      expect(await called.call()).toMatchObject(
        turn.includes(ALLOWED) ? { isDelivered: true, ip: ALLOWED } : { reason: 'blocked_address', ip: FORBIDDEN },
      );
    }
    expect([...hosts]).toEqual([ALLOWED]);
  });
});
