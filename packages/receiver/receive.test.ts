import { describe, expect, jest, test } from '@jest/globals';
import { until } from '@waybell/runtime/testing/until';
import type { LearnedChecks } from './read-notification.ts';
import { memoryStore, type Store } from './store.ts';
import { receiving, type ReceiveOptions, type Trouble } from './receive.ts';
import { signedRequest } from './testing.ts';

const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const newer = 'whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA';

type Options = ReceiveOptions<'carrier'>;

const request = (what: Partial<Parameters<typeof signedRequest<'carrier', string>>[0]> = {}) => ({
  method: 'POST',
  ...signedRequest({ interface: 'carrier', action: 'order.created', secret, ...what }),
});

/** A receiver that reports its troubles, and answers with status and body. */
function aReceiver(what: Partial<Options>) {
  const troubles: Trouble[] = [];
  // Each test passes one kind of work.
  const options = {
    interface: 'carrier',
    secrets: secret,
    onTrouble: (each: Trouble) => void troubles.push(each),
    ...what,
  } as Options;
  const { receive } = receiving(options);
  return {
    troubles,
    receive,
    ask: async (...args: Parameters<typeof receive>) => {
      const { status, body } = await receive(...args);
      // Every body is an object that says so.
      return [status, (JSON.parse(body) as { status: string }).status];
    },
  };
}

