import { expect, test } from '@jest/globals';
import { TurnedClock } from '@waybell/runtime/turned-clock';
import { reaching } from './reach.ts';

test.each(['https://', 'https:///', 'nonsense', ''])('what leads nowhere is not reached: "%s"', async (origin) => {
  const connect = () => {
    throw new Error('it is not to be connected to');
  };
  expect(await reaching({ connect, limitMs: 1, clock: new TurnedClock() })(origin)).toEqual({ isReached: false });
});
