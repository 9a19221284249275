import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { settled, TurnedClock } from '@waybell/runtime/turned-clock';
import { RunGatherer, type Gathering } from './gatherers.ts';

const AFTER_MS = 100;

/** The keys of `a1+b2`: `a` and `b`. */
const keysOf = (message: string) => message.split('+').map((part) => part.slice(0, 1));

/** Keeps every batch; each is handled until it is finished. */
function aGatherer(gathering: Gathering<string> = {}) {
  const clock = new TurnedClock(1_000);
  const names: string[] = [];
  const batches: string[][] = [];
  const unfinished: (() => void)[] = [];
  const gatherer = new RunGatherer<string>({
    ...gathering,
    clock,
    run({ members, messages }) {
      expect(members.map((member) => names[member])).toEqual(messages);
      batches.push([...messages]);
      return new Promise((resolve) => unfinished.push(resolve));
    },
  });
  const add = (messages: readonly string[], isAlone: boolean) =>
    gatherer.add({ members: messages.map((message) => names.push(message) - 1), messages }, { isAlone });
  return {
    batches,
    clock,
    underWay: () => unfinished.length,
    add: (...messages: string[]) => add(messages, false),
    addApart: (...messages: string[]) => add(messages, true),
    async finish(): Promise<void> {
      unfinished.shift()?.();
      await settled();
    },
  };
}

describe('messages that are to be handled', () => {
  test('go at once, together, and without a timer', () => {
    const { add, batches, clock } = aGatherer();
    add('a', 'b');
    expect(batches).toEqual([['a', 'b']]);
    expect(clock.nextAt()).toBeUndefined();
  });

  test('go together if they come while others are asked for, and in their order', async () => {
    const { add, batches, finish } = aGatherer();
    for (const message of ['a', 'b', 'c', 'd']) add(message);
    await finish();
    await finish();
    expect(batches).toEqual([['a'], ['b', 'c', 'd']]);
  });

  test('go as many at a time as may be', async () => {
    const { add, batches, finish } = aGatherer({ largest: 2 });
    add('a', 'b', 'c', 'd', 'e');
    for (let times = 0; times < 3; times += 1) await finish();
    expect(batches).toEqual([['a', 'b'], ['c', 'd'], ['e']]);
  });

  test('go in as many batches at once as may be', async () => {
    const { add, batches, finish } = aGatherer({ largest: 2, atOnce: 2 });
    add('a', 'b', 'c', 'd', 'e');
    expect(batches).toEqual([
      ['a', 'b'],
      ['c', 'd'],
    ]);
    await finish();
    expect(batches.slice(2)).toEqual([['e']]);
  });

  test('never go with one that shares a key, but after it', async () => {
    const { add, batches, finish } = aGatherer({ keysOf });
    add('a1', 'a2+b1', 'b2', 'c1', 'a3');
    for (let times = 0; times < 3; times += 1) await finish();
    expect(batches).toEqual([['a1', 'c1'], ['a2+b1'], ['b2', 'a3']]);
  });

  test('of a batch that stays as it is go before others, and with no others', async () => {
    const { add, addApart, batches, finish } = aGatherer();
    add('a');
    add('b');
    addApart('c', 'd');
    addApart('e');
    add('f');
    for (let times = 0; times < 4; times += 1) await finish();
    expect(batches).toEqual([['a'], ['c', 'd'], ['e'], ['b', 'f']]);
  });
});

describe('where few messages are to wait for more', () => {
  test('they go a while after the batch before, and the first goes at once', async () => {
    const { add, batches, clock } = aGatherer({ afterMs: AFTER_MS, atOnce: 2 });
    add('a');
    add('b');
    await clock.runFor(AFTER_MS - 1);
    add('c');
    expect(batches).toEqual([['a']]);
    await clock.runFor(1);
    expect(batches).toEqual([['a'], ['b', 'c']]);
    expect(clock.nextAt()).toBeUndefined();
  });

  test('as many as may go together go at once, and those that are to go by themselves', async () => {
    const { add, addApart, batches, clock } = aGatherer({ afterMs: AFTER_MS, atOnce: 9, largest: 2 });
    add('a');
    add('b');
    addApart('c');
    add('d', 'e');
    expect(batches).toEqual([['a'], ['c'], ['b', 'd']]);
    await clock.runFor(AFTER_MS);
    expect(batches.slice(3)).toEqual([['e']]);
  });

  test('they wait for a place too', async () => {
    const { add, batches, clock, finish } = aGatherer({ afterMs: AFTER_MS });
    add('a');
    add('b');
    await clock.runFor(2 * AFTER_MS);
    expect(batches).toEqual([['a']]);
    await finish();
    expect(batches).toEqual([['a'], ['b']]);
  });
});

describe('whatever comes, and whenever batches are done', () => {
  const messages = fc.array(fc.constantFrom('a', 'b', 'c', 'a+b', 'c+d', 'e'), { minLength: 1, maxLength: 6 });
  const happening = fc.oneof(
    fc.record({ what: fc.constantFrom('add' as const, 'apart' as const), messages }),
    fc.record({ what: fc.constantFrom('finish' as const, 'time' as const) }),
  );
  const gatherings = fc.record({
    largest: fc.integer({ min: 1, max: 5 }),
    atOnce: fc.integer({ min: 1, max: 3 }),
    afterMs: fc.constantFrom(0, AFTER_MS),
  });

  test('each goes once, after those that share a key, in batches as they may be', async () => {
    const kept = fc.asyncProperty(gatherings, fc.array(happening, { maxLength: 40 }), async (gathering, all) => {
      const { add, addApart, batches, clock, finish, underWay } = aGatherer({ ...gathering, keysOf });
      const added: string[] = [];
      const apart: string[][] = [];
      for (const each of all) {
        if (each.what === 'finish') await finish();
        else if (each.what === 'time') await clock.runFor(AFTER_MS / 2);
        else if ('messages' in each) {
          const named = each.messages.map((message, place) => `${message} ${added.length + place}`);
          added.push(...named);
          if (each.what === 'add') add(...named);
          else addApart(...named);
          if (each.what === 'apart') apart.push(named);
        }
        expect(underWay()).toBeLessThanOrEqual(gathering.atOnce);
      }
      while (underWay() > 0 || clock.nextAt() !== undefined) {
        await finish();
        await clock.runFor(AFTER_MS);
      }
      expect(batches.flat().toSorted()).toEqual(added.toSorted());
      const others = batches.filter((batch) => !apart.some((each) => each.join() === batch.join()));
      expect(batches.length - others.length).toBe(apart.length);
      for (const batch of others) {
        expect(batch.length).toBeGreaterThan(0);
        expect(batch.length).toBeLessThanOrEqual(gathering.largest);
        const keys = batch.flatMap(keysOf);
        expect(new Set(keys).size).toBe(keys.length);
      }
      for (const key of 'abcde') {
        const numbers = others.flat().flatMap((message) => (keysOf(message).includes(key) ? [numberOf(message)] : []));
        expect(numbers).toEqual(numbers.toSorted((one, other) => one - other));
      }
    });
    await fc.assert(kept, { numRuns: 200 });
  });
});

const numberOf = (message: string) => Number(message.split(' ')[1]);
