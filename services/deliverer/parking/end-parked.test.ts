import { expect, test } from '@jest/globals';
import { TurnedClock } from '@waybell/runtime/turned-clock';
import { EndParked } from './end-parked.ts';
import { OwnedEndpoints } from './owned-endpoints.ts';
import type { ParkedRowsInHand } from './parked-rows-in-hand.ts';

test.each([
  [{ count: 10, bytes: 0 }, 0],
  [{ count: 0, bytes: 1_000 }, 0],
  [{ count: 9, bytes: 999 }, 1],
])('takes nothing more that is over while too much is in hand, by number or by weight: %j', async (inHand, looks) => {
  const clock = new TurnedClock();
  let asked = 0;
  const ending = new EndParked({
    store: {
      take: async () => {
        asked += 1;
        return [];
      },
    },
    owned: new OwnedEndpoints(),
    inHand: { ...inHand, reading: (read: () => unknown) => read() } as unknown as ParkedRowsInHand,
    limit: { rows: 10, bytes: 1_000 },
    clock,
    isPaused: () => false,
    isLeaving: () => false,
    onFailed: () => undefined,
  });
  ending.begin({ name: 's', account: 'a', subscriptions: ['s'], isOverLimit: false });
  await clock.runFor(1_000);
  expect(asked).toBe(looks);
  ending.clear();
});
