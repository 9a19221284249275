import { describe, expect, test } from '@jest/globals';
import { InTurn } from './in-turn.ts';

describe('InTurn', () => {
  test('runs work of one key one after the other, and of another key beside it', async () => {
    const inTurn = new InTurn();
    const order: string[] = [];
    let release: () => void = () => undefined;
    const first = inTurn.run('a', async () => {
      order.push('a1');
      await new Promise<void>((resolve) => (release = resolve));
      order.push('a1 done');
    });
    const second = inTurn.run('a', async () => void order.push('a2'));
    await inTurn.run('b', async () => void order.push('b'));
    expect(order).toEqual(['a1', 'b']);
    release();
    await Promise.all([first, second]);
    expect(order).toEqual(['a1', 'b', 'a1 done', 'a2']);
  });

  test('goes on after work that failed, and tells only its own caller', async () => {
    const inTurn = new InTurn();
    const failed = inTurn.run('a', async () => {
      throw new Error('no');
    });
    const next = inTurn.run('a', async () => 'yes');
    await expect(failed).rejects.toThrow('no');
    expect(await next).toBe('yes');
  });
});
