import { describe, expect, jest, test } from '@jest/globals';
import { until } from '@waybell/runtime/testing/until';
import { memoryStore } from './memory-store.ts';
import type { Store } from './store.ts';
import { aReceiver, request } from './testing/a-receiver.ts';

describe('receive', () => {
  test('answers with 200 once the handler has resolved, and hands over what the request says beside the notification', async () => {
    const handle = jest.fn(async () => undefined);
    const { ask } = aReceiver({ handle });
    const sent = request({ id: 'an-id', attempt: 2 });
    expect(await ask(sent)).toEqual([200, 'handled']);
    expect(handle.mock.calls).toMatchObject([
      [
        { action: 'order.created', guid: 'an-id' },
        { id: 'an-id', attempt: 2, isTest: false, body: sent.body },
      ],
    ]);
  });

  test('gives each action to its handler, and the rest to "otherwise"', async () => {
    const heard: string[] = [];
    const { ask } = aReceiver({
      on: { 'order.created': ({ data }) => void heard.push(`created ${data.status}`) },
      otherwise: ({ action }) => void heard.push(action),
    });
    await ask(request());
    await ask(request({ action: 'damage.created' }));
    expect(heard).toEqual(['created new', 'damage.created']);
  });

  test('answers a repeat with 200 and does nothing about it', async () => {
    const handle = jest.fn();
    const { ask } = aReceiver({ handle });
    await ask(request({ id: 'an-id' }));
    expect(await ask(request({ id: 'an-id', attempt: 2 }))).toEqual([200, 'repeated']);
    expect(handle).toHaveBeenCalledTimes(1);
  });

  test('answers 500 where the handler throws, tells of it, and starts over at the next attempt', async () => {
    const handle = jest.fn<() => Promise<void>>().mockRejectedValueOnce(new Error('no')).mockResolvedValueOnce();
    const { ask, troubles } = aReceiver({ handle });
    expect(await ask(request({ id: 'an-id' }))).toEqual([500, 'failed']);
    expect(troubles).toEqual([
      { kind: 'failed', in: 'work', error: new Error('no'), id: 'an-id', action: 'order.created' },
    ]);
    expect(await ask(request({ id: 'an-id' }))).toEqual([200, 'handled']);
  });

  test('answers 503 to a repeat while the first is at work, which may yet fail', async () => {
    let fail = (_error: Error): void => undefined;
    const { promise, reject } = Promise.withResolvers<void>();
    fail = reject;
    const { ask } = aReceiver({ handle: () => promise });
    const first = ask(request({ id: 'an-id' }));
    await until('it is at work', async () => (await ask(request({ id: 'an-id' })))[1] === 'in_progress');
    expect(await ask(request({ id: 'an-id' }))).toEqual([503, 'in_progress']);
    fail(new Error('no'));
    expect(await first).toEqual([500, 'failed']);
  });

  test('answers 503 where work takes too long, and counts what ends well after that', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const handle = jest.fn(() => promise);
    const { ask, troubles } = aReceiver({ handle, handleWithinMs: 1 });
    expect(await ask(request({ id: 'an-id' }))).toEqual([503, 'failed']);
    expect(troubles).toMatchObject([{ in: 'time limit' }]);
    resolve();
    await until('it is done', async () => (await ask(request({ id: 'an-id' })))[1] === 'repeated');
    expect(handle).toHaveBeenCalledTimes(1);
  });

  test('answers 200 to what is queued, unknown actions too, and 503 where that fails', async () => {
    const queue: string[] = [];
    const { ask } = aReceiver({ enqueue: ({ body }) => void queue.push(body) });
    const sent = [request(), request({ action: 'order.teleported' })];
    for (const each of sent) expect(await ask(each)).toEqual([200, 'queued']);
    expect(queue).toEqual(sent.map(({ body }) => body));
    const full = aReceiver({ enqueue: () => Promise.reject(new Error('full')) });
    expect(await full.ask(request())).toEqual([503, 'failed']);
  });

  test('answers 200 to an action that is newer than the package, and hands it over', async () => {
    const onUnknownAction = jest.fn();
    const handle = jest.fn();
    const { ask } = aReceiver({ handle, onUnknownAction });
    expect(await ask(request({ action: 'order.teleported' }))).toEqual([200, 'handled']);
    expect(onUnknownAction.mock.calls).toMatchObject([[{ action: 'order.teleported', content: { data: {} } }]]);
    expect(handle).not.toHaveBeenCalled();
  });

  test('keeps tests from the handler', async () => {
    const [handle, onTest] = [jest.fn(), jest.fn()];
    const { ask } = aReceiver({ handle, onTest });
    expect(await ask(request({ isTest: true }))).toEqual([200, 'test']);
    expect(onTest.mock.calls).toMatchObject([[{ action: 'order.created', isTest: true }]]);
    expect(handle).not.toHaveBeenCalled();
  });

  test('handles a test like any other where it is told to', async () => {
    const handle = jest.fn();
    const { ask } = aReceiver({ handle, onTest: 'handle' });
    expect(await ask(request({ isTest: true }))).toEqual([200, 'handled']);
    expect(handle).toHaveBeenCalledTimes(1);
  });

  test('answers 405, 401 and what else is wrong without asking the store', async () => {
    const store = { ...memoryStore(), begin: jest.fn<Store['begin']>() };
    const { ask, troubles } = aReceiver({ handle: jest.fn(), store });
    expect(await ask({ ...request(), method: 'GET' })).toEqual([405, 'refused']);
    expect(await ask({ ...request(), body: '{}' })).toEqual([401, 'refused']);
    expect(store.begin).not.toHaveBeenCalled();
    expect(troubles).toMatchObject([{ reason: 'wrong_method' }, { reason: 'signature_does_not_match' }]);
  });
});
