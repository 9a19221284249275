import { describe, expect, test } from '@jest/globals';
import { createLog } from './log.ts';
import { repeatedly, type RepeatedlyOptions } from './repeatedly.ts';

const log = createLog({ service: 'test', level: 'silent' });
const often = (more: Partial<RepeatedlyOptions> = {}) => ({ intervalMs: 1, complaint: 'work.failed', log, ...more });
const never = () => new Promise<never>(() => undefined);

describe('repeatedly', () => {
  test('does the work again and again, after a time that failed, too', async () => {
    const thrice = Promise.withResolvers<void>();
    let times = 0;
    await using _working = repeatedly(async () => {
      times += 1;
      if (times === 3) thrice.resolve();
      throw new Error('the server is away');
    }, often());
    await thrice.promise;
    expect(times).toBeGreaterThanOrEqual(3);
  });

  test('begins at once where it is told to, and else not before the interval is over', async () => {
    const begun: string[] = [];
    const later = repeatedly(async () => void begun.push('later'), often({ intervalMs: 3_600_000 }));
    const atOnce = repeatedly(
      async () => void begun.push('at once'),
      often({ intervalMs: 3_600_000, beginsAtOnce: true }),
    );
    await later[Symbol.asyncDispose]();
    await atOnce[Symbol.asyncDispose]();
    expect(begun).toEqual(['at once']);
  });

  test('waits for what is under way, which is told, and begins nothing new', async () => {
    const begun = Promise.withResolvers<void>();
    const seen: string[] = [];
    const working = repeatedly(async (stop) => {
      seen.push('begun');
      begun.resolve();
      await new Promise((resolve) => stop.addEventListener('abort', resolve));
      seen.push('ended');
    }, often());
    await begun.promise;
    await working[Symbol.asyncDispose]();
    expect(seen).toEqual(['begun', 'ended']);
  });

  test('ends although a server keeps what is under way', async () => {
    const begun = Promise.withResolvers<void>();
    const working = repeatedly(() => {
      begun.resolve();
      return never();
    }, often());
    await begun.promise;
    await expect(working[Symbol.asyncDispose]()).resolves.toBeUndefined();
  });
});
