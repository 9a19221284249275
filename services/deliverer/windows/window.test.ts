import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Window, type Ending } from './window.ts';

const LIMITS = { maxSize: 64, slowMs: 1_000 };

/** Fills the window, and has all that is under way end so after so long, again and again. */
function rounds(window: Window, { times, ending, durationMs, at = 0 }: Rounds): number {
  let now = at;
  for (let round = 0; round < times; round += 1) {
    const beganAt = now;
    while (window.hasRoom(now)) window.begin(now);
    now += durationMs;
    while (window.out > 0) window.end({ ending, beganAt, now });
  }
  return now;
}
type Rounds = { times: number; ending: Ending; durationMs: number; at?: number };

describe('a window', () => {
  test('begins with one request, and grows by one for each windowful of answers', () => {
    const window = new Window(LIMITS);
    expect(window.size).toBe(1);
    rounds(window, { times: 20, ending: 'quick', durationMs: 10 });
    expect(window.size).toBeGreaterThan(8);
    expect(window.size).toBeLessThanOrEqual(21);
  });

  test('does not grow while it is not used up', () => {
    const window = new Window(LIMITS);
    rounds(window, { times: 3, ending: 'quick', durationMs: 10 });
    const { size } = window;
    for (let now = 30; now < 1_000; now += 10) {
      window.begin(now);
      window.end({ ending: 'quick', beganAt: now, now: now + 1 });
    }
    expect(window.size).toBe(size);
  });

  test('halves once for all timeouts of one round trip, and lets one pass at a time until there is an answer', () => {
    const window = new Window(LIMITS);
    const now = rounds(window, { times: 60, ending: 'quick', durationMs: 10 });
    const { size } = window;
    rounds(window, { times: 1, ending: 'hung', durationMs: 3_000, at: now });
    expect(window.size).toBe(1);
    window.begin(now + 4_000);
    window.end({ ending: 'quick', beganAt: now + 4_000, now: now + 4_010 });
    expect(window.size).toBeGreaterThanOrEqual(Math.floor(size / 2));
    expect(window.size).toBeLessThanOrEqual(Math.floor(size / 2) + 1);
  });

  test('has no room while nothing is heard for longer than is slow', () => {
    const window = new Window(LIMITS);
    rounds(window, { times: 5, ending: 'quick', durationMs: 10 });
    window.begin(100);
    expect(window.hasRoom(1_100)).toBe(true);
    expect(window.hasRoom(1_101)).toBe(false);
    expect(window.isHung(1_101)).toBe(true);
  });

  test('has patience with an origin that usually takes longer', () => {
    const window = new Window(LIMITS);
    const now = rounds(window, { times: 5, ending: 'slow', durationMs: 2_000 });
    window.begin(now);
    expect(window.hasRoom(now + 5_000)).toBe(true);
    expect(window.hasRoom(now + 7_000)).toBe(false);
  });

  test('goes back to where it began while it is not needed', () => {
    const window = new Window(LIMITS);
    let now = rounds(window, { times: 60, ending: 'quick', durationMs: 10 });
    for (let use = 0; use < 10; use += 1) {
      now += 11_000;
      window.begin(now);
      window.end({ ending: 'quick', beganAt: now, now: now + 1 });
    }
    expect(window.size).toBeLessThanOrEqual(2);
  });

  test('is never smaller than one, nor larger than its limit, whatever happens', () => {
    const step = fc.record({
      begins: fc.nat({ max: 8 }),
      ending: fc.constantFrom<Ending>('quick', 'slow', 'hung'),
      ms: fc.nat({ max: 20_000 }),
    });
    expect(() =>
      fc.assert(
        fc.property(fc.integer({ min: 1, max: 10 }), fc.array(step), (maxSize, steps) => {
          const window = new Window({ ...LIMITS, maxSize });
          let now = 0;
          for (const { begins, ending, ms } of steps) {
            for (let begun = 0; begun < begins && window.hasRoom(now); begun += 1) window.begin(now);
            const beganAt = now;
            now += ms;
            if (window.out > 0) window.end({ ending, beganAt, now });
            if (window.size < 1 || window.size > maxSize || window.out > maxSize) return false;
          }
          return true;
        }),
      ),
    ).not.toThrow();
  });
});