describe('a receiver', () => {
  test('may be given a store that is undefined', async () => {
    expect(await aReceiver({ handle: jest.fn(), store: undefined }).ask(request())).toEqual([200, 'handled']);
  });

  test('waits for a minute at most unless it is told another time, and for as long as a timer can', async () => {
    const timers = jest.spyOn(globalThis, 'setTimeout');
    await aReceiver({ handle: jest.fn() }).ask(request());
    await aReceiver({ handle: jest.fn(), handleWithinMs: 2 ** 31 - 1 }).ask(request());
    const limits = timers.mock.calls.flatMap(([, ms, ...args]) => (args.includes('late') ? [ms] : []));
    expect(new Set(limits)).toEqual(new Set([60_000, 1_000, 2 ** 31 - 1]));
    timers.mockRestore();
  });

  test('is of one of two interfaces', () => {
    expect(() => aReceiver({ handle: jest.fn(), interface: 'both' as never })).toThrow('not both');
  });

  test.each<[string, object]>([
    ['give one of', {}],
    ['give one of', { handle: jest.fn(), enqueue: jest.fn() }],
    ['"handle" must be a function', { handle: 'handle' }],
    ['"onTest" must be a function', { handle: jest.fn(), onTest: 'handled' }],
    ['"on" has order.teleported', { on: { 'order.teleported': jest.fn() }, otherwise: jest.fn() }],
    ['"on" has no function for order.assigned', { on: { 'order.created': jest.fn() } }],
    ['"on" has no function for order.created', { on: { 'order.created': 'x' }, otherwise: jest.fn() }],
    ['"handleWithinMs" must be a number above 0', { handle: jest.fn(), handleWithinMs: NaN }],
    ['"handleWithinMs" must be a number above 0', { handle: jest.fn(), handleWithinMs: 2 ** 31 }],
    ['"toleranceS" must be a number above 0', { handle: jest.fn(), toleranceS: '300' }],
    ['"toleranceS" must be a number above 0', { handle: jest.fn(), toleranceS: Infinity }],
    ['"leaseMs" must be a number above 0', { handle: jest.fn(), store: { ...memoryStore(), leaseMs: undefined } }],
    ...['begin', 'renew', 'finish', 'fail'].map((name): [string, object] => [
      `"store" has no ${name}`,
      { handle: jest.fn(), store: { ...memoryStore(), [name]: undefined } },
    ]),
    ['"otherwise" must be a function', { on: { 'order.created': jest.fn() }, otherwise: 'x' }],
  ])('says at the start: %s', (message, what) => {
    expect(() => aReceiver(what as never)).toThrow(message);
  });
});

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
    const { ask, receive } = aReceiver({ handle: () => promise });
    const first = ask(request({ id: 'an-id' }));
    await until('it is at work', async () => (await ask(request({ id: 'an-id' })))[1] === 'in_progress');
    expect(await receive(request({ id: 'an-id' }))).toMatchObject({ status: 503, headers: { 'retry-after': '1' } });
    fail(new Error('no'));
    expect(await first).toEqual([500, 'failed']);
  });

  test('answers 503 where work takes too long, and counts what ends well after that', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const handle = jest.fn(() => promise);
    const { ask, troubles } = aReceiver({ handle, handleWithinMs: 1 });
    expect(await ask(request({ id: 'an-id' }))).toEqual([503, 'failed']);
    expect(troubles).toMatchObject([{ in: 'time limit', id: 'an-id', action: 'order.created' }]);
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

  test('has an action that is newer than the package come again where that hook fails', async () => {
    const { ask, troubles } = aReceiver({ handle: jest.fn(), onUnknownAction: () => Promise.reject(new Error('no')) });
    expect(await ask(request({ action: 'order.teleported' }))).toEqual([500, 'failed']);
    expect(troubles).toMatchObject([{ in: 'work', error: new Error('no'), action: 'order.teleported' }]);
  });

  test('warns of each action that is newer than the package, once, where there is no hook', async () => {
    const warn = jest.spyOn(process, 'emitWarning').mockReturnValue();
    const { ask } = aReceiver({ handle: jest.fn() });
    for (const action of ['order.teleported', 'order.teleported', 'order.shrunk'])
      expect(await ask(request({ action }))).toEqual([200, 'handled']);
    expect(warn.mock.calls.map(([text]) => String(text).match(/order\.\w+/)?.[0])).toEqual([
      'order.teleported',
      'order.shrunk',
    ]);
    warn.mockRestore();
  });

  test('has a test answered with 500 where what gets it fails', async () => {
    const { ask, troubles } = aReceiver({ handle: jest.fn(), onTest: () => Promise.reject(new Error('no')) });
    expect(await ask(request({ id: 'an-id', isTest: true }))).toEqual([500, 'failed']);
    expect(troubles).toEqual([
      { kind: 'failed', in: 'work', error: new Error('no'), id: 'an-id', action: 'order.created' },
    ]);
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
    const parsed = { ...wrong, body: {} };
    for (const each of [wrong, wrong, { ...wrong, headers: {} }, request(), request(), parsed, parsed]) await ask(each);
    expect(print.mock.calls.map((words) => words.join(' '))).toEqual([
      expect.stringContaining('signature_does_not_match: it was signed with another secret'),
      expect.stringContaining('missing_id'),
      expect.stringContaining('work'),
      expect.stringContaining('work'),
      expect.stringContaining('body_already_parsed'),
      expect.stringContaining('body_already_parsed'),
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
      expect(await ask(request({ id: 'an-id' }))).toEqual([200, 'handled']);
      expect(troubles).toMatchObject([{ in: 'store', error: { message }, id: 'an-id', action: 'order.created' }]);
    },
  );

  test('answers 500 where the handler throws, though the store cannot be told that either', async () => {
    const fail = () => Promise.reject(new Error('away'));
    const { ask, troubles } = aReceiver({ handle: () => raise('no'), store: { ...memoryStore(), fail } });
    expect(await ask(request())).toEqual([500, 'failed']);
    expect(troubles).toMatchObject([
      { in: 'store', error: new Error('away') },
      { in: 'work', error: new Error('no') },
    ]);
  });

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

  test.each(['ends well', 'fails'])('renews the lease while it works, and not after: what %s', async (how) => {
    const intervals = jest.spyOn(globalThis, 'setInterval');
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const renew = jest.fn(async () => undefined);
    const { ask } = aReceiver({ handle: () => promise, store: { ...memoryStore(), leaseMs: 3, renew } });
    const answered = ask(request());
    await until('it was renewed', () => renew.mock.calls.length > 2);
    // Not renewed once, it has two more chances.
    expect(intervals.mock.calls).toEqual([[expect.any(Function), 1]]);
    intervals.mockRestore();
    if (how === 'fails') reject(new Error('no'));
    else resolve();
    await answered;
    const count = renew.mock.calls.length;
    // Another is renewed three times meanwhile.
    const renewOther = jest.fn(async () => undefined);
    const handle = () => until('the other was renewed', () => renewOther.mock.calls.length > 2);
    await aReceiver({ handle, store: { ...memoryStore(), leaseMs: 3, renew: renewOther } }).ask(request());
    expect(renew.mock.calls.length).toBe(count);
  });
});

/** Checks with known values, and values that the next look learns. */
function knowing(known: { secrets?: string[]; tokens?: string[] }, next: typeof known = known) {
  let current = known;
  const learn = jest.fn(async () => {
    const isNew = current !== next;
    current = next;
    return isNew;
  });
  return {
    learn,
    secrets: () => current.secrets ?? [],
    tokens: () => current.tokens ?? [],
  } satisfies LearnedChecks;
}

function aFollower(learned: LearnedChecks | undefined, checks: Partial<ReceiveOptions<'carrier'>> = {}) {
  const troubles: Trouble[] = [];
  // Each test passes one kind of checks.
  const options = { interface: 'carrier', handle: () => undefined, ...checks } as ReceiveOptions<'carrier'>;
  const { receive, follow } = receiving({ ...options, onTrouble: (each) => void troubles.push(each) });
  if (learned !== undefined) follow(learned);
  return { troubles, statusOf: async (...[what]: Parameters<typeof request>) => (await receive(request(what))).status };
}

describe('a receiver that was made without secrets and tokens', () => {
  test('takes nothing, and says why, while nobody tells it any', async () => {
    const { statusOf, troubles } = aFollower(undefined);
    expect(await statusOf()).toBe(503);
    expect(troubles).toMatchObject([
      { in: 'checks', error: { message: expect.stringContaining('or call keepSubscribed') } },
    ]);
    expect(await statusOf({ secret: [] })).toBe(401);
  });

  test('takes what is signed with a secret that it learned, whatever the token', async () => {
    const { statusOf } = aFollower(knowing({ secrets: [newer, secret] }));
    expect(await statusOf({ token: 'of a subscription made by hand' })).toBe(200);
    expect(await statusOf({ secret: newer })).toBe(200);
  });

  test('takes nothing that is not signed, though its token is known', async () => {
    expect(
      await aFollower(knowing({ secrets: [secret], tokens: ['token'] })).statusOf({ token: 'token', secret: [] }),
    ).toBe(401);
  });

  test('has its own clock and tolerance', async () => {
    const now = () => Date.UTC(2026, 10, 20);
    const { statusOf } = aFollower(knowing({ secrets: [secret] }), { now, toleranceS: 10 });
    const ages = await Promise.all([10, 11].map((ageS) => statusOf({ at: new Date(now() - ageS * 1_000) })));
    expect([...ages, await statusOf()]).toEqual([200, 401, 401]);
  });

  test('waits for the first secrets with what comes before them', async () => {
    const { statusOf } = aFollower(knowing({}, { secrets: [secret] }));
    expect(await statusOf()).toBe(200);
  });

  test('answers 503 where the secrets cannot be asked for: it comes again', async () => {
    const { statusOf, troubles } = aFollower(knowing({}));
    expect(await statusOf()).toBe(503);
    expect(troubles).toMatchObject([{ in: 'checks', error: { message: expect.stringContaining('could not ask') } }]);
  });

  test('judges again what is signed with a secret that is newer than what it knows', async () => {
    const learned = knowing({ secrets: [secret] }, { secrets: [newer] });
    const { statusOf, troubles } = aFollower(learned);
    expect(await statusOf({ secret: newer })).toBe(200);
    expect(troubles).toEqual([]);
    expect(await statusOf()).toBe(401);
    expect(learned.learn).toHaveBeenCalledTimes(2);
  });

  test('asks for nothing because of a request that has no signature, or an old one', async () => {
    const learned = knowing({ secrets: [secret] });
    const { statusOf } = aFollower(learned);
    expect([await statusOf({ secret: [] }), await statusOf({ at: new Date(0) }), await statusOf()]).toEqual([
      401, 401, 200,
    ]);
    expect(learned.learn).not.toHaveBeenCalled();
  });
});

describe('a receiver that was made with secrets or tokens', () => {
  test('takes what those it learned verify, too', async () => {
    const { statusOf } = aFollower(knowing({ secrets: [newer] }), { secrets: secret });
    expect([await statusOf(), await statusOf({ secret: newer })]).toEqual([200, 200]);
  });

  test.each<[string, ReceiveOptions<'carrier'>['tokens']]>([
    ['a token', 'token'],
    ['tokens by action', ({ action }) => (action === 'order.created' ? 'token' : undefined)],
  ])('judges again a token that is not known yet: %s', async (_what, tokens) => {
    const learned = knowing({ tokens: [] }, { tokens: ['of damage.created'] });
    const { statusOf } = aFollower(learned, { tokens });
    expect(await statusOf({ token: 'token' })).toBe(200);
    expect(learned.learn).not.toHaveBeenCalled();
    expect(await statusOf({ token: 'of damage.created', action: 'damage.created' })).toBe(200);
    expect(await statusOf({ token: 'of nobody', action: 'damage.created' })).toBe(401);
  });

  test('needs nothing learned for what it was made with', async () => {
    const { statusOf } = aFollower(knowing({}), { secrets: secret });
    expect([await statusOf(), await statusOf({ secret: newer })]).toEqual([200, 401]);
  });
});
