import { describe, expect, test } from '@jest/globals';
import { endedWithin } from '@waybell/runtime/testing/ended-within';
import { settled, TurnedClock } from '@waybell/runtime/turned-clock';
import { silentLog as log } from '@waybell/runtime/testing/patience';
import { Egress, type EgressOptions, type FailedAttempt } from './egress.ts';

const MINUTE_MS = 60_000;
const hosts = (count: number, name = 'host') => Array.from({ length: count }, (_, n) => `https://${name}-${n}.test`);

/**
 * An egress before receivers with an address each, unless said otherwise; those that are down cannot be reached, nor those
 * whose names lead astray: elsewhere, or nowhere.
 */
function anEgress({ addressOf = (origin) => origin.slice('https://'.length), ...given }: Given = {}) {
  const clock = new TurnedClock();
  const world = { down: new Set<string>(), astray: new Map<string, string | undefined>(), asked: new Array<string>() };
  const egress = new Egress({
    reach: async (origin) => {
      world.asked.push(origin);
      const address = world.astray.has(origin) ? world.astray.get(origin) : addressOf(origin);
      const isReached = !world.down.has(origin) && !world.astray.has(origin);
      return { isReached, ...(address !== undefined && { address }) };
    },
    probes: [],
    recentlyWell: async () => [],
    clock,
    log,
    ...given,
  });
  const answered = (origins: readonly string[]) => {
    for (const each of origins) egress.answered(each, addressOf(each));
  };
  /** Returns whether an attempt that failed to connect just now is our own fault. */
  const fails = (origin: string, { tookMs = 1, ...how }: Partial<FailedAttempt> & { tookMs?: number } = {}) => {
    const lost = { address: addressOf(origin), wasSent: false, isLast: true, hasWaited: false, ...how };
    return endedWithin({ clock, limitMs: 10_000 }, egress.isOurs({ origin, startedAt: clock.now() - tookMs, ...lost }));
  };
  const lose = (origins: readonly string[]) => origins.forEach((each) => world.down.add(each));
  const mislead = (origins: readonly string[], to?: string) => origins.forEach((each) => world.astray.set(each, to));
  return { clock, world, egress, answered, fails, lose, mislead };
}

type Given = Partial<EgressOptions> & { addressOf?: (origin: string) => string };

describe('Egress attributes a failure to', () => {
  test('a receiver that fails while others answer, and asks none of them', async () => {
    const { answered, fails, world } = anEgress();
    const [bad = '', ...others] = hosts(6);
    answered([bad]);
    answered(others);
    expect(await fails(bad)).toBe(false);
    expect(world.asked).toEqual([]);
  });

  test('a receiver that fails in a quiet hour, when others can be connected to', async () => {
    const { answered, fails, world, clock, egress, lose } = anEgress();
    const [bad = '', ...others] = hosts(6);
    answered([bad, ...others]);
    await clock.runFor(MINUTE_MS);
    lose([bad]);
    expect(await fails(bad)).toBe(false);
    expect(world.asked.length).toBeGreaterThanOrEqual(4);
    expect(egress.isSuspected).toBe(false);
  });

  test('a host that many share, dead beside as many as there are others', async () => {
    const shared = hosts(40, 'shared');
    const addressOf = (origin: string) => (shared.includes(origin) ? '203.0.113.1' : origin);
    const { answered, fails, clock, lose } = anEgress({ addressOf });
    answered([...shared, ...hosts(4)]);
    await clock.runFor(MINUTE_MS);
    lose(shared);
    for (const each of shared) expect(await fails(each)).toBe(false);
  });

  test('such a host after a restart, too, when only its names are known', async () => {
    const shared = hosts(8, 'shared');
    const { fails, lose } = anEgress({ addressOf: () => '203.0.113.1', recentlyWell: async () => shared });
    lose(shared);
    expect(await fails('https://shared-0.test')).toBe(false);
  });

  test('receivers that are all there is and too few to tell', async () => {
    const { answered, fails, clock, lose } = anEgress();
    const few = hosts(3);
    answered(few);
    await clock.runFor(MINUTE_MS);
    lose(few);
    for (const each of few) expect(await fails(each)).toBe(false);
  });

  test('one that failed by its own when it is not the last attempt, without asking any receiver', async () => {
    const { answered, fails, clock, lose, world } = anEgress();
    answered(hosts(8));
    await clock.runFor(MINUTE_MS);
    lose(hosts(8));
    expect(await fails('https://host-0.test', { isLast: false })).toBe(false);
    expect(world.asked).toEqual([]);
  });

  test('one that did not answer a request that it may have got, unless it was the last', async () => {
    const { answered, fails, clock, lose } = anEgress();
    answered(hosts(8));
    await clock.runFor(MINUTE_MS);
    lose(hosts(8));
    expect(await fails('https://host-0.test', { wasSent: true, isLast: false })).toBe(false);
    expect(await fails('https://host-0.test', { wasSent: true })).toBe(true);
  });
});

