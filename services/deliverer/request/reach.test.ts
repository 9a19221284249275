import { expect, test } from '@jest/globals';
import { TurnedClock } from '@waybell/runtime/turned-clock';
import { reaching } from './call-endpoint.ts';
import type { Connector } from './connection.ts';
import { BlockedAddress } from './safe-address.ts';

test('where callbacks never go is no place that a receiver is at', async () => {
  const connect: Connector = ({ connection, hostname }, done) => {
    connection.ip = '0.0.0.0';
    done(new BlockedAddress(hostname, '0.0.0.0'), null);
  };
  const reach = reaching({ connect, limitMs: 1, clock: new TurnedClock() });
  expect(await reach('https://receiver.test')).toEqual({ isReached: false });
});

test.each(['https://', 'https:///', 'nonsense', ''])('what leads nowhere is not reached: "%s"', async (origin) => {
  const connect = () => {
    throw new Error('it is not to be connected to');
  };
  expect(await reaching({ connect, limitMs: 1, clock: new TurnedClock() })(origin)).toEqual({ isReached: false });
});
