import { describe, expect, test } from '@jest/globals';
import { runEvery, type RunEveryOptions } from './run-every.ts';
import { settled, TurnedClock } from './turned-clock.ts';
import { silentLog as log } from './testing/patience.ts';

const INTERVAL_MS = 1_000;

function working(work: (stop: AbortSignal) => Promise<void>, more: Partial<RunEveryOptions> = {}) {
  const clock = new TurnedClock();
  return {
    clock,
    running: runEvery(work, { intervalMs: INTERVAL_MS, warning: 'work.failed', log, clock, ...more }),
  };
}

describe('runEvery', () => {
  test('does the work after each interval, after a time that failed, too', async () => {
    let times = 0;
    const { clock, running } = working(async () => {
      times += 1;
      throw new Error('the server is away');
    });
    await clock.runFor(INTERVAL_MS - 1);
    expect(times).toBe(0);
    await clock.runFor(1);
    expect(times).toBe(1);
    await clock.runFor(2 * INTERVAL_MS);
    expect(times).toBe(3);
    await running[Symbol.asyncDispose]();
    await clock.runFor(INTERVAL_MS);
    expect(times).toBe(3);
  });

  test('begins at once where it is told to', () => {
    let times = 0;
    working(async () => void (times += 1), { beginsAtOnce: true });
    expect(times).toBe(1);
  });

  test('begins nothing more once it is told to end, whenever it is disposed of', async () => {
    let times = 0;
    const end = new AbortController();
    const { clock } = working(async () => void (times += 1), { until: end.signal });
    await clock.runFor(INTERVAL_MS);
    end.abort();
    await clock.runFor(10 * INTERVAL_MS);
    expect(times).toBe(1);
  });

  test('ends when what is under way, which is told, has ended, and not before', async () => {
    const released = Promise.withResolvers<void>();
    const seen: string[] = [];
    const { running } = working(
      async (stop) => {
        stop.addEventListener('abort', () => seen.push('told'));
        await released.promise;
      },
      { beginsAtOnce: true },
    );
    const ended = running[Symbol.asyncDispose]().then(() => seen.push('ended'));
    await settled();
    seen.push('released');
    released.resolve();
    await ended;
    expect(seen).toEqual(['told', 'released', 'ended']);
  });

  test('ends after two seconds although a server keeps what is under way', async () => {
    const { clock, running } = working(() => new Promise(() => undefined), { beginsAtOnce: true });
    let isEnded = false;
    void running[Symbol.asyncDispose]().then(() => (isEnded = true));
    await clock.runFor(1_999);
    expect(isEnded).toBe(false);
    await clock.runFor(1);
    expect(isEnded).toBe(true);
  });
});
