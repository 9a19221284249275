import { describe, expect, test } from '@jest/globals';
import { Slots } from './slots.ts';

describe('Slots', () => {
  test('run no more than their number at once, in order, and all in the end', async () => {
    const slots = new Slots(3);
    const [begun, doors]: [number[], (() => void)[]] = [[], []];
    const all = [0, 1, 2, 3, 4].map((number) =>
      slots.run(async () => {
        begun.push(number);
        await new Promise<void>((resolve) => doors.push(resolve));
      }),
    );
    await Promise.resolve();
    expect(begun).toEqual([0, 1, 2]);
    expect(slots.used).toBe(3);
    doors[1]?.();
    await all[1];
    expect(begun).toEqual([0, 1, 2, 3]);
    doors[0]?.();
    await all[0];
    for (const open of doors) open();
    await Promise.all(all);
    expect(begun).toEqual([0, 1, 2, 3, 4]);
    expect(slots.used).toBe(0);
  });

  test('are free again after work that failed', async () => {
    const slots = new Slots(1);
    const failed = slots.run(async () => {
      throw new Error('no');
    });
    const next = slots.run(async () => undefined);
    await expect(failed).rejects.toThrow('no');
    await next;
    expect(slots.used).toBe(0);
  });
});
