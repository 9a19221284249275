import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { ResponseSpeed } from './endpoint.ts';
import { Window } from './window.ts';

const LIMITS = { maxSize: 64, slowMs: 1_000 };

/** Fills the window, and ends all requests after this time, again and again. */
function rounds(window: Window, { times, speed, durationMs, at = 0 }: Rounds): number {
  let now = at;
  for (let round = 0; round < times; round += 1) {
    const beganAt = now;
    const { size } = window;
    for (let out = 1; out <= size; out += 1) window.begin(out, now);
    now += durationMs;
    for (let out = size; out > 0; out -= 1) end(window, { speed, beganAt, now });
  }
  return now;
}
type Rounds = { times: number; speed: ResponseSpeed; durationMs: number; at?: number };

function end(window: Window, { speed, ...times }: { speed: ResponseSpeed; beganAt: number; now: number }): void {
  if (speed === 'hung') window.halve(times);
  else window.answer(times);
}

describe('a window', () => {
  test('begins with four requests, and grows by one for each windowful of answers', () => {
    const window = new Window(LIMITS);
    expect(window.size).toBe(4);
    rounds(window, { times: 20, speed: 'quick', durationMs: 10 });
    expect(window.size).toBeGreaterThan(16);
    expect(window.size).toBeLessThanOrEqual(24);
  });

  test('grows to no size that was too much, for ten seconds', () => {
    const window = new Window(LIMITS, { size: 8 });
    window.begin(8, 0);
    window.answer({ beganAt: 0, now: 5, isTooMuch: true });
    window.answer({ beganAt: 0, now: 5, isTooMuch: true });
    expect(window.size).toBe(4);
    const later = rounds(window, { times: 30, speed: 'quick', durationMs: 10, at: 10 });
    expect(window.size).toBe(7);
    rounds(window, { times: 30, speed: 'quick', durationMs: 10, at: later + 10_000 });
    expect(window.size).toBeGreaterThan(8);
  });

  test('does not grow while it is not used up', () => {
    const window = new Window(LIMITS);
    for (let now = 0; now < 1_000; now += 10) {
      window.begin(1, now);
      window.answer({ beganAt: now, now: now + 1 });
    }
    expect(window.size).toBe(4);
  });

  test('halves once for all timeouts of one round trip, down to one', () => {
    const window = new Window(LIMITS);
    const now = rounds(window, { times: 60, speed: 'quick', durationMs: 10 });
    const { size } = window;
    const later = rounds(window, { times: 1, speed: 'hung', durationMs: 3_000, at: now });
    expect(window.size).toBe(Math.floor(size / 2));
    rounds(window, { times: 20, speed: 'hung', durationMs: 3_000, at: later });
    expect(window.size).toBe(1);
  });

  test('has patience for three times as long as is usual', () => {
    const window = new Window(LIMITS);
    expect(window.silenceLimitMs).toBe(1_000);
    rounds(window, { times: 5, speed: 'slow', durationMs: 2_000 });
    expect(window.silenceLimitMs).toBe(6_000);
  });

  test('goes back to four while more are not needed', () => {
    const window = new Window(LIMITS);
    let now = rounds(window, { times: 60, speed: 'quick', durationMs: 10 });
    for (let use = 0; use < 10; use += 1) {
      now += 11_000;
      window.begin(1, now);
      window.answer({ beganAt: now, now: now + 1 });
    }
    expect(window.size).toBe(4);
  });

  test('is never smaller than one, nor larger than its limit, whatever happens', () => {
    const step = fc.record({
      speed: fc.constantFrom<ResponseSpeed>('quick', 'slow', 'hung'),
      ms: fc.nat({ max: 20_000 }),
    });
    expect(() =>
      fc.assert(
        fc.property(fc.integer({ min: 1, max: 10 }), fc.array(step), (maxSize, steps) => {
          const window = new Window({ ...LIMITS, maxSize });
          let now = 0;
          for (const { speed, ms } of steps) {
            now = rounds(window, { times: 1, speed, durationMs: ms, at: now });
            if (window.size < 1 || window.size > maxSize) return false;
          }
          return true;
        }),
      ),
    ).not.toThrow();
  });
});
