import { describe, expect, test } from '@jest/globals';
import { Budget } from './budget.ts';
import { settled } from './turned-clock.ts';

function taking(room: Budget, ...amounts: number[]): number[] {
  const taken: number[] = [];
  for (const amount of amounts) void room.acquire(amount).then(() => taken.push(amount));
  return taken;
}

describe('Budget', () => {
  test('is taken first come, first served, whichever would fit', async () => {
    const room = new Budget(10);
    const taken = taking(room, 8, 5, 2);
    await settled();
    expect(taken).toEqual([8]);
    expect(room.tryAcquire(1)).toBe(false);
    room.release(8);
    await settled();
    expect(taken).toEqual([8, 5, 2]);
  });

  test('is had alone by a caller that takes more than there is', async () => {
    const room = new Budget(10);
    const taken = taking(room, 1, 100, 1);
    await settled();
    room.release(1);
    await settled();
    expect(taken).toEqual([1, 100]);
    room.release(100);
    await settled();
    expect(taken).toEqual([1, 100, 1]);
  });

  test('is not taken by who gave up waiting, and is left to those behind', () => {
    const room = new Budget(10);
    const taken: string[] = [];
    room.tryAcquire(8);
    const giveUp = room.acquireLater(5, () => taken.push('gave up'));
    room.acquireLater(2, () => taken.push('behind'));
    expect(taken).toEqual([]);
    giveUp();
    expect(taken).toEqual(['behind']);
    room.release(10);
    expect(room.tryAcquire(10)).toBe(true);
    expect(taken).toEqual(['behind']);
  });
});
