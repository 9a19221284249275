import type { IncomingMessage, ServerResponse } from 'node:http';
import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { settled } from '@waybell/runtime/turned-clock';
import { until } from '@waybell/runtime/testing/until';
import { ApiFailure, askWaybell, type AskWaybell, type PutEntry, type FetchedSubscription } from './ask-waybell.ts';
import { keepSubscribed, type KeepSubscribedOptions, reconciling } from './keep-subscribed.ts';
import { httpServer } from '@waybell/runtime/testing/server';
import { shared } from '@waybell/runtime/testing/shared';
import { keepingTroubles, troubleOf, type KeepingChange, type KeepingTrouble } from './kept-subscription.ts';
import { pauseBefore, switchingOn, type SwitchingTimes } from './switching-on.ts';

const options: KeepSubscribedOptions = {
  // No browser and no fetch calls this port.
  api: 'http://127.0.0.1:9/',
  token: 'token',
  callbackUrl: 'https://receiver.example.com/waybell',
  actions: ['order.*'],
};

/** Timers of these lengths are over at once, as if so much time had passed. */
function passing(isPassing: (ms: number) => boolean) {
  const passed: number[] = [];
  const { setTimeout: set } = globalThis;
  const timers = jest.spyOn(globalThis, 'setTimeout').mockImplementation(((work: () => void, ms = 0) => {
    if (isPassing(ms)) passed.push(ms);
    return set(work, isPassing(ms) ? 0 : ms);
  }) as typeof set);
  return { passed, [Symbol.dispose]: () => timers.mockRestore() };
}
/** Whether they are as long, a tenth more or less. */
const areAbout = (passed: readonly number[], nominalMs: readonly number[]) =>
  passed.slice(0, nominalMs.length).map((ms, place) => Math.abs(ms / (nominalMs[place] ?? 0) - 1) <= 0.1);

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

