import { describe, expect, test } from '@jest/globals';
import { settled, TurnedClock } from '@waybell/runtime/turned-clock';
import { AdaptiveWriter, type WriteResult } from './write-outcomes.ts';

const TIMEOUT_MS = 1_000;
const POISON = -1;
const WRONG = -2;

/** Writes numbers, each of which takes `eachMs`. */
function aWriter() {
  const clock = new TurnedClock();
  const database = { eachMs: 1, lots: new Array<number>(), written: new Set<number>(), isStill: false };
  const write = async (lot: readonly number[]): Promise<WriteResult> => {
    database.lots.push(lot.length);
    const tookMs = lot.length * database.eachMs;
    await settled();
    if (database.isStill || lot.includes(POISON) || tookMs > TIMEOUT_MS) {
      return { kind: 'slow', error: new Error('away') };
    }
    if (lot.includes(WRONG)) return { kind: 'refused', reason: 'wrong' };
    await clock.runFor(tookMs);
    for (const each of lot) database.written.add(each);
    return { kind: 'written' };
  };
  return { database, writer: new AdaptiveWriter(write, { timeoutMs: TIMEOUT_MS, clock }) };
}

const upTo = (count: number) => Array.from({ length: count }, (_, index) => index);
const nothing = (count: number) => upTo(count).map(() => undefined);

describe('AdaptiveWriter', () => {
  test('writes all in one go while there is time for that', async () => {
    const { database, writer } = aWriter();
    expect(await writer.reasonsOf(upTo(500))).toEqual(nothing(500));
    expect(database.lots).toEqual([500]);
  });

  test('halves what was too slow, begins with as little from then on, and grows again while there is time', async () => {
    const { database, writer } = aWriter();
    database.eachMs = 4;
    expect(await writer.reasonsOf(upTo(800))).toEqual(nothing(800));
    expect(database.written.size).toBe(800);
    database.lots.length = 0;
    expect(await writer.reasonsOf(upTo(800))).toEqual(nothing(800));
    expect(database.lots).toEqual([200, 200, 200, 200]);
    database.eachMs = 0.1;
    database.lots.length = 0;
    await writer.reasonsOf(upTo(10_000));
    expect(database.lots[0]).toBe(200);
    expect(Math.max(...database.lots)).toBeGreaterThan(1_000);
  });

  test.each([0, 1, 5, 7])('finds one that is always too slow, and one that is wrong, at place %i', async (place) => {
    const { database, writer } = aWriter();
    const records = upTo(8).map((each) => each + 1);
    records[place] = POISON;
    records[(place + 3) % 8] = WRONG;
    const reasons = await writer.reasonsOf(records);
    expect(reasons[place]).toMatch(/longer than a statement may/);
    expect(reasons[(place + 3) % 8]).toBe('wrong');
    expect(reasons.filter((reason) => reason === undefined)).toHaveLength(6);
    expect(database.written.size).toBe(6);
  });

  test('says that Postgres is away after as few tries as for one, where it stands still', async () => {
    const { database, writer } = aWriter();
    database.isStill = true;
    await expect(writer.reasonsOf(upTo(10_000))).rejects.toThrow('away');
    expect(database.lots).toEqual([10_000, 1, 1]);
  });

  test('suspects one that is alone only if another is written meanwhile', async () => {
    const { writer } = aWriter();
    await expect(writer.reasonsOf([POISON])).rejects.toThrow('away');
    const [alone, beside] = [writer.reasonsOf([POISON]), writer.reasonsOf([1])];
    expect(await beside).toEqual([undefined]);
    expect(await alone).toEqual([expect.stringMatching(/longer than a statement may/)]);
  });
});
