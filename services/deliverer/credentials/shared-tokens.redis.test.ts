import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { type Redis } from '@waybell/runtime/redis';
import { readKeyRing, type KeyRing } from '@waybell/runtime/secrets';
import { borrowRedis } from '@waybell/runtime/testing/borrow';
import { readyRedis } from '@waybell/runtime/testing/ready-redis';
import { shared } from '@waybell/runtime/testing/shared';
import { until } from '@waybell/runtime/testing/until';
import { TurnedClock } from '@waybell/runtime/turned-clock';
import { Detour } from '@waybell/runtime/testing/detour';
import { silentLog as log } from '@waybell/runtime/testing/patience';
import { given, issued, NEED, refused, someTokens } from '../testing/tokens.ts';
import { sharedTokensIn } from './shared-tokens.ts';

const keyRing = readKeyRing(`k1:${Buffer.alloc(32, 1).toString('base64')}`);
const otherRing = readKeyRing(`k2:${Buffer.alloc(32, 2).toString('base64')}`);

const redis = shared(async () => readyRedis((await borrowRedis()).url));

const aNeed = () => ({ ...NEED, guid: randomUUID() });
const clock = new TurnedClock();

/** One deliverer. */
function aDeliverer({ ring = keyRing, of = redis }: { ring?: KeyRing; of?: Redis } = {}) {
  return someTokens({ clock, shared: sharedTokensIn({ redis: of, keyRing: ring, log, clock }) });
}

async function untilFetching({ fetches }: ReturnType<typeof aDeliverer>, count = 1) {
  return until('it fetches', () => fetches[count - 1]);
}

/** Turns the clock until it has come. */
async function soon<T>(work: Promise<T>): Promise<T> {
  const came: { value?: T } = {};
  void work.then((value) => (came.value = value));
  await until('it has come', async () => {
    await clock.runFor(100);
    return 'value' in came;
  });
  return work;
}

describe('deliverers', () => {
  test('that need the same token at once fetch it once', async () => {
    const need = aNeed();
    const all = Array.from({ length: 10 }, () => aDeliverer());
    const asked = all.flatMap(({ tokens }) => [tokens.ask(need), tokens.ask(need)]);
    const fetch = await until('one fetches', () => all.flatMap(({ fetches }) => fetches)[0]);
    fetch(issued('one', 3_600_000));
    expect(await soon(Promise.all(asked))).toEqual(asked.map(() => given('one')));
    expect(all.flatMap(({ fetches }) => fetches)).toHaveLength(1);
  });

  test('take what another has fetched, for as long as it still lives', async () => {
    const need = aNeed();
    const [first, second] = [aDeliverer(), aDeliverer()];
    const asked = first.tokens.ask(need);
    const end = await untilFetching(first);
    clock.skipTo(clock.now() + 600_000);
    end(issued('one', 3_600_000));
    await asked;
    const isClaimed = async () => (await redis.exists(`waybell:token:${need.guid}:fetch`)) === 1;
    await until('it is shared', async () => !(await isClaimed()));
    expect(await second.tokens.ask(need)).toEqual(given('one'));
    expect(second.fetches).toHaveLength(0);
    await until('none is to fetch it', async () => !(await isClaimed()));
    const { found } = await sharedTokensIn({ redis, keyRing, log, clock }).readOrClaim(need.guid);
    expect(found).toMatchObject({ token: 'one', lifeMs: 3_600_000 });
    expect(found?.leftMs).toBeGreaterThan(0);
    // oxlint-disable-next-line waybell/no-elapsed-time -- of what is left no more can be left, however slow a machine is
    expect(found?.leftMs).toBeLessThanOrEqual(3_000_000);
  });

  test('take what another has fetched in the place of one that a receiver refused', async () => {
    const need = aNeed();
    const [first, second] = [aDeliverer(), aDeliverer()];
    const asked = first.tokens.ask(need);
    (await untilFetching(first))(issued('one'));
    await asked;
    await until('it is shared', async () => (await redis.exists(`waybell:token:${need.guid}:fetch`)) === 0);
    await second.tokens.ask(need);
    const renewed = first.tokens.renew(need, 'one');
    (await untilFetching(first, 2))(issued('two'));
    expect(await renewed).toEqual(given('two'));
    await until('it is shared', async () => (await redis.exists(`waybell:token:${need.guid}:fetch`)) === 0);
    expect(await second.tokens.renew(need, 'one')).toEqual(given('two'));
    expect(second.fetches).toHaveLength(0);
  });

  test('do not wait for one that was refused, or died: each asks for itself', async () => {
    const need = aNeed();
    const [first, second] = [aDeliverer(), aDeliverer()];
    const asked = first.tokens.ask(need);
    const end = await untilFetching(first);
    const waits = second.tokens.ask(need);
    await until('it has waited', async () => {
      await clock.runFor(100);
      return second.fetches[0];
    });
    second.fetches[0]?.(issued('two'));
    expect(await waits).toEqual(given('two'));
    end(refused());
    expect(await asked).toMatchObject({ kind: 'failed' });
    const third = aDeliverer();
    expect(await third.tokens.ask(need)).toEqual(given('two'));
  });

  test('of another key ring fetch for themselves', async () => {
    const need = aNeed();
    const [first, second] = [aDeliverer(), aDeliverer({ ring: otherRing })];
    const asked = first.tokens.ask(need);
    (await untilFetching(first))(issued('one'));
    await asked;
    const waits = second.tokens.ask(need);
    (await untilFetching(second))(issued('two'));
    expect(await waits).toEqual(given('two'));
  });

  test('leave no token in Redis that can be read, or taken for that of other credentials', async () => {
    const [need, other] = [aNeed(), aNeed()];
    const first = aDeliverer();
    const asked = first.tokens.ask(need);
    (await untilFetching(first))(issued('token-to-be-sealed'));
    await asked;
    const key = `waybell:token:${need.guid}`;
    const kept = String(await until('it is shared', async () => redis.get(key)));
    expect(Buffer.from(kept.split(' ')[1] ?? '', 'base64').toString('latin1')).not.toContain('token-to-be');
    expect(kept).not.toContain('token-to-be');
    await redis.copy(key, `waybell:token:${other.guid}`);
    const second = aDeliverer();
    const waits = second.tokens.ask(other);
    (await untilFetching(second))(issued('two'));
    expect(await waits).toEqual(given('two'));
  });
});

test('without Redis each deliverer fetches for itself, and nothing fails', async () => {
  const need = aNeed();
  const way = await Detour.to((await borrowRedis()).url);
  await using away = await readyRedis(way.url);
  await way[Symbol.asyncDispose]();
  await until('Redis is away', () => away.status !== 'ready');
  const all = [aDeliverer({ of: away }), aDeliverer({ of: away })];
  const asked = all.map(({ tokens }) => tokens.ask(need));
  for (const [place, each] of all.entries()) (await untilFetching(each))(issued(`of ${place}`));
  expect(await Promise.all(asked)).toEqual([given('of 0'), given('of 1')]);
});
