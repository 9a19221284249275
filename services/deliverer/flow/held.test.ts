import { describe, expect, test } from '@jest/globals';
import type { Hold } from '../flow/endpoint.ts';
import { aRow, aTarget, roomOf, SomeDeliverers, SUBSCRIPTION, TARGET } from '../testing/waiting.ts';

const ROOM = roomOf(TARGET);
const HELD_ROOM = SUBSCRIPTION.replaceAll('-', '');
const OTHER = '0b9c2f6e-7d1f-4e57-8f5e-000000000009';
const MAX_AGE_MS = 3_600_000;
/** Rows are made at 1 ms: so they are too old. */
const TOO_OLD_AT = MAX_AGE_MS + 2;
const SHUT_MS = 60_000;

/** Deliverers and a subscription that can be held, with rows that wait for its endpoint, which is shut, and one of another. */
async function someHeld(rows = 3) {
  const some = new SomeDeliverers();
  let held: Hold | undefined;
  some.findTarget = (guid) => (guid === SUBSCRIPTION && held !== undefined ? { ...TARGET, held } : TARGET);
  some.waiting.heldUntil = (room) =>
    room !== HELD_ROOM ? Infinity : held === undefined ? -Infinity : (held.until ?? Infinity);
  await some.store.put([
    ...Array.from({ length: rows }, (_, at) => aRow(`row ${at}`, { madeAt: at + 1 })),
    aRow('other', { subscription: OTHER, madeAt: 1_000 }),
  ]);
  await some.store.claim({ kind: 'named', rooms: [ROOM] });
  await some.store.release([{ room: ROOM, afterMs: 3_000_000, shutForMs: SHUT_MS }]);
  const one = some.start();
  await some.clock.runFor(1_500);
  return {
    some,
    one,
    /** Does what the database trigger does. */
    hold(hold: Hold | undefined) {
      held = hold;
      for (const room of [ROOM, HELD_ROOM]) some.waiting.changed(room);
    },
    /** Without any room that hears of it. */
    holdUnheard: (hold: Hold | undefined) => (held = hold),
    /** Rows among them. */
    taken: () => one.names.filter((name) => name.startsWith('row')),
    namesIn: (room: string) => [...(some.waiting.room(room)?.rows.after() ?? [])].map(({ id }) => id.slice(0, -2)),
    [Symbol.asyncDispose]: () => some[Symbol.asyncDispose](),
  };
}

