import { describe, expect, test } from '@jest/globals';
import { until } from '@waybell/runtime/testing/until';
import { inLots } from './in-lots.ts';

const LONG_MS = 600_000;

/** Keeps every lot; each is worked on until `finish` is called, and answers its items with themselves in capitals. */
function aGatherer(options: { largest?: number; gatherMs?: number; atOnce?: number }) {
  const lots: (readonly string[])[] = [];
  const unfinished: (() => void)[] = [];
  const call = inLots(
    async (items: readonly string[]) => {
      lots.push(items);
      await new Promise<void>((resolve) => unfinished.push(resolve));
      if (items.includes('fail')) throw new Error('failed');
      return items.map((item) => item.toUpperCase());
    },
    { largest: 2, gatherMs: LONG_MS, atOnce: 1, ...options },
  );
  return { call, lots, finish: () => unfinished.shift()?.() };
}

describe('inLots', () => {
  test('works at once on a lot that is full, answers each, and leaves no timer', async () => {
    const timers = () => process.getActiveResourcesInfo().filter((resource) => resource === 'Timeout').length;
    const { call, lots, finish } = aGatherer({});
    const before = timers();
    const answers = ['a', 'b'].map(call);
    expect(timers()).toBe(before);
    expect(lots).toEqual([['a', 'b']]);
    finish();
    expect(await Promise.all(answers)).toEqual(['A', 'B']);
  });

  test('works on what comes alone, and gathers what comes soon after', async () => {
    const { call, lots, finish } = aGatherer({ atOnce: 2 });
    const answers = [call('a')];
    await until('it is worked on', () => lots.length > 0);
    answers.push(call('b'));
    const other = aGatherer({});
    void other.call('later, by itself');
    await until('that is worked on', () => other.lots.length > 0);
    expect(lots).toEqual([['a']]);
    answers.push(call('c'));
    expect(lots).toEqual([['a'], ['b', 'c']]);
    finish();
    finish();
    expect(await Promise.all(answers)).toEqual(['A', 'B', 'C']);
  });

  test('works on a lot that is not full when the last is long enough ago', async () => {
    const { call, lots, finish } = aGatherer({ largest: 10, gatherMs: 5 });
    const first = Promise.all(['a', 'b', 'c'].map(call));
    await until('they are worked on', () => lots.length === 1);
    finish();
    expect(await first).toEqual(['A', 'B', 'C']);
    const second = call('d');
    await until('it is worked on, too', () => lots.length === 2);
    finish();
    expect(await second).toBe('D');
  });

  test('gathers what comes while as many are under way as may be', async () => {
    const { call, lots, finish } = aGatherer({ atOnce: 2 });
    const answers = Promise.all(['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'].map(call));
    expect(lots).toEqual([
      ['a', 'b'],
      ['c', 'd'],
    ]);
    for (let lot = 0; lot < 4; lot += 1) {
      finish();
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(lots.slice(2)).toEqual([
      ['e', 'f'],
      ['g', 'h'],
    ]);
    expect(await answers).toHaveLength(8);
  });

  test('gives a failure to everyone in the lot, and goes on', async () => {
    const { call, finish } = aGatherer({ atOnce: 2 });
    const answers = Promise.allSettled(['a', 'fail', 'b', 'c'].map(call));
    finish();
    finish();
    const statuses = (await answers).map(({ status }) => status);
    expect(statuses).toEqual(['rejected', 'rejected', 'fulfilled', 'fulfilled']);
  });
});