describe('comparing with the API', () => {
  test('come soon again where it is away, and ever more seldom, up to every five minutes', async () => {
    // Not those of other things in this process, which are shorter; 30 s are the limit of a call.
    using timers = passing((ms) => ms >= 4_000 && ms !== 30_000);
    const kept = keepSubscribed({ follow: () => undefined }, { ...options, onTrouble: () => undefined });
    const gapsMs = [5_000, 10_000, 20_000, 40_000, 80_000, 160_000, 300_000, 300_000];
    await until('it has asked often', () => timers.passed.length > gapsMs.length);
    await kept.close();
    expect(areAbout(timers.passed, gapsMs)).toEqual(gapsMs.map(() => true));
    expect(new Set(timers.passed).size).toBeGreaterThan(1);
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
    troubles.end('api');
    troubles.raise('api', denied);
    expect(told).toEqual([away, denied, denied]);
  });

  test.each([
    [undefined, {}],
    ['stopped', { stopped: { at: 'then', reason: 'it floods us' }, is_active: false }],
    ['switched_off', { is_active: false, deactivation: { at: 'then', rule: 'exhausted' } }],
    ['switched_off', { is_active: false, paused_until: 'then' }],
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

type Asked = { method: string; path: string; token: string; body: unknown };

describe('a call of the API', () => {
  const asked: Asked[] = [];
  let answer: { status?: number; headers?: Record<string, string>; body?: unknown } = {};
  const answering = async (request: IncomingMessage, response: ServerResponse) => {
    const body = (await request.toArray()).join('');
    const { method = '', url: path = '', headers } = request;
    asked.push({ method, path, token: headers.authorization ?? '', body: body === '' ? undefined : JSON.parse(body) });
    const { status = 200, headers: given = {}, body: text = {} } = answer;
    response.writeHead(status, given).end(typeof text === 'string' ? text : JSON.stringify(text));
  };
  const server = shared(() => httpServer(answering));
  const api = () => `${server.url}/gate`;
  afterEach(() => {
    asked.splice(0);
    answer = {};
  });
  const asking = (token: Parameters<typeof askWaybell>[0]['token'] = async () => 'a-token') =>
    askWaybell({ api: api(), token, signal: new AbortController().signal });
  const failure = async (waybell: AskWaybell) => {
    const error: unknown = await waybell.subscription('a-guid').catch((each: unknown) => each);
    if (!(error instanceof ApiFailure)) throw new Error('it did not fail');
    return error;
  };

  test('is as the contract says, with the token that it is given, and below the path of the address', async () => {
    answer = { body: { objects: [] } };
    await asking('fixed').put({ callback_url: 'https://a.test', actions: ['order.*'] });
    await asking().secrets();
    answer = {};
    const waybell = asking();
    await waybell.subscription('a-guid');
    await waybell.test('a-guid');
    await waybell.switchOn('a-guid');
    await waybell.replayMissed('a-guid', 7);
    const token = 'Bearer a-token';
    const at = '/gate/v1/subscriptions';
    const wanted = { callback_url: 'https://a.test', actions: ['order.*'] };
    const replay = { subscription_guid: 'a-guid', missed: true, per_second: 7 };
    expect(asked).toEqual([
      { method: 'PUT', path: at, token: 'Bearer fixed', body: wanted },
      { method: 'GET', path: '/gate/v1/signing-secrets', token },
      { method: 'GET', path: `${at}/a-guid`, token },
      { method: 'POST', path: `${at}/a-guid/test`, token, body: {} },
      { method: 'PATCH', path: `${at}/a-guid`, token, body: { is_active: true } },
      { method: 'POST', path: '/gate/v1/replays', token, body: replay },
    ]);
  });

  test.each([
    ['plain', { objects: [{ secret: 's' }] }, { status: 'delivered' }],
    ['wrapped', { data: { objects: [{ secret: 's' }] } }, { data: { object: { status: 'delivered' } } }],
  ])('reads an answer that is %s', async (_how, several, one) => {
    answer = { body: several };
    expect(await asking().secrets()).toEqual(['s']);
    answer = { body: one };
    expect(await asking().test('a-guid')).toEqual({ status: 'delivered' });
  });

  test.each([
    [401, 'no_rights'],
    [403, 'no_rights'],
    [404, 'not_taken'],
    [422, 'not_taken'],
    [429, 'too_many_requests'],
    [500, 'unreachable'],
    [502, 'unreachable'],
    [503, 'unreachable'],
    [504, 'unreachable'],
  ])('that is answered %d failed: %s', async (status, reason) => {
    answer = { status, body: { detail: 'why' } };
    expect(await failure(asking())).toMatchObject({ reason, status, message: `${status}: why` });
  });

  test('follows no redirect, and takes no page for an answer', async () => {
    answer = { status: 307, headers: { location: `${api()}/elsewhere` } };
    expect(await failure(asking())).toMatchObject({ reason: 'unreachable' });
    answer = { body: '<html>' };
    expect(await failure(asking())).toMatchObject({ reason: 'not_taken' });
    answer = { status: 404, body: '<html>' };
    expect(await failure(asking())).toMatchObject({ reason: 'not_taken', status: 404 });
    expect(asked).toHaveLength(3);
  });

  test.each([
    [429, '7', 7_000],
    [429, '301', 300_000],
    [429, '0', 1_000],
    [429, 'soon', 1_000],
    [503, '7', 0],
  ])('is not made again for a while after %d with retry-after %s', async (status, retryAfter, waitMs) => {
    answer = { status, headers: { 'retry-after': retryAfter } };
    const waybell = asking();
    expect(await failure(waybell)).toMatchObject({ status, waitMs });
    expect(await failure(waybell)).toMatchObject({ status, waitMs });
    expect(asked).toHaveLength(waitMs === 0 ? 2 : 1);
  });

  test('is made with all that keepSubscribed is given, which hears of what it changed', async () => {
    const entry = { action: 'order.created', result: 'created', subscription: { guid: 'a-guid', is_active: true } };
    answer = { body: { objects: [entry] } };
    const onChange = jest.fn();
    const given = { ...options, api: api(), auditFieldSet: ['price'], onChange };
    await using kept = keepSubscribed({ follow: () => undefined }, given);
    await kept.ready;
    const wanted = { callback_url: options.callbackUrl, actions: options.actions, audit_field_set: ['price'] };
    expect(asked.at(-1)).toMatchObject({ method: 'PUT', token: 'Bearer token', body: wanted });
    expect(onChange.mock.calls).toEqual([[{ kind: 'subscribed', action: 'order.created', guid: 'a-guid' }]]);
  });

  test('is made again by keepSubscribed when the API has been left alone for as long as it says', async () => {
    answer = { status: 429, headers: { 'retry-after': '77' } };
    using timers = passing((ms) => ms > 60_000);
    await using _kept = keepSubscribed(
      { follow: () => undefined },
      { ...options, api: api(), onTrouble: () => undefined },
    );
    await until('it waits', () => timers.passed.length > 0);
    expect(areAbout(timers.passed, [77_000])).toEqual([true]);
  });

  test('waits half a minute for an answer, and longer for that to a test, which waits for the receiver', async () => {
    const timers = jest.spyOn(globalThis, 'setTimeout');
    await asking().subscription('a-guid');
    await asking().test('a-guid');
    const limitsMs = timers.mock.calls.flatMap(([, ms = 0]) => (ms === 30_000 || ms === 90_000 ? [ms] : []));
    expect(limitsMs).toEqual([30_000, 90_000]);
    timers.mockRestore();
  });
});

const aSubscription = (what: Partial<FetchedSubscription> = {}): FetchedSubscription => ({
  guid: 'a-guid',
  action: 'order.created',
  callback_url: 'https://receiver.example.com/waybell',
  is_active: true,
  created_at: 'once',
  changed_at: 'then',
  ...what,
});

/** An API in memory: its answers, and what was asked of it, in this order. */
function anApi(what: Partial<AskWaybell> = {}) {
  const asked: string[] = [];
  const answers: AskWaybell = {
    secrets: async () => [],
    put: async () => [],
    subscription: async (guid) => aSubscription({ guid, is_active: false }),
    test: async () => ({ status: 'delivered' }),
    switchOn: async (guid) => aSubscription({ guid }),
    replayMissed: async () => ({ total: 0 }),
    ...what,
  };
  const heard = Object.entries(answers).map(([name, ask]) => [
    name,
    (...args: never[]) => {
      asked.push([name, ...args].join(' '));
      return (ask as (...given: never[]) => unknown)(...args);
    },
  ]);
  // Each is as it was, and told.
  return { asked, waybell: Object.fromEntries(heard) as AskWaybell };
}

function hearing() {
  const [troubles, changes]: [KeepingTrouble[], KeepingChange[]] = [[], []];
  const keeping = keepingTroubles((trouble) => void troubles.push(trouble));
  return { troubles, changes, keeping, onChange: (change: KeepingChange) => void changes.push(change) };
}

describe('reconciling', () => {
  const wanted = { callback_url: 'https://a.test', actions: ['order.*'] };
  function aReconciler(what: Partial<AskWaybell>) {
    const { signal } = new AbortController();
    const { asked, waybell } = anApi(what);
    const { keeping: troubles, onChange, ...heard } = hearing();
    const attended: string[] = [];
    const attend = ({ guid }: { guid: string }) => void attended.push(guid);
    return {
      asked,
      attended,
      standing: troubles.standing,
      ...heard,
      ...reconciling({ waybell, wanted, troubles, onChange, attend, signal }),
    };
  }
  const entry = (action: string, result: PutEntry['result'], what: Partial<FetchedSubscription> = {}): PutEntry => ({
    action,
    result,
    subscription: aSubscription({ guid: `guid of ${action}`, action, ...what }),
  });

  test('asks for secrets before it subscribes, says what it changed, and shows no token', async () => {
    const entries = [
      entry('a', 'created', { verification_token: 'token of a' }),
      entry('b', 'changed', { paused_until: 'then' }),
      entry('c', 'unchanged'),
      { action: 'd', result: 'refused' as const, problem: { detail: 'no' } },
    ];
    const { reconcile, state, checks, asked, attended, changes, standing } = aReconciler({
      secrets: async () => ['a-secret'],
      put: async () => entries,
    });
    expect(await reconcile()).toBe(0);
    expect(asked.map((each) => each.split(' ')[0])).toEqual(['secrets', 'put']);
    expect(changes).toEqual([
      { kind: 'subscribed', action: 'a', guid: 'guid of a' },
      { kind: 'changed', action: 'b', guid: 'guid of b' },
    ]);
    expect(standing()).toMatchObject([
      { reason: 'paused', action: 'b', detail: expect.stringContaining('then') },
      { reason: 'refused', action: 'd', detail: 'no' },
    ]);
    expect(attended).toEqual(['guid of a', 'guid of b', 'guid of c']);
    expect([checks.secrets(), checks.tokens()]).toEqual([['a-secret'], ['token of a']]);
    expect(JSON.stringify(state())).not.toContain('token of a');
  });

  test('says of what it had to change again that something else changes it', async () => {
    const results: PutEntry['result'][] = ['changed', 'unchanged', 'changed'];
    const { reconcile, state, troubles } = aReconciler({
      put: async () => [entry('a', results.shift() ?? 'unchanged')],
    });
    const lookedAt = new Set<Date | undefined>();
    for (const reasons of [[], [], ['changed_elsewhere']]) {
      await reconcile();
      lookedAt.add(state().lookedAt);
      expect(troubles.map(({ reason }) => reason)).toEqual(reasons);
    }
    expect(lookedAt.size).toBe(3);
  });

  test('says what the API wants to be left alone for', async () => {
    const put = () => Promise.reject(new ApiFailure('too_many_requests', '429', { status: 429, waitMs: 7_000 }));
    const { reconcile, standing, state } = aReconciler({ put });
    expect([await reconcile(), state().lookedAt]).toEqual([7_000, undefined]);
    expect(standing()).toEqual([{ reason: 'too_many_requests', detail: '429' }]);
  });

  test('comes ever more seldom because of strangers, and soon again where it taught something', async () => {
    const clock = jest.spyOn(Date, 'now').mockReturnValue(0);
    let secret = 'one';
    const { checks, asked } = aReconciler({ secrets: async () => [secret] });
    const asks: number[] = [];
    const learnsAt = async (now: number) => {
      clock.mockReturnValue(now);
      const before = asked.length;
      const hasLearned = await checks.learn();
      if (asked.length > before) asks.push(now);
      return hasLearned;
    };
    expect(await learnsAt(0)).toBe(true);
    for (let now = 500; now <= 200_000; now += 500) expect(await learnsAt(now)).toBe(false);
    expect(asks).toEqual([0, 1_000, 3_000, 7_000, 15_000, 31_000, 63_000, 123_000, 183_000]);
    secret = 'other';
    expect([await learnsAt(300_000), await learnsAt(301_000)]).toEqual([true, false]);
    expect(asks.slice(-2)).toEqual([300_000, 301_000]);
    clock.mockRestore();
  });
});

describe('switching on', () => {
  const TIMES: SwitchingTimes = { firstPauseMs: 1, longestPauseMs: 2, replayPauseMs: 3 };
  function switching(what: Partial<AskWaybell> = {}, times = TIMES) {
    const { signal } = new AbortController();
    const { asked, waybell } = anApi(what);
    const { keeping: troubles, onChange, ...heard } = hearing();
    const made = switchingOn({ waybell, troubles, onChange, perSecond: 7, times, signal });
    return { asked, troubles, heard, ...made };
  }
  const off = (guid = 'a-guid', what = {}) => aSubscription({ guid, is_active: false, ...what });

  test('tests first, says that it is on, and has what was missed sent until nothing is', async () => {
    const missed = { since: 'then', until: 'now' };
    const totals = [12, 0];
    const { attend, asked, heard, troubles } = switching({
      switchOn: async (guid) => aSubscription({ guid, missed }),
      replayMissed: async () => ({ total: totals.shift() ?? 0 }),
      subscription: async (guid) =>
        aSubscription({ guid, is_active: asked.includes(`switchOn ${guid}`), ...(totals.length > 0 && { missed }) }),
    });
    for (const name of ['order.created', 'test order.created', 'replay order.created'])
      troubles.raise(name, { reason: 'switched_off', detail: name });
    attend(off());
    await until('it has asked for all', () => asked.filter((each) => each.startsWith('subscription')).length === 3);
    const [read, replayed] = ['subscription a-guid', 'replayMissed a-guid 7'];
    expect(asked).toEqual([read, 'test a-guid', 'switchOn a-guid', replayed, read, replayed, read]);
    const of = { action: 'order.created', guid: 'a-guid' };
    expect(heard.changes).toEqual([
      { kind: 'switched_on', ...of },
      { kind: 'replayed', ...of, count: 12 },
    ]);
    expect(troubles.standing()).toEqual([]);
  });

  test('tests four at once at most', async () => {
    const ends: (() => void)[] = [];
    let most = 0;
    const { attend, heard } = switching({
      test: () =>
        new Promise((resolve) => {
          ends.push(() => resolve({ status: 'delivered' }));
          most = Math.max(most, ends.length);
        }),
    });
    for (let place = 0; place < 9; place += 1) attend(off(`guid-${place}`));
    await until('all are on', () => {
      if (ends.length === Math.min(4, 9 - heard.changes.length)) ends.shift()?.();
      return heard.changes.length === 9;
    });
    expect(most).toBe(4);
  });

  test('leaves alone what an operator stopped, and what is on', async () => {
    const { attend, asked } = switching();
    attend(off('a-guid', { stopped: { at: 'then', reason: 'it floods us' } }));
    attend(aSubscription({ guid: 'on' }));
    attend(off('other'));
    await until('the other is tested', () => asked.includes('test other'));
    expect(asked.filter((each) => !each.endsWith('other'))).toEqual([]);
  });

  test('waits before it tests what goes off soon again, and not where it was on for long', async () => {
    const clock = jest.spyOn(Date, 'now').mockReturnValue(0);
    using timers = passing((ms) => ms > 5_000);
    const slow = { firstPauseMs: 10_000, longestPauseMs: 600_000, replayPauseMs: 65_000 };
    const { attend, heard } = switching({}, slow);
    for (const [now, pausesMs] of [
      [600_000, []],
      [1_200_001, [10_000]],
      [9_000_000, [10_000]],
    ] as const) {
      const before = heard.changes.length;
      attend(off());
      await until('it is on', () => heard.changes.length > before);
      await settled();
      expect([timers.passed.length, areAbout(timers.passed, pausesMs)]).toEqual([
        pausesMs.length,
        pausesMs.map(() => true),
      ]);
      clock.mockReturnValue(now);
      attend(aSubscription());
    }
    clock.mockRestore();
  });

  test.each([
    [404, 1, []],
    [409, 3, []],
    [500, 3, ['test order.created']],
  ])(
    'goes on after a test that was answered %d, unless it has ended: asked %d times',
    async (status, count, raised) => {
      let tries = 0;
      const { attend, asked, troubles, heard } = switching({
        subscription: async (guid) => {
          tries += 1;
          if (tries < 3) throw new ApiFailure('unreachable', 'no', { status });
          return aSubscription({ guid });
        },
      });
      const names = jest.spyOn(troubles, 'raise');
      attend(off());
      await until('it has asked', () => asked.length === count);
      await settled();
      // Another begins only where the first has ended.
      attend(off('other'));
      await until('the other is read', () => asked.includes('subscription other'));
      expect(asked.filter((each) => each === 'subscription a-guid')).toHaveLength(count);
      expect([...new Set(names.mock.calls.map(([name]) => name))]).toEqual(raised);
      expect(heard.changes).toEqual([]);
    },
  );
});
