import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { ResponseSpeed, Admission } from './endpoint.ts';
import { Rest } from './known-endpoint.ts';
import { Window } from './window.ts';
import { settled } from '@waybell/runtime/turned-clock';
import { keyOf, SomeEndpoints } from '../testing/endpoints.ts';

const LIMITS = { maxSize: 64, slowMs: 1_000 };

/** Fills the window, and ends all requests after this time, again and again. */
function rounds(window: Window, { times, speed, durationMs, at = 0 }: Rounds): number {
  let now = at;
  for (let round = 0; round < times; round += 1) {
    const beganAt = now;
    const { size } = window;
    for (let out = 1; out <= size; out += 1) window.begin(out, now);
    now += durationMs;
    for (let out = size; out > 0; out -= 1) endIn(window, { speed, beganAt, now });
  }
  return now;
}
type Rounds = { times: number; speed: ResponseSpeed; durationMs: number; at?: number };

function endIn(window: Window, { speed, ...times }: { speed: ResponseSpeed; beganAt: number; now: number }): void {
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

const one = keyOf('one');

describe('a rest', () => {
  test('is 1, 2, 4 … 60 s, again for each sign begun after it, and 1 s again once it took one', () => {
    const rest = new Rest();
    let now = 0;
    const next = () => {
      rest.tooMuch({ beganAt: now, now });
      const ms = rest.until - now;
      now = rest.until;
      return ms;
    };
    expect(Array.from({ length: 8 }, next)).toEqual([1, 2, 4, 8, 16, 32, 60, 60].map((s) => s * 1_000));
    rest.accepted();
    expect(next()).toBe(1_000);
  });

  test('is no longer for what was begun before it was over', () => {
    const rest = new Rest();
    rest.tooMuch({ beganAt: 0, now: 10 });
    rest.tooMuch({ beganAt: 5, now: 400 });
    rest.tooMuch({ beganAt: 500, now: 1_005 });
    expect(rest.until).toBe(1_010);
  });

  test('is as long as the endpoint asks for, never shorter than it asked for before', () => {
    const rest = new Rest();
    rest.tooMuch({ beganAt: 0, now: 0, askedMs: 30_000 });
    rest.tooMuch({ beganAt: 0, now: 10, askedMs: 5_000 });
    rest.tooMuch({ beganAt: 0, now: 20 });
    expect(rest.until).toBe(30_000);
  });
});

describe('a rest of what comes again soon', () => {
  test.each([
    ['1 s', { retryMs: 1_000 }, 1_250],
    ['4 s', { retryMs: 4_000 }, 4_250],
    ['2 s, longer asked for', { retryMs: 2_000, askedMs: 5_000 }, 5_000],
    ['a minute', { retryMs: 60_000 }, 1_000],
    ['never', {}, 1_000],
  ])('in %s lasts until it is there', (_, said, ms) => {
    const rest = new Rest();
    rest.tooMuch({ beganAt: 0, now: 0, ...said });
    expect(rest.until).toBe(ms);
  });
});

describe('an endpoint that says "too much"', () => {
  async function saysTooMuch(some: SomeEndpoints, tooMuch = {}): Promise<void> {
    const end = await some.begun(one, 'retry');
    await some.clock.runFor(10);
    end('quick', tooMuch);
  }

  test('has its window halved, once for all that was under way, and not grown by what it refuses', async () => {
    const some = new SomeEndpoints({ maxSize: 16 });
    await some.grow(one);
    const ends = await some.begin(one, 16);
    await some.clock.runFor(10);
    for (const end of ends) end('quick', {});
    await some.clock.runFor(1_000);
    await some.begin(one, 8);
    expect(await some.told(one)).toBe('waits');
  });

  test('gets nothing new until it has rested, and what has attempts behind it on time', async () => {
    const some = new SomeEndpoints();
    await saysTooMuch(some, { askedMs: 5_000 });
    for (const origin of ['fresh', 'waited'] as const) expect(await some.told(one, origin)).toBe('busy');
    expect(some.demand(one)).toEqual({ rows: 0, askAt: 5_010 });
    await some.once(one, 'quick', 1, 'retry');
    expect(await some.told(one, 'by hand')).toBe('granted');
    await some.clock.runFor(4_999);
    expect(some.notified).toEqual([one.endpoint]);
    expect(some.demand(one).rows).toBeGreaterThan(0);
    expect(await some.told(one)).toBe('granted');
  });

  test('has what is new put away that waits in hand, and serves what has attempts behind it first, however long that takes', async () => {
    const some = new SomeEndpoints();
    const [first, ...others] = await some.begin(one, 4);
    const told: string[] = [];
    const waits = (origin: 'fresh' | 'waited' | 'retry') =>
      void some.admit(one, origin).then((admission: Admission) => told.push(`${origin} ${admission.kind}`));
    for (const origin of ['fresh', 'waited', 'retry', 'retry'] as const) waits(origin);
    first?.('quick', { askedMs: 60_000 });
    await settled();
    expect(told).toEqual(['fresh full', 'waited full']);
    await some.clock.runFor(900);
    for (const end of others) end('quick');
    await settled();
    expect(told.slice(2)).toEqual(['retry granted', 'retry granted']);
  });

  test('keeps what has attempts behind it in hand beyond its patience', async () => {
    const some = new SomeEndpoints({ slowMs: 60_000 });
    await saysTooMuch(some, { askedMs: 60_000 });
    const [first] = await Promise.all([some.begun(one, 'retry'), some.begun(one, 'retry')]);
    const waiting = some.admit(one, 'retry');
    await some.clock.runFor(30_000);
    first?.('quick');
    expect((await waiting).kind).toBe('granted');
  });
});
