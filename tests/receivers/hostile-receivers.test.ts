import { describe, expect, test } from '@jest/globals';
import { aDelivery } from '@waybell/deliverer/testing/delivery';
import { failureReasons } from '@waybell/line/reasons';
import { readNetworks } from '@waybell/runtime/networks';
import { openCaller } from '@waybell/deliverer/testing/caller';
import { trusted } from '@waybell/runtime/testing/shared';
import type { End, HostileReceiver } from './hostile-receiver.ts';
import { hostileReceivers } from './hostile-receivers.ts';
import { trustedCertificate } from './secure-receivers.ts';

// Long enough for a timeout to be the receiver's doing; where none is expected, the limit must not be what ends it.
const SHORT_MS = 1_000;
const LONG_MS = 60_000;

trusted(trustedCertificate);

const isTimeout = (end: End) => end.endsWith('_timeout');

function endpointsWithin(limitMs: number) {
  return openCaller({
    limits: { shipper: { handoverMs: limitMs, responseMs: LONG_MS }, carrier: { responseMs: limitMs } },
    networks: readNetworks(['127.0.0.0/8', '::1/128', '255.255.255.255/32']),
  });
}

/** How two attempts at it end, one after the other, within this limit. */
async function endsOf(receiver: HostileReceiver, limitMs: number): Promise<(End | undefined)[]> {
  await using server = await receiver.start();
  await using endpoints = endpointsWithin(limitMs);
  const call = async (): Promise<End | undefined> => {
    const { isDelivered, reason } = await endpoints.call(server.url, { delivery: aDelivery(receiver.request) });
    return isDelivered ? 'delivered' : reason;
  };
  return [await call(), await call()];
}

describe('an attempt at a receiver that', () => {
  test.concurrent.each(Object.entries(hostileReceivers))('%s ends as is documented', async (_, receiver) => {
    const { end, secondEnd = end } = receiver;
    let limitMs = isTimeout(end) ? SHORT_MS : LONG_MS;
    let ends = await endsOf(receiver, limitMs);
    // On a machine that stands still a short limit is over before the attempt has come to what the receiver does.
    while (limitMs < LONG_MS && ends.some((each) => each !== end && each !== undefined && isTimeout(each))) {
      limitMs *= 4;
      ends = await endsOf(receiver, limitMs);
    }
    expect(ends).toEqual([end, secondEnd]);
  });
});

describe('hostileReceivers', () => {
  test('lead to every reason but those that come before a receiver, or are for what has not been met yet', () => {
    const ends = Object.values(hostileReceivers).flatMap(({ end, secondEnd = end }) => [end, secondEnd]);
    const { unknown: _, credentials_unavailable: __, ...known } = failureReasons;
    expect(new Set(ends)).toEqual(new Set(['delivered', ...Object.keys(known)]));
  });
});
