import { describe, expect, test } from '@jest/globals';
import { microBatch } from './micro-batch.ts';
import { settled } from './turned-clock.ts';

/** Look-ups that end when they are told to, by their number. */
function byHand() {
  const queries: { keys: string[]; answer: () => void; fail: (error: Error) => void }[] = [];
  const loadMany = (keys: string[]) =>
    new Promise<Map<string, string>>((resolve, reject) => {
      const answers = keys.filter((key) => key !== 'unknown').map((key): [string, string] => [key, `value of ${key}`]);
      queries.push({ keys, answer: () => resolve(new Map(answers)), fail: reject });
    });
  return { queries, loadMany };
}

describe('microBatch', () => {
  test('asks at once for one key', async () => {
    const find = microBatch(async (keys) => new Map(keys.map((key) => [key, `value of ${key}`])));
    expect(await find('a')).toBe('value of a');
  });

  test('sends keys asked for in one go together, each once', async () => {
    const { queries, loadMany } = byHand();
    const find = microBatch(loadMany);
    const found = Promise.all(['a', 'a', 'b', 'a'].map(find));
    await settled();
    expect(queries.map(({ keys }) => keys)).toEqual([['a', 'b']]);
    queries[0]?.answer();
    expect(await found).toEqual(['value of a', 'value of a', 'value of b', 'value of a']);
  });

  test('answers undefined for what was not found', async () => {
    expect(await microBatch(async () => new Map())('unknown')).toBeUndefined();
  });

  test('collects what is asked for while its queries are under way', async () => {
    const { queries, loadMany } = byHand();
    const find = microBatch(loadMany);
    const found = [];
    for (const key of ['a', 'b', 'c', 'd']) {
      found.push(find(key));
      await settled();
    }
    expect(queries.map(({ keys }) => keys)).toEqual([['a'], ['b']]);
    queries[0]?.answer();
    await settled();
    expect(queries.map(({ keys }) => keys)).toEqual([['a'], ['b'], ['c', 'd']]);
    queries.forEach(({ answer }) => answer());
    expect(await Promise.all(found)).toEqual(['value of a', 'value of b', 'value of c', 'value of d']);
  });

  test('asks again for a key that is asked for after its query began', async () => {
    const { queries, loadMany } = byHand();
    const find = microBatch(loadMany);
    const first = find('a');
    await settled();
    const second = find('a');
    await settled();
    expect(queries).toHaveLength(2);
    queries.forEach(({ answer }) => answer());
    await Promise.all([first, second]);
  });

  test('puts no more into one query than it may', async () => {
    const sizes: number[] = [];
    const find = microBatch(
      async (keys) => {
        sizes.push(keys.length);
        return new Map(keys.map((key) => [key, key]));
      },
      { largest: 10 },
    );
    const keys = Array.from({ length: 35 }, (_, index) => String(index));
    expect(await Promise.all(keys.map(find))).toEqual(keys);
    expect(sizes).toEqual([10, 10, 10, 5]);
  });

  test('tells all who asked that a query failed, and goes on', async () => {
    const { queries, loadMany } = byHand();
    const find = microBatch(loadMany, { concurrency: 1 });
    const failed = Promise.allSettled([find('a'), find('b')]);
    await settled();
    const later = find('c');
    queries[0]?.fail(new Error('away'));
    expect((await failed).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    await settled();
    queries[1]?.answer();
    expect(await later).toBe('value of c');
  });
});
