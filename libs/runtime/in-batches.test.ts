import { describe, expect, test } from '@jest/globals';
import { inBatches } from './in-batches.ts';

/** Answers each item with itself in capitals, and keeps every batch. */
function aBatcher(largest = 10) {
  const batches: (readonly string[])[] = [];
  const call = inBatches(
    async (items: readonly string[]) => {
      batches.push(items);
      await Promise.resolve();
      if (items.includes('fail')) throw new Error('failed');
      return items.map((item) => item.toUpperCase());
    },
    { largest, keysOf: (item) => item.split('+').map((part) => part.slice(0, 1)) },
  );
  return { call, batches };
}

describe('inBatches', () => {
  test('takes together what comes together, and answers each', async () => {
    const { call, batches } = aBatcher();
    expect(await Promise.all(['a', 'b', 'c'].map(call))).toEqual(['A', 'B', 'C']);
    expect(batches).toEqual([['a', 'b', 'c']]);
    expect(await call('d')).toBe('D');
    expect(batches).toHaveLength(2);
  });

  test('makes no batch larger than it may be', async () => {
    const { call, batches } = aBatcher(2);
    await Promise.all(['a', 'b', 'c'].map(call));
    expect(batches).toEqual([['a', 'b'], ['c']]);
  });

  test('keeps what shares a key apart, in the order in which it came', async () => {
    const { call, batches } = aBatcher();
    await Promise.all(['a1', 'a2+b1', 'b2', 'c1', 'a3'].map(call));
    expect(batches).toEqual([['a1', 'c1'], ['a2+b1'], ['b2', 'a3']]);
  });

  test('gives a failure to everyone in the batch, and goes on', async () => {
    const { call } = aBatcher();
    const results = await Promise.allSettled(['a', 'fail', 'a2'].map(call));
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'fulfilled']);
  });
});
