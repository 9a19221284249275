import { describe, expect, test } from '@jest/globals';
import { settled, TurnedClock } from '@waybell/runtime/turned-clock';
import { given, issued, NEED, NO_TOKEN, refused, someTokens } from '../testing/tokens.ts';

const LIFE_MS = 100_000;
const failed = (durationMs: number) => ({ kind: 'failed', result: { ...NO_TOKEN, durationMs } });

/** Tokens of which one is there, that just came. */
async function withToken(lifeMs = LIFE_MS) {
  const clock = new TurnedClock();
  const some = someTokens({ clock });
  const asked = some.tokens.ask(NEED);
  await settled();
  some.fetches[0]?.(issued('one', lifeMs));
  expect(await asked).toEqual(given('one'));
  return { clock, ...some };
}

describe('an access token', () => {
  test('is fetched once for all that wait for it, and for each credentials', async () => {
    const { tokens, fetches } = someTokens({ clock: new TurnedClock() });
    expect(tokens.atHand(NEED)).toBeUndefined();
    const asked = Array.from({ length: 100 }, () => tokens.ask(NEED));
    const other = tokens.ask({ ...NEED, guid: 'another' });
    await settled();
    expect(fetches).toHaveLength(2);
    fetches[0]?.(issued('one'));
    fetches[1]?.(issued('of the other'));
    expect(await Promise.all(asked)).toEqual(asked.map(() => given('one')));
    expect(await other).toEqual(given('of the other'));
    expect(tokens.atHand(NEED)).toBe('one');
    expect(fetches).toHaveLength(2);
  });

  test.each([
    ['of 100 s in its last fifth', LIFE_MS, 20_000],
    ['of a day in its last minute', 86_400_000, 60_000],
  ])('%s is used, and another fetched meanwhile, once', async (_, lifeMs, aheadMs) => {
    const { clock, tokens, fetches } = await withToken(lifeMs);
    clock.skipTo(lifeMs - aheadMs - 1);
    expect(tokens.atHand(NEED)).toBe('one');
    await settled();
    expect(fetches).toHaveLength(1);
    clock.skipTo(lifeMs - aheadMs);
    for (let uses = 0; uses < 10; uses += 1) expect(tokens.atHand(NEED)).toBe('one');
    await settled();
    expect(fetches).toHaveLength(2);
    fetches[1]?.(issued('two', lifeMs));
    await settled();
    expect(tokens.atHand(NEED)).toBe('two');
    expect(fetches).toHaveLength(2);
  });

  test.each([
    ['of 100 s', LIFE_MS, 5_000],
    ['of 10 s', 10_000, 1_000],
  ])('%s is not used in its last seconds: another is waited for', async (_, lifeMs, lastMs) => {
    const { clock, tokens, fetches } = await withToken(lifeMs);
    clock.skipTo(lifeMs - lastMs);
    expect(tokens.atHand(NEED)).toBeUndefined();
    const asked = tokens.ask(NEED);
    await settled();
    fetches[1]?.(issued('two', lifeMs));
    expect(await asked).toEqual(given('two'));
  });

  test('lives from the start of its request on', async () => {
    const clock = new TurnedClock();
    const { tokens, fetches } = someTokens({ clock });
    const asked = tokens.ask(NEED);
    await settled();
    clock.skipTo(9_000);
    fetches[0]?.(issued('one', 10_000));
    expect(await asked).toEqual(given('one'));
    expect(tokens.atHand(NEED)).toBeUndefined();
  });
});

