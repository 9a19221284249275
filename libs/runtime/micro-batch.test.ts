import { describe, expect, test } from '@jest/globals';
import { microBatch } from './micro-batch.ts';
import { until } from './testing/until.ts';
import { settled } from './turned-clock.ts';
import { Unavailable } from './unavailable.ts';

/** Look-ups that end when they are told to, by their number. */
function byHand() {
  const queries: { keys: string[]; answer: () => void; fail: (error: Error) => void }[] = [];
  const loadMany = (keys: string[]) =>
    new Promise<string[]>((resolve, reject) => {
      queries.push({ keys, answer: () => resolve(valuesOf(keys)), fail: reject });
    });
  return { queries, loadMany };
}

const valuesOf = (keys: string[]) => keys.map((key) => `value of ${key}`);

/** Each key is a name of its own. */
const nameOf = (key: string) => key;

const away = new Unavailable('postgres', async () => undefined);

/** Look-ups of which those with a guilty key fail, and the keys of each. */
function withGuilty(isGuilty: (key: string) => boolean) {
  const queries: string[][] = [];
  const loadMany = async (keys: string[]) => {
    queries.push(keys);
    const guilty = keys.find(isGuilty);
    if (guilty !== undefined) throw new Error(`cannot look for ${guilty}`);
    return valuesOf(keys);
  };
  return { queries, loadMany };
}

/** Returns each key's value, or the message of its error. */
async function endsOf(found: Promise<string>[]): Promise<unknown[]> {
  const ends = await Promise.allSettled(found);
  return ends.map((end) => (end.status === 'fulfilled' ? end.value : String(end.reason.message)));
}

describe('microBatch', () => {
  test('asks at once for one key', async () => {
    const find = microBatch(async (keys) => valuesOf(keys), { nameOf });
    expect(await find('a')).toBe('value of a');
  });

  test('sends keys asked for in one go together, each once', async () => {
    const { queries, loadMany } = byHand();
    const find = microBatch(loadMany, { nameOf });
    const found = Promise.all(['a', 'a', 'b', 'a'].map(find));
    await settled();
    expect(queries.map(({ keys }) => keys)).toEqual([['a', 'b']]);
    queries[0]?.answer();
    expect(await found).toEqual(['value of a', 'value of a', 'value of b', 'value of a']);
  });

  test('puts no more into a query than it may weigh, but for its last', async () => {
    const { queries, loadMany } = byHand();
    const find = microBatch(loadMany, { nameOf, heaviest: { weigh: (key) => key.length, most: 4 } });
    const found = Promise.all(['aaa', 'bbb', 'cccccc', 'd'].map(find));
    await until('all are answered', () => {
      for (const { answer } of queries) answer();
      return queries.length === 3;
    });
    await found;
    expect(queries.map(({ keys }) => keys)).toEqual([['aaa', 'bbb'], ['cccccc'], ['d']]);
  });

  test('collects what is asked for while its queries are under way', async () => {
    const { queries, loadMany } = byHand();
    const find = microBatch(loadMany, { nameOf });
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
    const find = microBatch(loadMany, { nameOf });
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
        return keys;
      },
      { nameOf, largest: 10 },
    );
    const keys = Array.from({ length: 35 }, (_, index) => String(index));
    expect(await Promise.all(keys.map(find))).toEqual(keys);
    expect(sizes).toEqual([10, 10, 10, 5]);
  });

  test('takes keys of one name for one', async () => {
    const asked: number[] = [];
    const load = async (keys: { name: string }[]) => {
      asked.push(keys.length);
      return keys.map(({ name }) => name);
    };
    const find = microBatch(load, { nameOf: ({ name }) => name });
    const keys = ['a', 'b', 'a'].map((name) => ({ name }));
    expect(await Promise.all(keys.map(find))).toEqual(['a', 'b', 'a']);
    expect(asked).toEqual([2]);
  });

  test('fails only the key that breaks its query, and finds it by halves', async () => {
    const { queries, loadMany } = withGuilty((key) => key === 'c');
    const find = microBatch(loadMany, { nameOf });
    const ends = await endsOf(['a', 'b', 'c', 'd', 'e'].map(find));
    expect(ends).toEqual(['value of a', 'value of b', 'cannot look for c', 'value of d', 'value of e']);
    expect(queries.map((keys) => keys.join(''))).toEqual(['abcde', 'ab', 'cde', 'c', 'de']);
  });

  test('asks less than twice for each key where all are guilty, one query at a time', async () => {
    const { queries, loadMany } = withGuilty(() => true);
    let [underWay, most] = [0, 0];
    const find = microBatch(
      async (keys: string[]) => {
        most = Math.max(most, (underWay += 1));
        await settled();
        return loadMany(keys).finally(() => (underWay -= 1));
      },
      { nameOf, concurrency: 1 },
    );
    const keys = Array.from({ length: 50 }, (_, index) => String(index));
    expect(await endsOf(keys.map(find))).toEqual(keys.map((key) => `cannot look for ${key}`));
    expect(queries).toHaveLength(99);
    expect(most).toBe(1);
  });

  test('looks for what is asked for later while it still halves', async () => {
    const { queries, loadMany } = byHand();
    const find = microBatch(loadMany, { nameOf });
    const failed = endsOf([find('a'), find('b')]);
    await settled();
    queries[0]?.fail(new Error('a mistake'));
    const later = find('c');
    await settled();
    expect(queries.map(({ keys }) => keys)).toEqual([['a', 'b'], ['a'], ['c']]);
    queries[1]?.fail(new Error('a mistake'));
    queries[2]?.answer();
    expect(await later).toBe('value of c');
    await settled();
    queries[3]?.answer();
    expect(await failed).toEqual(['a mistake', 'value of b']);
  });

  test('fails all at once where what it asks is away, and goes on', async () => {
    const { queries, loadMany } = byHand();
    const find = microBatch(loadMany, { nameOf, concurrency: 1 });
    const failed = endsOf([find('a'), find('b')]);
    await settled();
    const later = find('c');
    queries[0]?.fail(away);
    await settled();
    expect(queries.map(({ keys }) => keys)).toEqual([['a', 'b'], ['c']]);
    expect(await failed).toEqual([away.message, away.message]);
    queries[1]?.answer();
    expect(await later).toBe('value of c');
  });

  test('asks for no other half once what it asks is away', async () => {
    const { queries, loadMany } = byHand();
    const failed = endsOf(['a', 'b', 'c', 'd'].map(microBatch(loadMany, { nameOf })));
    await settled();
    queries[0]?.fail(new Error('a mistake'));
    await settled();
    queries[1]?.fail(away);
    await settled();
    expect(queries).toHaveLength(2);
    expect(await failed).toEqual(Array.from({ length: 4 }, () => away.message));
  });
});
