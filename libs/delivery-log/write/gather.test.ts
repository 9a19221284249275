import { describe, expect, test } from '@jest/globals';
import { settled, TurnedClock } from '@waybell/runtime/turned-clock';
import { inLots, type InLotsOptions } from './gather.ts';

const GATHER_MS = 100;

/** Keeps every lot; each is worked on until `finish` is called, and answers its items with themselves in capitals. */
function aGatherer(options: Partial<InLotsOptions<string>> = {}) {
  const clock = new TurnedClock(1_000);
  const lots: (readonly string[])[] = [];
  const unfinished: (() => void)[] = [];
  const callAll = inLots(
    async (items: readonly string[]) => {
      lots.push(items);
      await new Promise<void>((resolve) => unfinished.push(resolve));
      if (items.includes('fail')) throw new Error('failed');
      return items.map((item) => item.toUpperCase());
    },
    { largest: 2, gatherMs: GATHER_MS, atOnce: 1, clock, ...options },
  );
  const call = async (item: string) => (await callAll([item]))[0];
  return { call, callAll, lots, clock, finish: () => unfinished.shift()?.() };
}

describe('inLots', () => {
  test('works at once on a lot that is full, answers each, and leaves no timer', async () => {
    const { call, lots, clock, finish } = aGatherer();
    const answers = ['a', 'b'].map(call);
    expect(lots).toEqual([['a', 'b']]);
    expect(clock.nextAt()).toBeUndefined();
    finish();
    expect(await Promise.all(answers)).toEqual(['A', 'B']);
  });

  test('works on what comes alone, and gathers what comes soon after until the last lot is long enough ago', async () => {
    const { call, lots, clock, finish } = aGatherer({ largest: 10, atOnce: 2 });
    const answers = [call('a')];
    await clock.runFor(0);
    expect(lots).toEqual([['a']]);
    answers.push(call('b'));
    await clock.runFor(GATHER_MS - 1);
    answers.push(call('c'));
    expect(lots).toEqual([['a']]);
    await clock.runFor(1);
    expect(lots).toEqual([['a'], ['b', 'c']]);
    finish();
    finish();
    expect(await Promise.all(answers)).toEqual(['A', 'B', 'C']);
  });

  test('gathers what comes while as many are under way as may be', async () => {
    const { call, lots, finish } = aGatherer({ atOnce: 2 });
    const answers = Promise.all(['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'].map(call));
    expect(lots).toEqual([
      ['a', 'b'],
      ['c', 'd'],
    ]);
    for (let lot = 0; lot < 3; lot += 1) {
      finish();
      await settled();
    }
    expect(lots.slice(2)).toEqual([['e', 'f', 'g', 'h']]);
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

  test('answers a call when all its items are worked on, though one of them stays for the next lot, once', async () => {
    const stay = () => new Set(['slow']);
    const { callAll, lots, clock, finish } = aGatherer({ stay, largest: 10 });
    const answers = callAll(['a', 'slow', 'b']);
    await clock.runFor(0);
    expect(lots).toEqual([['a', 'b']]);
    finish();
    await clock.runFor(GATHER_MS);
    expect(lots).toEqual([['a', 'b'], ['slow']]);
    finish();
    expect(await answers).toEqual(['A', 'SLOW', 'B']);
  });

  test('takes up again what all stayed', async () => {
    const { callAll, lots, clock, finish } = aGatherer({ stay: () => new Set(['slow']), largest: 1 });
    const answers = callAll(['slow']);
    await clock.runFor(GATHER_MS);
    expect(lots).toEqual([['slow']]);
    finish();
    expect(await answers).toEqual(['SLOW']);
    expect(clock.nextAt()).toBeUndefined();
  });
});