describe('what waits for a subscription that is held', () => {
  test('moves to a room of its own within a second, is not taken, and leaves others where they were', async () => {
    await using held = await someHeld();
    held.hold({ why: 'paused', until: 600_000 });
    await held.some.clock.runFor(1_100);
    expect([held.namesIn(ROOM), held.namesIn(HELD_ROOM)]).toEqual([['other'], ['row 0', 'row 1', 'row 2']]);
    expect(held.taken()).toEqual([]);
    const rows = [...(held.some.waiting.room(HELD_ROOM)?.rows.after() ?? [])];
    expect(rows).toMatchObject(rows.map(() => ({ why: 'paused', dueAt: 600_000 })));
  });

  test('is not looked at before it is due, and then at once, the oldest first', async () => {
    await using held = await someHeld();
    held.hold({ why: 'paused', until: 600_000 });
    await held.some.clock.runFor(5_000);
    held.one.asked.clear();
    const { lookAt } = held.some.waiting.room(HELD_ROOM) ?? {};
    await held.some.clock.runFor(590_000);
    expect([lookAt, held.taken(), held.one.asked.get('take') ?? 0]).toEqual([600_000, [], 0]);
    await held.some.clock.runFor(5_000);
    expect(held.taken()).toEqual(['row 0', 'row 1', 'row 2']);
  });

  test('is due at once where it is let go before', async () => {
    await using held = await someHeld();
    held.hold({ why: 'stopped' });
    await held.some.clock.runFor(5_000);
    held.one.taken.get('other')?.acknowledge();
    held.hold(undefined);
    await held.some.clock.runFor(2_100);
    const rows = [...held.one.taken.keys(), ...held.namesIn(ROOM)];
    expect(rows).toEqual(expect.arrayContaining(['row 0', 'row 1', 'row 2']));
    expect(held.taken()[0]).toBe('row 0');
    expect(held.namesIn(HELD_ROOM).filter((name) => !held.one.taken.has(name))).toEqual([]);
  });

  test('is due at another time where the pause is longer or shorter, or is a stop by now', async () => {
    await using held = await someHeld();
    for (const [hold, dueAt] of [
      [{ why: 'paused', until: 600_000 }, 600_000],
      [{ why: 'paused', until: 900_000 }, 900_000],
      [{ why: 'paused', until: 30_000 }, 30_000],
      [{ why: 'stopped' }, TOO_OLD_AT],
    ] as const) {
      held.hold(hold);
      await held.some.clock.runFor(2_000);
      const rows = [...(held.some.waiting.room(HELD_ROOM)?.rows.after() ?? [])];
      expect(rows).toHaveLength(3);
      expect(rows[0]).toMatchObject({ why: hold.why, dueAt });
    }
    expect(held.taken()).toEqual([]);
  });

  test('is taken as soon as it is too old, whatever holds it', async () => {
    await using held = await someHeld();
    held.hold({ why: 'stopped' });
    await held.some.clock.runFor(5_000);
    held.some.clock.skipTo(TOO_OLD_AT);
    await held.some.clock.runFor(1_100);
    expect(held.taken()).toEqual(['row 0', 'row 1', 'row 2']);
  });

  test('ends within a second where its subscription ends', async () => {
    await using held = await someHeld();
    held.hold({ why: 'paused', until: 600_000 });
    await held.some.clock.runFor(5_000);
    held.some.findTarget = (guid) => (guid === SUBSCRIPTION ? { ...TARGET, state: 'ended' } : TARGET);
    held.some.waiting.changed(HELD_ROOM);
    await held.some.clock.runFor(1_100);
    expect(held.taken()).toEqual(['row 0', 'row 1', 'row 2']);
  });

  test('goes to the URL that its subscription has by then', async () => {
    await using held = await someHeld();
    held.hold({ why: 'stopped' });
    await held.some.clock.runFor(5_000);
    const moved = aTarget('moved');
    held.some.findTarget = (guid) => (guid === SUBSCRIPTION ? moved : TARGET);
    held.some.waiting.changed(HELD_ROOM);
    await held.some.clock.runFor(1_100);
    expect([...held.one.taken.keys(), ...held.namesIn(roomOf(moved))]).toEqual(
      expect.arrayContaining(['row 0', 'row 1', 'row 2']),
    );
  });

  test('counts for its account: the oldest of too many end', async () => {
    await using held = await someHeld();
    held.hold({ why: 'stopped' });
    await held.some.clock.runFor(5_000);
    await held.some.store.endBeyond(TARGET.account, { rows: 2, bytes: 2 ** 30 });
    await held.some.clock.runFor(2_000);
    expect(held.taken()).toEqual(['row 0', 'row 1']);
    expect(held.one.taken.get('row 0')?.messages[0]?.waited).toMatchObject({ isOverLimit: true });
  });

  test('is found within ten seconds where it was put there just after it was let go', async () => {
    await using held = await someHeld(0);
    held.holdUnheard(undefined);
    const row = { ...aRow('late'), room: HELD_ROOM, why: 'paused' as const, afterMs: 600_000 };
    await held.some.store.put([row]);
    await held.some.clock.runFor(12_000);
    expect([...held.one.taken.keys(), ...held.namesIn(ROOM)]).toContain('late');
  });

  test('is found, too, where the pause was made shorter just before', async () => {
    await using held = await someHeld(0);
    held.holdUnheard({ why: 'paused', until: 30_000 });
    await held.some.store.put([{ ...aRow('late'), room: HELD_ROOM, why: 'paused', afterMs: 600_000 }]);
    await held.some.clock.runFor(12_000);
    expect(held.some.waiting.room(HELD_ROOM)?.lookAt).toBe(30_000);
  });

  test('that was put into the room of its endpoint too late is moved once one of it is found to be held', async () => {
    await using held = await someHeld();
    held.holdUnheard({ why: 'stopped' });
    await held.some.store.claim({ kind: 'named', rooms: [ROOM] });
    await held.some.store.release([{ room: ROOM, afterMs: 0, shutForMs: SHUT_MS }]);
    await held.some.clock.runFor(1_100);
    expect(held.taken()).toEqual(['row 0']);
    // Does what the handler does.
    held.one.flow.rules.onMoved(ROOM);
    await held.some.clock.runFor(10);
    expect(held.namesIn(HELD_ROOM)).toEqual(['row 1', 'row 2']);
  });
});
