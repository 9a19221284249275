import { describe, expect, jest, test } from '@jest/globals';
import { until } from '@waybell/runtime/testing/until';
import { memoryStore } from './memory-store.ts';
import type { Store } from './store.ts';
import { aReceiver, request, type Options } from './testing/a-receiver.ts';

function raise(message: string): never {
  throw new Error(message);
}

describe('where something else fails, a receiver', () => {
  test('tells of work that fails when nobody waits for it any more, and starts over at the next attempt', async () => {
    const { promise, reject } = Promise.withResolvers<void>();
    const handle = jest.fn<() => Promise<void>>().mockReturnValueOnce(promise).mockResolvedValueOnce();
    const { ask, troubles } = aReceiver({ handle, handleWithinMs: 1 });
    await ask(request({ id: 'an-id' }));
    reject(new Error('late'));
    await until('it is told', () => troubles.length > 1);
    expect(troubles).toMatchObject([{ in: 'time limit' }, { in: 'work', error: new Error('late'), id: 'an-id' }]);
    await ask(request({ id: 'an-id' }));
    expect(handle).toHaveBeenCalledTimes(2);
  });

  test.each([
    ['throws', () => raise('a fault of the hook')],
    ['rejects', () => Promise.reject(new Error('a fault of the hook'))],
  ])('answers though the hook for troubles %s', async (_how, onTrouble) => {
    const print = jest.spyOn(console, 'error').mockReturnValue();
    const { ask } = aReceiver({ handle: jest.fn(), onTrouble });
    expect(await ask({ ...request(), body: '{}' })).toEqual([401, 'refused']);
    await until('the fault is printed', () => print.mock.calls.length > 0);
    expect(print.mock.calls).toEqual([['waybell receiver: onTrouble', new Error('a fault of the hook')]]);
    print.mockRestore();
  });

  test('prints the first refusal for each reason, and all that fails, where no hook is given', async () => {
    const print = jest.spyOn(console, 'error').mockReturnValue();
    const { ask } = aReceiver({ handle: () => raise('no'), onTrouble: undefined as never });
    const wrong = { ...request(), body: '{}' };
    for (const each of [wrong, wrong, { ...wrong, headers: {} }, request(), request()]) await ask(each);
    expect(print.mock.calls.map((words) => words.join(' '))).toEqual([
      expect.stringContaining('signature_does_not_match: it was signed with another secret'),
      expect.stringContaining('missing_id'),
      expect.stringContaining('work'),
      expect.stringContaining('work'),
    ]);
    print.mockRestore();
  });

  test('answers 503 where the store takes too long, and handles what it begins after that', async () => {
    const begun = Promise.withResolvers<void>();
    const memory = memoryStore();
    const begin: Store['begin'] = (id) => begun.promise.then(() => memory.begin(id));
    const handle = jest.fn();
    const { ask } = aReceiver({ handle, handleWithinMs: 1, store: { ...memory, begin } });
    expect(await ask(request({ id: 'an-id' }))).toEqual([503, 'failed']);
    begun.resolve();
    await until('it is handled', () => handle.mock.calls.length > 0);
    await until('that is recorded', async () => (await memory.begin('an-id')).kind === 'done');
    expect(handle).toHaveBeenCalledTimes(1);
  });

  test('answers 503 where secrets or the store cannot be asked, and handles nothing', async () => {
    const handle = jest.fn();
    const away = () => Promise.reject(new Error('away'));
    const without = aReceiver({ handle, secrets: away });
    expect(await without.ask(request())).toEqual([503, 'failed']);
    const { ask } = aReceiver({ handle, store: { ...memoryStore(), begin: away } });
    expect(await ask(request())).toEqual([503, 'failed']);
    expect(handle).not.toHaveBeenCalled();
  });

  test.each<[string, Store['finish'], string]>([
    ['rejects', () => Promise.reject(new Error('away')), 'away'],
    ['throws', () => raise('away'), 'away'],
    ['hangs', () => new Promise(() => undefined), 'not recorded after 1000 ms'],
  ])(
    'answers 200 where it was handled and that cannot be recorded, as to do it again is worse: the store %s',
    async (_how, finish, message) => {
      const { ask, troubles } = aReceiver({ handle: jest.fn(), store: { ...memoryStore(), finish } });
      expect(await ask(request())).toEqual([200, 'handled']);
      expect(troubles).toMatchObject([{ in: 'store', error: { message } }]);
    },
  );

  test.each<[string, Partial<Store>]>([
    ['throws', { begin: () => raise('away') }],
    ['returns nothing', { begin: (() => undefined) as never }],
  ])('answers 503 where the store %s when work is to begin', async (_how, part) => {
    const handle = jest.fn();
    const { ask, troubles } = aReceiver({ handle, store: { ...memoryStore(), ...part } });
    expect(await ask(request())).toEqual([503, 'failed']);
    expect([troubles, handle.mock.calls]).toMatchObject([[{ in: 'store' }], []]);
  });

  test.each<[string, Partial<Store>]>([
    ['throw', { renew: () => raise('away'), finish: () => raise('away') }],
    ['return nothing', { renew: (() => undefined) as never, finish: (() => undefined) as never }],
  ])('lives on where calls of the store %s', async (_how, part) => {
    const renew = jest.fn(part.renew);
    const handle = () => until('it was renewed', () => renew.mock.calls.length > 1);
    const { ask } = aReceiver({ handle, store: { ...memoryStore(), leaseMs: 3, ...part, renew } });
    expect(await ask(request())).toEqual([200, 'handled']);
  });

  test('begins no renewal while one is under way', async () => {
    const renew = jest.fn(() => new Promise<void>(() => undefined));
    const other = jest.fn(async () => undefined);
    const handle = () =>
      until('the other was renewed', () => renew.mock.calls.length > 0 && other.mock.calls.length > 3);
    await Promise.all(
      [renew, other].map((each) =>
        aReceiver({ handle, store: { ...memoryStore(), leaseMs: 3, renew: each } }).ask(request()),
      ),
    );
    expect(renew).toHaveBeenCalledTimes(1);
  });

  test('renews the lease also when nobody waits for the work any more', async () => {
    const work = Promise.withResolvers<void>();
    const renew = jest.fn(async () => undefined);
    const { ask } = aReceiver({
      handle: () => work.promise,
      handleWithinMs: 1,
      store: { ...memoryStore(), leaseMs: 3, renew },
    });
    expect(await ask(request())).toEqual([503, 'failed']);
    const count = renew.mock.calls.length;
    await until('it is renewed', () => renew.mock.calls.length > count);
    work.resolve();
  });

  const never = () => new Promise<never>(() => undefined);
  test.each<[string, Partial<Options>]>([
    ['secrets', { secrets: never }],
    ['tokens', { tokens: never }],
    ['onTest', { onTest: never }],
  ])('answers 503 where %s takes too long', async (_what, options) => {
    const { ask, troubles } = aReceiver({ handle: jest.fn(), handleWithinMs: 1, ...options } as Options);
    expect(await ask(request({ token: 'token', isTest: true }))).toEqual([503, 'failed']);
    expect(troubles).toMatchObject([{ in: 'time limit' }]);
  });

  test('renews the lease while it works, and not after', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const renew = jest.fn(async () => undefined);
    const { ask } = aReceiver({ handle: () => promise, store: { ...memoryStore(), leaseMs: 3, renew } });
    const answered = ask(request());
    await until('it was renewed', () => renew.mock.calls.length > 2);
    resolve();
    await answered;
    const count = renew.mock.calls.length;
    // Another is renewed three times meanwhile.
    const renewOther = jest.fn(async () => undefined);
    const handle = () => until('the other was renewed', () => renewOther.mock.calls.length > 2);
    await aReceiver({ handle, store: { ...memoryStore(), leaseMs: 3, renew: renewOther } }).ask(request());
    expect(renew.mock.calls.length).toBe(count);
  });
});