describe('Egress suspects our own network', () => {
  test('when most of those that answered lately cannot be connected to, before the first last failure counts', async () => {
    const { answered, fails, clock, lose, egress } = anEgress();
    const all = hosts(20);
    answered(all);
    await clock.runFor(MINUTE_MS);
    lose(all);
    expect(await fails('https://host-7.test')).toBe(true);
    expect(egress.isSuspected).toBe(true);
    expect(await fails('https://never-met.test', { isLast: false })).toBe(true);
  });

  test('when most fail at once, though none of them for the last time', async () => {
    const { answered, clock, lose, egress } = anEgress();
    const all = hosts(10);
    answered(all);
    await clock.runFor(MINUTE_MS);
    lose(all);
    const failed = (origin: string) =>
      egress.isOurs({
        origin,
        address: undefined,
        startedAt: clock.now(),
        wasSent: false,
        isLast: false,
        hasWaited: false,
      });
    const ours = await Promise.all(all.map(failed));
    expect(ours).toEqual(all.map((_, place) => place >= 4));
    expect(egress.isSuspected).toBe(true);
  });

  test('no longer once most can be connected to again, looking every few seconds', async () => {
    const { answered, fails, clock, lose, world, egress } = anEgress();
    answered(hosts(8));
    lose(hosts(8));
    await clock.runFor(10_000);
    await fails('https://host-0.test');
    world.asked.length = 0;
    await clock.runFor(30 * MINUTE_MS);
    expect(egress.isSuspected).toBe(true);
    // At most eight each time.
    expect(world.asked.length / 8).toBeLessThanOrEqual((30 * MINUTE_MS) / 5_000 + 2);
    world.down.clear();
    await clock.runFor(5_000);
    expect(egress.isSuspected).toBe(false);
    expect(await fails('https://host-0.test')).toBe(false);
  });

  test('no longer once those that are away have been so for long, while others are there', async () => {
    const { answered, fails, clock, lose, egress } = anEgress();
    answered(hosts(7));
    lose(hosts(4));
    await clock.runFor(10_000);
    expect(await fails('https://host-0.test')).toBe(true);
    await clock.runFor(9 * MINUTE_MS);
    expect(egress.isSuspected).toBe(true);
    await clock.runFor(2 * MINUTE_MS);
    expect(egress.isSuspected).toBe(false);
    expect(await fails('https://host-0.test')).toBe(false);
  });

  test('no longer once enough receivers answer, whatever cannot be connected to', async () => {
    const [probe = ''] = hosts(1, 'probe');
    const { answered, fails, clock, lose, egress } = anEgress({ probes: [probe] });
    lose([probe]);
    expect(await fails('https://host-0.test')).toBe(true);
    const answerFor = async (seconds: number, count: number) => {
      for (let second = 0; second < seconds; second += 1) {
        answered(hosts(count));
        await clock.runFor(1_000);
      }
    };
    await answerFor(20, 3);
    expect(egress.isSuspected).toBe(true);
    await answerFor(20, 4);
    expect(egress.isSuspected).toBe(false);
  });

  test('though all others could be connected to just after it began, when that was long ago', async () => {
    const { answered, fails, clock, lose } = anEgress();
    answered(hosts(8));
    await clock.runFor(10_000);
    expect(await fails('https://bad.test')).toBe(false);
    lose(hosts(8));
    await clock.runFor(3_000);
    expect(await fails('https://host-0.test', { wasSent: true, tookMs: 5_000 })).toBe(true);
  });

  test('once for what was sent, and not again', async () => {
    const { answered, fails, clock, lose } = anEgress();
    answered(hosts(8));
    lose(hosts(8));
    await clock.runFor(10_000);
    expect(await fails('https://host-0.test', { wasSent: true })).toBe(true);
    expect(await fails('https://host-0.test', { wasSent: true, hasWaited: true })).toBe(false);
    expect(await fails('https://host-0.test', { hasWaited: true })).toBe(true);
  });

  test('not because half of the receivers are gone', async () => {
    const { answered, fails, clock, lose } = anEgress();
    answered(hosts(8));
    await clock.runFor(10_000);
    lose(hosts(4));
    for (const each of hosts(4)) expect(await fails(each)).toBe(false);
  });

  // A name server that gives wrong answers for all names; connections and remembered answers go on meanwhile.
  test.each([
    ['nowhere', undefined],
    ['to one place', '203.0.113.9'],
  ])('when most of their names lead %s, though others still answer', async (_, to) => {
    const { answered, fails, clock, world, mislead, egress } = anEgress();
    const all = hosts(20);
    answered(all);
    await clock.runFor(MINUTE_MS);
    answered(all.slice(10));
    mislead(all, to);
    expect(await fails('https://host-0.test', { address: to })).toBe(true);
    expect(egress.isSuspected).toBe(true);
    for (let second = 0; second < 10; second += 1) {
      answered(all.slice(10));
      await clock.runFor(1_000);
    }
    expect(egress.isSuspected).toBe(true);
    world.astray.clear();
    await clock.runFor(5_000);
    expect(egress.isSuspected).toBe(false);
  });

  test('when most names lead nowhere, though receivers at literal addresses still answer', async () => {
    const { answered, fails, clock, mislead, egress } = anEgress();
    const literal = [...Array.from({ length: 9 }, (_, n) => `https://192.0.2.${n}`), 'https://[2001:db8::1]:8443'];
    answered([...literal, ...hosts(4)]);
    await clock.runFor(MINUTE_MS);
    answered(literal);
    mislead(hosts(4));
    expect(await fails('https://host-0.test', { address: undefined })).toBe(true);
    for (let second = 0; second < 10; second += 1) {
      answered(literal);
      await clock.runFor(1_000);
    }
    expect(egress.isSuspected).toBe(true);
  });

  describe('beside probes at literal addresses', () => {
    const probes = ['https://192.0.2.1', 'https://[2001:db8::1]', 'https://named.test'];

    test('when most names lead elsewhere, until they do not', async () => {
      const { answered, fails, clock, mislead, world, egress } = anEgress({ probes });
      answered(hosts(8));
      await clock.runFor(MINUTE_MS);
      mislead(hosts(8), '203.0.113.9');
      for (const each of hosts(8)) expect(await fails(each, { address: '203.0.113.9' })).toBe(true);
      await clock.runFor(MINUTE_MS);
      expect(egress.isSuspected).toBe(true);
      world.astray.clear();
      await clock.runFor(5_000);
      expect(egress.isSuspected).toBe(false);
    });

    test('not because receivers cannot be connected to where they were', async () => {
      const { answered, fails, clock, lose } = anEgress({ probes });
      answered(hosts(8));
      await clock.runFor(MINUTE_MS);
      lose(hosts(8));
      expect(await fails('https://host-0.test')).toBe(false);
    });
  });

  test('when the names of those that answered before a restart lead nowhere after it', async () => {
    const before = hosts(6);
    const { fails, mislead } = anEgress({ recentlyWell: async () => before });
    mislead(before);
    expect(await fails('https://host-0.test', { address: undefined })).toBe(true);
  });

  test('when they do, though receivers at literal addresses answered after it', async () => {
    const before = hosts(6);
    const { answered, fails, mislead } = anEgress({ recentlyWell: async () => before });
    answered(Array.from({ length: 5 }, (_, n) => `https://192.0.2.${n}`));
    mislead(before);
    expect(await fails('https://host-0.test', { address: undefined })).toBe(true);
  });

  test('not because one name leads nowhere, or elsewhere', async () => {
    const { answered, fails, clock, mislead, egress } = anEgress();
    const [one = '', other = ''] = hosts(2);
    answered(hosts(8));
    await clock.runFor(MINUTE_MS);
    mislead([one]);
    mislead([other], '203.0.113.9');
    expect(await fails(one, { address: undefined })).toBe(false);
    expect(await fails(other, { address: '203.0.113.9' })).toBe(false);
    expect(egress.isSuspected).toBe(false);
  });

  test('by the probes alone, where there are any', async () => {
    const [probe = ''] = hosts(1, 'probe');
    const { answered, fails, clock, lose, world, egress } = anEgress({ probes: [probe] });
    answered(hosts(8));
    lose(hosts(8));
    await clock.runFor(10_000);
    expect(await fails('https://host-0.test')).toBe(false);
    lose([probe]);
    expect(await fails('https://host-0.test')).toBe(true);
    expect(new Set(world.asked)).toEqual(new Set([probe]));
    world.down.delete(probe);
    await clock.runFor(5_000);
    expect(egress.isSuspected).toBe(false);
  });

  test('after a restart, by receivers that answered before it', async () => {
    const before = hosts(6);
    const { fails, lose } = anEgress({ recentlyWell: async () => before });
    lose(before);
    expect(await fails('https://new.test')).toBe(true);
  });

  test('and asks at most once a second, however many fail', async () => {
    const { answered, clock, world, egress } = anEgress();
    answered(hosts(8));
    await clock.runFor(10_000);
    const startedAt = clock.now();
    const lost = { origin: 'https://bad.test', address: 'bad.test', wasSent: false, isLast: true, hasWaited: false };
    const verdicts = Array.from({ length: 100 }, () => egress.isOurs({ ...lost, startedAt }));
    await settled();
    expect(world.asked).toHaveLength(8);
    await Promise.all(verdicts);
    expect(world.asked).toHaveLength(8);
  });

  test('and stops looking when it is disposed of', async () => {
    const { answered, fails, clock, lose, egress } = anEgress();
    answered(hosts(8));
    lose(hosts(8));
    await clock.runFor(10_000);
    await fails('https://host-0.test');
    egress[Symbol.dispose]();
    await settled();
    expect(clock.nextAt()).toBeUndefined();
  });
});
