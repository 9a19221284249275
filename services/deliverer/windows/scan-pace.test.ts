import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { settled, TurnedClock } from '@waybell/runtime/turned-clock';
import { ScanPace } from './scan-pace.ts';

const LIMITS = { perSecond: 100, burst: 8, slowestPerSecond: 10 };

/** Turns taken one after the other, each ending as `isFruitful` says. */
function scanning(pace: ScanPace, isFruitful: () => boolean) {
  const taken = { fruitful: 0, vain: 0 };
  const scan = async () => {
    while (await pace.turn()) {
      const end = isFruitful() ? 'fruitful' : 'vain';
      taken[end] += 1;
      pace.ended(end);
      if (taken.fruitful >= 500) return;
    }
  };
  return { taken, scans: Promise.all(Array.from({ length: 10 }, scan)) };
}

describe('a scan pace', () => {
  test('gives no more turns in vain than its rate and one burst, whatever else happens', async () => {
    const step = fc.record({ ms: fc.nat({ max: 300 }), isFruitful: fc.boolean(), isWoken: fc.boolean() });
    const law = fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 8 }), async (steps) => {
        const clock = new TurnedClock();
        const pace = new ScanPace(clock, LIMITS);
        let isFruitful = false;
        const { taken, scans } = scanning(pace, () => isFruitful && Math.floor(clock.now()) % 3 === 0);
        for (const each of steps) {
          isFruitful = each.isFruitful;
          if (each.isWoken) pace.wake();
          await clock.runFor(each.ms);
          const most = LIMITS.burst + (clock.now() / 1_000) * LIMITS.perSecond;
          if (taken.vain > most) throw new Error(`${taken.vain} in vain, and ${most} are allowed`);
        }
        pace.close();
        await scans;
      }),
      { numRuns: 30 },
    );
    await expect(law).resolves.toBeUndefined();
  });

  test('gives as many turns as are wanted while they are fruitful', async () => {
    const clock = new TurnedClock();
    const pace = new ScanPace(clock, LIMITS);
    const { taken, scans } = scanning(pace, () => true);
    await settled();
    await settled();
    expect(taken.fruitful).toBeGreaterThanOrEqual(500);
    expect(clock.now()).toBe(0);
    pace.close();
    await scans;
  });

  test('slackens while all turns are in vain, and is restored by a word that there is room', async () => {
    const clock = new TurnedClock();
    const pace = new ScanPace(clock, LIMITS);
    const { taken, scans } = scanning(pace, () => false);
    await clock.runFor(10_000);
    const slackAt = taken.vain;
    await clock.runFor(1_000);
    expect(taken.vain - slackAt).toBeLessThanOrEqual(11);
    pace.wake();
    const before = taken.vain;
    await clock.runFor(50);
    expect(taken.vain - before).toBeGreaterThanOrEqual(4);
    pace.close();
    await scans;
  });

  test('tells everybody who waits that it is over, at once', async () => {
    const pace = new ScanPace(new TurnedClock(), { ...LIMITS, burst: 1 });
    expect(await pace.turn()).toBe(true);
    const waiting = [pace.turn(), pace.turn()];
    pace.close();
    expect(await Promise.all(waiting)).toEqual([false, false]);
    expect(await pace.turn()).toBe(false);
  });
});
