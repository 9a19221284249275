import { describe, expect, test } from '@jest/globals';
import { withLastKnown } from './last-known.ts';
import { endedWithin } from './testing/ended-within.ts';
import { TurnedClock } from './turned-clock.ts';
import { Unavailable } from './unavailable.ts';

const away = new Unavailable('postgres', async () => undefined);

/** A look-up with a given answer or error, and a clock. */
function aLookUp({ maxAgeMs = 1_000, maxEntries = 10 } = {}) {
  const world = {
    clock: new TurnedClock(),
    answer: 'first' as string | undefined,
    error: undefined as Error | undefined,
    hangs: undefined as Promise<void> | undefined,
  };
  const load = async () => {
    await world.hangs;
    if (world.error !== undefined) throw world.error;
    return world.answer;
  };
  return { world, find: withLastKnown(load, { maxAgeMs, maxEntries, clock: world.clock }) };
}

describe('withLastKnown', () => {
  test('answers what is so now, as long as it can be asked', async () => {
    const { world, find } = aLookUp();
    await find('a');
    world.answer = 'second';
    expect(await find('a')).toBe('second');
  });

  test('answers what was so last while it cannot', async () => {
    const { world, find } = aLookUp();
    await find('a');
    world.error = away;
    world.clock.skipTo(1_000);
    expect(await find('a')).toBe('first');
  });

  test('says so of what was so last, if told how', async () => {
    const clock = new TurnedClock();
    let isAway = false;
    const load = async (key: string) => {
      if (isAway) throw away;
      return key;
    };
    const asLastKnown = (value: string) => `${value}, once`;
    const find = withLastKnown(load, { maxAgeMs: 1, maxEntries: 1, clock, asLastKnown });
    expect(await find('a')).toBe('a');
    isAway = true;
    expect(await find('a')).toBe('a, once');
    expect(await find('a')).toBe('a, once');
    isAway = false;
    expect(await find('a')).toBe('a');
  });

  test('remembers also that there was nothing', async () => {
    const { world, find } = aLookUp();
    world.answer = undefined;
    await find('a');
    world.error = away;
    expect(await find('a')).toBeUndefined();
  });

  test('does not wait for each look-up of a server that hangs, and hears when it is back', async () => {
    const { world, find } = aLookUp();
    await find('a');
    world.error = away;
    await find('a');
    const hanging = Promise.withResolvers<void>();
    world.hangs = hanging.promise;
    world.error = undefined;
    world.answer = 'second';
    expect(await endedWithin({ clock: world.clock, limitMs: 250 }, find('a'))).toBe('first');
    hanging.resolve();
    world.hangs = undefined;
    expect(await find('a')).toBe('second');
  });

  test('does not answer what is too old, or was never known', async () => {
    const { world, find } = aLookUp();
    await find('a');
    world.error = away;
    world.clock.skipTo(1_001);
    await expect(find('a')).rejects.toBe(away);
    await expect(find('b')).rejects.toBe(away);
  });

  test('does not hide an error of the look-up itself', async () => {
    const { world, find } = aLookUp();
    await find('a');
    world.error = new Error('a mistake');
    await expect(find('a')).rejects.toThrow('a mistake');
  });

  test('forgets what was confirmed longest ago when there is no room', async () => {
    const { world, find } = aLookUp({ maxEntries: 2 });
    for (const key of ['a', 'b', 'a', 'c']) await find(key);
    world.error = away;
    expect(await find('a')).toBe('first');
    expect(await find('c')).toBe('first');
    await expect(find('b')).rejects.toBe(away);
  });
});
