import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, jest, test } from '@jest/globals';
import { until } from '@waybell/runtime/testing/until';
import { askWaybell } from './ask-waybell.ts';
import { keepSubscribed, type KeepSubscribedOptions } from './keep-subscribed.ts';
import { keepingTroubles, troubleOf } from './keeping-troubles.ts';
import type { KeepingTrouble } from './kept-subscription.ts';
import { pauseBefore, switchingOn } from './switching-on.ts';

const options: KeepSubscribedOptions = {
  // No browser and no fetch calls this port.
  api: 'http://127.0.0.1:9/',
  token: 'token',
  callbackUrl: 'https://receiver.example.com/waybell',
  actions: ['order.*'],
};

describe('keepSubscribed', () => {
  test.each<[string, object]>([
    ['"api" is undefined', { api: undefined }],
    ['"token" is undefined', { token: undefined }],
    ['"token" is empty', { token: '' }],
    ['"callbackUrl" is undefined', { callbackUrl: undefined }],
    ['"api" is no URL', { api: 'api.example.com/' }],
    ['"callbackUrl" is no URL', { callbackUrl: '/waybell' }],
    ['"actions" names none', { actions: [] }],
    ['"everyMs" must be a number above 0', { everyMs: 0 }],
    ['"replaysPerSecond" must be a number above 0', { replaysPerSecond: NaN }],
    ['"onChange" must be a function', { onChange: 'log' }],
  ])('says at the start: %s', (message, what) => {
    const follow = jest.fn();
    expect(() => keepSubscribed({ follow }, { ...options, ...what })).toThrow(message);
    expect(follow).not.toHaveBeenCalled();
  });

  test.each([
    ['an API that cannot be called', {}],
    ['a token that cannot be had', { token: () => Promise.reject(new Error('no token')) }],
    [
      'a hook that throws',
      {
        onTrouble: () => {
          throw new Error('a fault of the hook');
        },
      },
    ],
  ])('rejects nothing, and tells, with %s', async (_what, given) => {
    const print = jest.spyOn(console, 'error').mockReturnValue();
    const kept = keepSubscribed({ follow: () => undefined }, { ...options, ...given });
    await expect(kept.ready).resolves.toBeUndefined();
    expect(kept.state()).toMatchObject({ lookedAt: undefined, troubles: [{ reason: 'unreachable' }] });
    await kept.close();
    expect(print).toHaveBeenCalledTimes(1);
    print.mockRestore();
  });
});

describe('pauses before a test', () => {
  test('double from ten seconds to ten minutes; the first comes at once', () => {
    const times = { firstPauseMs: 10_000, longestPauseMs: 600_000, replayPauseMs: 0 };
    expect([0, 1, 2, 3, 4, 5, 6, 7, 8, 1_000].map((tries) => pauseBefore(tries, times) / 1_000)).toEqual([
      0, 10, 20, 40, 80, 160, 320, 600, 600, 600,
    ]);
  });
});

describe('switchingOn', () => {
  test('has four that are off tested at once, and the next when one of them is done', async () => {
    const guids = ['1', '2', '3', '4', '5', '6', '7', '8', '9'];
    const tests: ServerResponse[] = [];
    const underWay = new Set<string>();
    const on: string[] = [];
    let most = 0;
    await using api = createServer((request, response) => {
      const [guid = '', what] = request.url?.split('/').slice(3) ?? [];
      if (what === 'test') return void tests.push(response);
      const isSwitch = request.method === 'PATCH';
      if (isSwitch && underWay.delete(guid)) on.push(guid);
      else most = Math.max(most, underWay.add(guid).size);
      response.end(JSON.stringify({ guid, is_active: isSwitch }));
    });
    await once(api.listen(0, '127.0.0.1'), 'listening');
    const closing = new AbortController();
    const { signal } = closing;
    const { attend } = switchingOn({
      waybell: askWaybell({ api: `http://127.0.0.1:${(api.address() as AddressInfo).port}`, token: 'token', signal }),
      troubles: keepingTroubles(() => undefined),
      onChange: () => undefined,
      perSecond: 50,
      times: { firstPauseMs: 1, longestPauseMs: 2, replayPauseMs: 3 },
      signal,
    });
    const off = {
      callback_url: 'https://receiver.example.com/',
      is_active: false,
      created_at: 'once',
      changed_at: 'then',
    };
    for (const guid of guids) attend({ ...off, guid, action: `order.${guid}` });
    await until('four are tested', () => tests.length === 4);
    while (on.length < guids.length) {
      await until('one is tested', () => tests.length > 0);
      const count = on.length;
      tests.shift()?.end(JSON.stringify({ status: 'delivered' }));
      await until('it is on', () => on.length > count);
    }
    expect([most, on.toSorted()]).toEqual([4, guids]);
    closing.abort();
  });
});

describe('troubles', () => {
  test('are told when they begin and when they change, not while they last', () => {
    const told: KeepingTrouble[] = [];
    const troubles = keepingTroubles((trouble) => void told.push(trouble));
    const away: KeepingTrouble = { reason: 'unreachable', detail: 'away' };
    const denied: KeepingTrouble = { reason: 'no_rights', detail: '403' };
    for (const each of [away, { ...away }, denied, denied]) troubles.raise('api', each);
    expect(troubles.standing()).toEqual([denied]);
    troubles.settle('api');
    troubles.raise('api', denied);
    expect(told).toEqual([away, denied, denied]);
  });

  test.each([
    [undefined, {}],
    ['stopped', { stopped: { at: 'then', reason: 'it floods us' }, is_active: false }],
    ['switched_off', { is_active: false, deactivation: { at: 'then', rule: 'exhausted' } }],
    ['paused', { paused_until: 'then' }],
    ['suspended', { suspension: { reason: 'feature_off', feature: 'insurance' } }],
  ])('of a subscription: %s', (reason, what) => {
    const [guid, action, callback_url] = ['a-guid', 'order.created', 'https://receiver.example.com/'];
    const subscription = {
      guid,
      action,
      callback_url,
      is_active: true,
      created_at: 'once',
      changed_at: 'then',
      ...what,
    };
    expect(troubleOf(subscription)?.reason).toBe(reason);
  });
});
