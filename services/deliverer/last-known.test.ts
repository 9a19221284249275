import { describe, expect, test } from '@jest/globals';
import { type NoResult, noResult } from '@waybell/line/messages';
import { withLastKnown } from './find-target.ts';
import { endedWithin } from '@waybell/runtime/testing/ended-within';
import { TurnedClock } from '@waybell/runtime/turned-clock';
import { Unavailable } from '@waybell/runtime/unavailable';

const away = new Unavailable('postgres', async () => undefined);
const unknown = { kind: 'away', error: away };

/** A look-up with a given answer or error, and a clock; `find` asks for one key. */
function aLookUp({ maxAgeMs = 1_000, maxEntries = 10 } = {}) {
  const world = {
    clock: new TurnedClock(),
    answer: 'first' as string | NoResult | undefined,
    error: undefined as Error | undefined,
    hangs: undefined as Promise<void> | undefined,
  };
  const load = async (keys: readonly string[]) => {
    await world.hangs;
    if (world.error !== undefined) throw world.error;
    return keys.map(() => world.answer);
  };
  const findMany = withLastKnown<string | undefined>(load, { maxAgeMs, maxEntries, clock: world.clock });
  return { world, findMany, find: async (key: string) => (await findMany([key]))[0] };
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
    const load = async (keys: readonly string[]) => {
      if (isAway) throw away;
      return keys;
    };
    const asLastKnown = (value: string) => `${value}, once`;
    const find = withLastKnown(load, { maxAgeMs: 1, maxEntries: 1, clock, asLastKnown });
    expect(await find(['a'])).toEqual(['a']);
    isAway = true;
    expect(await find(['a'])).toEqual(['a, once']);
    expect(await find(['a'])).toEqual(['a, once']);
    isAway = false;
    expect(await find(['a'])).toEqual(['a']);
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
    expect(await find('a')).toEqual(unknown);
    expect(await find('b')).toEqual(unknown);
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
    expect(await find('b')).toEqual(unknown);
  });

  test('says for each of several whether it is known: one that is not holds up no other', async () => {
    const { world, find, findMany } = aLookUp();
    for (world.answer of ['of a', 'of b']) await find(world.answer.slice(-1));
    world.error = away;
    expect(await findMany(['b', 'new', 'a', 'b'])).toEqual(['of b', unknown, 'of a', 'of b']);
    const hanging = Promise.withResolvers<void>();
    world.hangs = hanging.promise;
    const found = findMany(['new', 'a']);
    expect(await endedWithin({ clock: world.clock, limitMs: 250 }, found)).toEqual([unknown, 'of a']);
    hanging.resolve();
  });

  test('takes an error of one for no answer of it, and keeps what was so last', async () => {
    const { world, find } = aLookUp();
    await find('a');
    world.answer = noResult(new Error('cannot be opened'));
    expect(await find('a')).toBe(world.answer);
    world.error = away;
    expect(await find('a')).toBe('first');
  });

  test('keeps the first of answers that are the same, as long as one of them is young enough', async () => {
    const clock = new TurnedClock();
    let isAway = false;
    const load = async (keys: readonly string[]) => {
      if (isAway) throw away;
      return keys.map((name) => ({ name, at: clock.now() }));
    };
    const isSame = (one: { name: string }, other: { name: string }) => one.name === other.name;
    const find = withLastKnown(load, { maxAgeMs: 1_000, maxEntries: 1, clock, isSame });
    await find(['a']);
    clock.skipTo(900);
    await find(['a']);
    isAway = true;
    clock.skipTo(1_900);
    expect(await find(['a'])).toEqual([{ name: 'a', at: 0 }]);
    clock.skipTo(1_901);
    expect(await find(['a'])).toEqual([unknown]);
  });
});
