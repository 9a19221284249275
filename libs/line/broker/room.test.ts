import { describe, expect, test } from '@jest/globals';
import { settled } from '@waybell/runtime/turned-clock';
import { Room } from './room.ts';

/** Work that lasts until it is told to end. */
const aRoomWith = (limits: { messages: number; bytes: number }) => {
  const room = new Room(limits);
  const ends: (() => void)[] = [];
  const enter = (bytes: number) => room.use(bytes, () => new Promise<void>((resolve) => ends.push(resolve)));
  return { room, enter, ends };
};

describe('Room', () => {
  test('admits so many messages, and the next when one leaves', async () => {
    const { enter, ends } = aRoomWith({ messages: 2, bytes: 1_000 });
    const all = [enter(1), enter(1), enter(1)];
    await settled();
    expect(ends).toHaveLength(2);
    ends[0]?.();
    await settled();
    expect(ends).toHaveLength(3);
    for (const end of ends) end();
    await Promise.all(all);
  });

  test('admits all that fit when a big one leaves', async () => {
    const { enter, ends } = aRoomWith({ messages: 10, bytes: 100 });
    const all = [enter(1_000), enter(10), enter(10), enter(10)];
    await settled();
    expect(ends).toHaveLength(1);
    ends[0]?.();
    await settled();
    expect(ends).toHaveLength(4);
    for (const end of ends) end();
    await Promise.all(all);
  });

  test('admits the next after work that failed', async () => {
    const room = new Room({ messages: 1, bytes: 1 });
    const failed = room.use(1, async () => {
      throw new Error('no');
    });
    const next = room.use(1, async () => 'yes');
    await expect(failed).rejects.toThrow('no');
    expect(await next).toBe('yes');
  });
});
