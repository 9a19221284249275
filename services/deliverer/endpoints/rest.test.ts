import { describe, expect, test } from '@jest/globals';
import { settled } from '@waybell/runtime/turned-clock';
import { keyOf, SomeEndpoints } from '../testing/endpoints.ts';
import type { Admission } from './endpoint.ts';
import { Rest } from './window.ts';

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
    expect(some.endpoints.demand(one)).toEqual({ rows: 0, askAt: 5_010 });
    await some.once(one, 'quick', 1, 'retry');
    expect(await some.told(one, 'by hand')).toBe('granted');
    await some.clock.runFor(4_999);
    expect(some.notified).toEqual([one.endpoint]);
    expect(some.endpoints.demand(one).rows).toBeGreaterThan(0);
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