describe('a failure', () => {
  test('is that of all that wait, and of those that come within a second, which asked for nothing', async () => {
    const clock = new TurnedClock();
    const { tokens, fetches } = someTokens({ clock });
    const asked = [tokens.ask(NEED), tokens.ask(NEED)];
    await settled();
    fetches[0]?.(refused());
    expect(await Promise.all(asked)).toEqual([failed(7), failed(7)]);
    clock.skipTo(999);
    expect(await tokens.ask(NEED)).toEqual(failed(0));
    expect(fetches).toHaveLength(1);
    clock.skipTo(1_000);
    const again = tokens.ask(NEED);
    await settled();
    fetches[1]?.(issued('one'));
    expect(await again).toEqual(given('one'));
  });

  test('to renew a token leaves it in use for as long as it lives, and is tried again a second later', async () => {
    const { clock, tokens, fetches } = await withToken();
    clock.skipTo(LIFE_MS - 20_000);
    expect(tokens.atHand(NEED)).toBe('one');
    await settled();
    fetches[1]?.(refused());
    await settled();
    expect(tokens.atHand(NEED)).toBe('one');
    await settled();
    expect(fetches).toHaveLength(2);
    clock.skipTo(LIFE_MS - 19_000);
    expect(tokens.atHand(NEED)).toBe('one');
    await settled();
    expect(fetches).toHaveLength(3);
  });

  test('of ours is told as an error, and no memory of it stays', async () => {
    let isAway = true;
    const fetch = async () => {
      if (isAway) throw new Error('no way out');
      return issued('one');
    };
    const { tokens } = someTokens({ clock: new TurnedClock(), fetch });
    expect(await tokens.ask(NEED)).toMatchObject({
      kind: 'none',
      why: { kind: 'failed', error: { message: 'no way out' } },
    });
    isAway = false;
    expect(await tokens.ask(NEED)).toEqual(given('one'));
  });
});

describe('a token that a receiver refused', () => {
  test('is given to none any more, and another is fetched once for all that had it', async () => {
    const { tokens, fetches } = await withToken();
    const asked = [tokens.renew(NEED, 'one'), tokens.renew(NEED, 'one'), tokens.ask(NEED)];
    await settled();
    expect(tokens.atHand(NEED)).toBeUndefined();
    expect(fetches).toHaveLength(2);
    fetches[1]?.(issued('two'));
    expect(await Promise.all(asked)).toEqual([given('two'), given('two'), given('two')]);
    // One that was under way for long.
    expect(await tokens.renew(NEED, 'one')).toEqual(given('two'));
    expect(fetches).toHaveLength(2);
  });

  test('has another fetched at once where that of another deliverer came in its place, and is refused too', async () => {
    const looks = [undefined, { token: 'of another', lifeMs: LIFE_MS, leftMs: LIFE_MS - 1 }];
    const shared = {
      readOrClaim: async () => ({ found: looks.shift(), isOursToFetch: true }),
      share: async () => undefined,
    };
    const { tokens, fetches } = someTokens({ clock: new TurnedClock(), shared });
    void tokens.ask(NEED);
    await settled();
    fetches[0]?.(issued('one'));
    await settled();
    expect(await tokens.renew(NEED, 'one')).toEqual(given('of another'));
    const renewed = tokens.renew(NEED, 'of another');
    await settled();
    fetches[1]?.(issued('two'));
    expect(await renewed).toEqual(given('two'));
  });

  test('stays in use where another was fetched for that within ten seconds', async () => {
    const { clock, tokens, fetches } = await withToken();
    void tokens.renew(NEED, 'one');
    await settled();
    fetches[1]?.(issued('two'));
    await settled();
    clock.skipTo(9_999);
    expect(await tokens.renew(NEED, 'two')).toBeUndefined();
    expect(tokens.atHand(NEED)).toBe('two');
    clock.skipTo(10_000);
    void tokens.renew(NEED, 'two');
    await settled();
    expect(fetches).toHaveLength(3);
  });
});

test('what waits for a token waits no more once the process ends', async () => {
  const { tokens, fetches } = someTokens({ clock: new TurnedClock() });
  const asked = tokens.ask(NEED);
  await settled();
  tokens[Symbol.dispose]();
  expect(await asked).toEqual({ kind: 'closing' });
  expect(await tokens.ask(NEED)).toEqual({ kind: 'closing' });
  expect(fetches).toHaveLength(1);
});

test('what waits while another deliverer fetches waits no more once the process ends', async () => {
  const shared = {
    readOrClaim: async () => ({ found: undefined, isOursToFetch: false }),
    share: async () => undefined,
  };
  const { tokens, fetches } = someTokens({ clock: new TurnedClock(), shared });
  const asked = tokens.ask(NEED);
  await settled();
  tokens[Symbol.dispose]();
  expect(await asked).toEqual({ kind: 'closing' });
  await settled();
  expect(fetches).toHaveLength(0);
});
