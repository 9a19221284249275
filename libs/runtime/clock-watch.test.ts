import { describe, expect, test } from '@jest/globals';
import { ClockWatch } from './clock-watch.ts';
import type { Queryable } from './postgres.ts';
import { Readiness } from './readiness.ts';
import { TurnedClock } from './turned-clock.ts';
import { Unavailable } from './unavailable.ts';
import { silentLog } from './testing/patience.ts';

const TEN = Date.parse('2026-11-26T10:00:00Z');
const MINUTE_MS = 60_000;

/** A process and a Postgres whose clocks can be set. Both go on with the monotonic one. */
function aWatch({ limitMs = 30_000 } = {}) {
  const clock = new TurnedClock(123_456);
  const begin = clock.now();
  // oxlint-disable-next-line fixtures/no-like-values -- each test changes one of them
  const wall = { hereMs: 0, postgresMs: 0, isAway: false, tookMs: 0 };
  const at = (offMs: number) => TEN + clock.now() - begin + offMs;
  const postgres = {
    query: async () => {
      if (wall.isAway) throw new Error('away');
      clock.skipTo(clock.now() + wall.tookMs / 2);
      const rows = [{ at: at(wall.postgresMs) }];
      clock.skipTo(clock.now() + wall.tookMs / 2);
      return { rows };
    },
    // The one method that it uses, with the one answer that it asks for.
  } as unknown as Queryable;
  const readiness = new Readiness(silentLog);
  const watch = new ClockWatch({
    ask: (work) => work(postgres),
    limitMs,
    readiness,
    log: silentLog,
    clock,
    now: () => at(wall.hereMs),
  });
  const attempt = watch.guard(() => 'made');
  return { clock, wall, watch, readiness, attempt };
}

describe('ClockWatch', () => {
  test('a clock that differs by no more than the limit is right, ahead or behind', async () => {
    const { wall, watch, readiness, attempt } = aWatch();
    for (wall.hereMs of [0, 29_000, -29_000]) {
      await watch.compare();
      expect([readiness.waitingFor(), attempt()]).toEqual([[], 'made']);
    }
  });

  test.each([
    [-10 * MINUTE_MS, 'clock: here 2026-11-26T09:50:00Z, Postgres 2026-11-26T10:00:00Z'],
    [31_000, 'clock: here 2026-11-26T10:00:31Z, Postgres 2026-11-26T10:00:00Z'],
    [400 * 24 * 60 * MINUTE_MS, 'clock: here 2027-12-31T10:00:00Z, Postgres 2026-11-26T10:00:00Z'],
  ])('one that is off by %d ms is said with both times, and nothing begins', async (offMs, said) => {
    const { wall, watch, readiness, attempt } = aWatch();
    wall.hereMs = offMs;
    await watch.compare();
    expect(readiness.waitingFor()).toEqual([said]);
    expect(attempt).toThrow(Unavailable);
  });

  test('a clock that is set while the process runs is found out at once, and so is one that is right again', async () => {
    const { clock, wall, watch, readiness, attempt } = aWatch();
    await watch.compare();
    wall.isAway = true;
    wall.hereMs = 5 * MINUTE_MS;
    expect(attempt).toThrow(Unavailable);
    wall.hereMs = 0;
    await clock.runFor(60 * MINUTE_MS);
    expect([readiness.waitingFor(), attempt()]).toEqual([[], 'made']);
  });

  test('a Postgres whose clock is set is found out by the next comparison, and so is a machine that slept', async () => {
    const { clock, wall, watch, readiness } = aWatch();
    await watch.compare();
    wall.postgresMs = -MINUTE_MS;
    await clock.runFor(6_000);
    expect(readiness.waitingFor()).toHaveLength(1);
    // The monotonic clock stood still meanwhile, the others went on.
    wall.postgresMs = wall.hereMs = 8 * 60 * MINUTE_MS;
    expect(readiness.waitingFor()).toHaveLength(1);
    await clock.runFor(6_000);
    expect(readiness.waitingFor()).toEqual([]);
  });

  test('what waits for the clock goes on as soon as it is asked again, without a wait for the next comparison', async () => {
    const { wall, watch, attempt } = aWatch();
    wall.postgresMs = MINUTE_MS;
    await watch.compare();
    const away = await (async () => attempt())().catch((error: unknown) => error);
    if (!(away instanceof Unavailable)) throw new Error('it was made');
    await expect(away.probe()).rejects.toThrow(Unavailable);
    wall.postgresMs = 0;
    await expect(away.probe()).resolves.toBeUndefined();
    expect(attempt()).toBe('made');
  });

  test('half of a round trip is reckoned, and one that takes long says nothing', async () => {
    const { wall, watch, readiness } = aWatch();
    wall.tookMs = 7_000;
    wall.hereMs = 29_000;
    await watch.compare();
    expect(readiness.waitingFor()).toEqual([]);
    [wall.tookMs, wall.hereMs] = [8_000, 0];
    wall.postgresMs = MINUTE_MS;
    await expect(watch.compare()).rejects.toThrow('Postgres took 8000 ms');
    expect(readiness.waitingFor()).toEqual([]);
  });

  test('nothing is said before Postgres was asked', () => {
    const { wall, readiness, attempt } = aWatch();
    wall.hereMs = MINUTE_MS;
    expect([readiness.waitingFor(), attempt()]).toEqual([[], 'made']);
  });

  test('without a limit no clock is wrong', async () => {
    const { wall, watch, readiness, attempt } = aWatch({ limitMs: 0 });
    wall.hereMs = 60 * MINUTE_MS;
    await watch.compare();
    expect([readiness.waitingFor(), attempt()]).toEqual([[], 'made']);
  });
});
