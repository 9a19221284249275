import { describe, expect, jest, test } from '@jest/globals';
import { keepSubscribed, type KeepSubscribedOptions } from './keep-subscribed.ts';
import { keepingTroubles, troubleOf } from './keeping-troubles.ts';
import type { KeepingTrouble } from './kept-subscription.ts';
import { pauseBefore } from './switching-on.ts';

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
