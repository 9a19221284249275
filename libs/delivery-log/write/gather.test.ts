import { describe, expect, test } from '@jest/globals';
import { settled, TurnedClock } from '@waybell/runtime/turned-clock';
import { gather, type GatherOptions } from './gather.ts';

const GATHER_MS = 100;

/** Keeps every batch; each is worked on until `finish` is called, and answers its items with themselves in capitals. */
function aGatherer(options: Partial<GatherOptions> = {}) {
  const clock = new TurnedClock(1_000);
  const batches: (readonly string[])[] = [];
  const unfinished: (() => void)[] = [];
  const callAll = gather(
    async (items: readonly string[]) => {
      batches.push(items);
      await new Promise<void>((resolve) => unfinished.push(resolve));
      if (items.includes('fail')) throw new Error('failed');
      return items.map((item) => item.toUpperCase());
    },
    { largest: 2, gatherMs: GATHER_MS, atOnce: 1, clock, ...options },
  );
  const call = async (item: string) => (await callAll([item]))[0];
  return { call, callAll, batches, clock, finish: () => unfinished.shift()?.() };
}

describe('gather', () => {
  test('works at once on a batch that is full, answers each, and leaves no timer', async () => {
    const { call, batches, clock, finish } = aGatherer();
    const answers = ['a', 'b'].map(call);
    expect(batches).toEqual([['a', 'b']]);
    expect(clock.nextAt()).toBeUndefined();
    finish();
    expect(await Promise.all(answers)).toEqual(['A', 'B']);
  });

  test('works on what comes alone, and gathers what comes soon after until the last batch is long enough ago', async () => {
    const { call, batches, clock, finish } = aGatherer({ largest: 10, atOnce: 2 });
    const answers = [call('a')];
    await clock.runFor(0);
    expect(batches).toEqual([['a']]);
    answers.push(call('b'));
    await clock.runFor(GATHER_MS - 1);
    answers.push(call('c'));
    expect(batches).toEqual([['a']]);
    await clock.runFor(1);
    expect(batches).toEqual([['a'], ['b', 'c']]);
    finish();
    finish();
    expect(await Promise.all(answers)).toEqual(['A', 'B', 'C']);
  });

  test('gathers what comes while as many are under way as may be', async () => {
    const { call, batches, finish } = aGatherer({ atOnce: 2 });
    const answers = Promise.all(['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'].map(call));
    expect(batches).toEqual([
      ['a', 'b'],
      ['c', 'd'],
    ]);
    for (let batch = 0; batch < 3; batch += 1) {
      finish();
      await settled();
    }
    expect(batches.slice(2)).toEqual([['e', 'f', 'g', 'h']]);
    expect(await answers).toHaveLength(8);
  });

  test('gives a failure to everyone in the batch, and goes on', async () => {
    const { call, finish } = aGatherer({ atOnce: 2 });
    const answers = Promise.allSettled(['a', 'fail', 'b', 'c'].map(call));
    finish();
    finish();
    const statuses = (await answers).map(({ status }) => status);
    expect(statuses).toEqual(['rejected', 'rejected', 'fulfilled', 'fulfilled']);
  });

  test('answers each call with the answers of its own items', async () => {
    const { callAll, clock, batches, finish } = aGatherer({ largest: 10 });
    const answers = [callAll(['a', 'b']), callAll([]), callAll(['c'])];
    await clock.runFor(0);
    expect(batches).toEqual([['a', 'b', 'c']]);
    finish();
    expect(await Promise.all(answers)).toEqual([['A', 'B'], [], ['C']]);
  });
});
