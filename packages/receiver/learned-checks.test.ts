import { describe, expect, jest, test } from '@jest/globals';
import type { LearnedChecks } from './learned-checks.ts';
import { receiving, type ReceiveOptions } from './receive.ts';
import { request } from './testing/a-receiver.ts';
import type { Trouble } from './tell-trouble.ts';

const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const newer = 'whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA';

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

function aReceiver(learned: LearnedChecks | undefined, checks: Partial<ReceiveOptions<'carrier'>> = {}) {
  const troubles: Trouble[] = [];
  // Each test passes one kind of checks.
  const options = { interface: 'carrier', handle: () => undefined, ...checks } as ReceiveOptions<'carrier'>;
  const { receive, follow } = receiving({ ...options, onTrouble: (each) => void troubles.push(each) });
  if (learned !== undefined) follow(learned);
  return { troubles, statusOf: async (...[what]: Parameters<typeof request>) => (await receive(request(what))).status };
}

describe('a receiver that was made without secrets and tokens', () => {
  test('takes nothing, and says why, while nobody tells it any', async () => {
    const { statusOf, troubles } = aReceiver(undefined);
    expect(await statusOf()).toBe(503);
    expect(troubles).toMatchObject([
      { in: 'checks', error: { message: expect.stringContaining('or call keepSubscribed') } },
    ]);
    expect(await statusOf({ secret: [] })).toBe(401);
  });

  test('takes what is signed with a secret that it learned, whatever the token', async () => {
    const { statusOf } = aReceiver(knowing({ secrets: [newer, secret] }));
    expect(await statusOf({ token: 'of a subscription made by hand' })).toBe(200);
    expect(await statusOf({ secret: newer })).toBe(200);
  });

  test('takes nothing that is not signed, though its token is known', async () => {
    expect(
      await aReceiver(knowing({ secrets: [secret], tokens: ['token'] })).statusOf({ token: 'token', secret: [] }),
    ).toBe(401);
  });

  test('waits for the first secrets with what comes before them', async () => {
    const { statusOf } = aReceiver(knowing({}, { secrets: [secret] }));
    expect(await statusOf()).toBe(200);
  });

  test('answers 503 where the secrets cannot be asked for: it comes again', async () => {
    const { statusOf, troubles } = aReceiver(knowing({}));
    expect(await statusOf()).toBe(503);
    expect(troubles).toMatchObject([{ in: 'checks', error: { message: expect.stringContaining('could not ask') } }]);
  });

  test('judges again what is signed with a secret that is newer than what it knows', async () => {
    const learned = knowing({ secrets: [secret] }, { secrets: [newer] });
    const { statusOf, troubles } = aReceiver(learned);
    expect(await statusOf({ secret: newer })).toBe(200);
    expect(troubles).toEqual([]);
    expect(await statusOf()).toBe(401);
    expect(learned.learn).toHaveBeenCalledTimes(2);
  });

  test('asks for nothing because of a request that has no signature, or an old one', async () => {
    const learned = knowing({ secrets: [secret] });
    const { statusOf } = aReceiver(learned);
    expect([await statusOf({ secret: [] }), await statusOf({ at: new Date(0) }), await statusOf()]).toEqual([
      401, 401, 200,
    ]);
    expect(learned.learn).not.toHaveBeenCalled();
  });
});

describe('a receiver that was made with secrets or tokens', () => {
  test('takes what those it learned verify, too', async () => {
    const { statusOf } = aReceiver(knowing({ secrets: [newer] }), { secrets: secret });
    expect([await statusOf(), await statusOf({ secret: newer })]).toEqual([200, 200]);
  });

  test.each<[string, ReceiveOptions<'carrier'>['tokens']]>([
    ['a token', 'token'],
    ['tokens by action', ({ action }) => (action === 'order.created' ? 'token' : undefined)],
  ])('judges again a token that is not known yet: %s', async (_what, tokens) => {
    const learned = knowing({ tokens: [] }, { tokens: ['of damage.created'] });
    const { statusOf } = aReceiver(learned, { tokens });
    expect(await statusOf({ token: 'token' })).toBe(200);
    expect(learned.learn).not.toHaveBeenCalled();
    expect(await statusOf({ token: 'of damage.created', action: 'damage.created' })).toBe(200);
    expect(await statusOf({ token: 'of nobody', action: 'damage.created' })).toBe(401);
  });

  test('needs nothing learned for what it was made with', async () => {
    const { statusOf } = aReceiver(knowing({}), { secrets: secret });
    expect([await statusOf(), await statusOf({ secret: newer })]).toEqual([200, 401]);
  });
});
