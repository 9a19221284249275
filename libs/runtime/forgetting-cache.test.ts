import { describe, expect, test } from '@jest/globals';
import { forgettingCache } from './forgetting-cache.ts';
import { TurnedClock } from './turned-clock.ts';

const MINUTE_MS = 60_000;

describe('forgettingCache', () => {
  test('forgets, by itself, what is not used for as long as it may be, and keeps what is', async () => {
    const clock = new TurnedClock(1);
    const cache = forgettingCache<object>({ max: 10, unusedMs: 10 * MINUTE_MS, clock });
    cache.set('used', {}).set('unused', {}).set('peeked at', {});
    for (let minute = 0; minute < 12; minute += 1) {
      cache.get('used');
      cache.peek('peeked at');
      await clock.runFor(MINUTE_MS);
    }
    expect([...cache.keys()]).toEqual(['used']);
    expect(cache.get('used')).toBeDefined();
  });

  test('has no timer once it is empty, and one again when something comes', async () => {
    const clock = new TurnedClock(1);
    const cache = forgettingCache<object>({ max: 10, unusedMs: MINUTE_MS, clock });
    for (const key of ['one', 'two']) {
      cache.set(key, {});
      await clock.runFor(3 * MINUTE_MS);
      expect([cache.size, clock.nextAt()]).toEqual([0, undefined]);
    }
  });

  test('forgets what was used longest ago where there is no room', () => {
    const cache = forgettingCache<object>({ max: 2, unusedMs: MINUTE_MS, clock: new TurnedClock(1) });
    cache.set('one', {}).set('two', {}).get('one');
    cache.set('three', {});
    expect([...cache.keys()].toSorted()).toEqual(['one', 'three']);
  });
});
