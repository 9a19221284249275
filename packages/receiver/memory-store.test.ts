import { describe, expect, test } from '@jest/globals';
import { memoryStore } from './memory-store.ts';
import type { Store } from './store.ts';

describe('memoryStore', () => {
  const aStore = (what = {}) => {
    const clock = { now: 0 };
    return { clock, store: memoryStore({ leaseMs: 5, keepMs: 10, now: () => clock.now, ...what }) };
  };
  const begin = async (store: Store, id: string) => {
    const begun = await store.begin(id);
    return begun.kind === 'new' ? begun.lease : begun.kind;
  };

  test('forgets the oldest beyond its limit, and what is older than it keeps', async () => {
    const { clock, store } = aStore({ limit: 2 });
    for (const id of ['a', 'b', 'c']) await store.finish(id, await begin(store, id));
    expect(await store.begin('b')).toEqual({ kind: 'done' });
    expect(await store.begin('a')).toMatchObject({ kind: 'new' });
    clock.now = 11;
    expect(await store.begin('c')).toMatchObject({ kind: 'new' });
  });

  test('ends a lease that is not renewed, and takes nothing from its last owner', async () => {
    const { clock, store } = aStore();
    const lost = await begin(store, 'a');
    clock.now = 4;
    await store.renew('a', lost);
    clock.now = 8;
    expect(await begin(store, 'a')).toBe('in_progress');
    clock.now = 9;
    const lease = await begin(store, 'a');
    await expect(store.finish('a', lost)).rejects.toThrow('another process began it');
    for (const what of ['renew', 'fail'] as const) await store[what]('a', lost);
    expect(await begin(store, 'a')).toBe('in_progress');
    await store.finish('a', lease);
    expect(await begin(store, 'a')).toBe('done');
  });

  test('records what ended after its lease was over, where nobody else began it', async () => {
    const { clock, store } = aStore();
    const lease = await begin(store, 'a');
    clock.now = 6;
    await store.finish('a', lease);
    expect(await begin(store, 'a')).toBe('done');
  });

  test('counts leases, and forgets those that are over', async () => {
    const { clock, store } = aStore({ limit: 2 });
    for (const id of ['a', 'b']) await store.finish(id, await begin(store, id));
    for (const id of ['c', 'd']) await begin(store, id);
    expect(await store.begin('b')).toMatchObject({ kind: 'new' });
    clock.now = 6;
    await store.finish('e', await begin(store, 'e'));
    expect(await store.begin('e')).toEqual({ kind: 'done' });
  });

  test.each([{ limit: NaN }, { keepMs: 0 }, { leaseMs: Infinity }])('is not to be had with %o', (what) => {
    expect(() => aStore(what)).toThrow('must be a number above 0');
  });
});
