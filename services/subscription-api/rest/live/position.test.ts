import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { FeedPosition, POSITION_PATTERN, type Placed } from './position.ts';

const NOW = Date.parse('2026-11-20T09:30:00Z');

const aRecord = (at: number, key = `record ${at}`): Placed => ({ key, at });

const afterTelling = (records: readonly Placed[], position = new FeedPosition(NOW)): FeedPosition => {
  for (const record of records) if (!position.isSent(record)) position.note(record);
  return position;
};

const resumed = (position: FeedPosition): FeedPosition => FeedPosition.read(position.toString(), NOW + 1_000_000);

describe('a position that was written as an id and read', () => {
  test('knows what was told from what was not, in whatever order they came', () => {
    const position = resumed(afterTelling([aRecord(NOW + 300), aRecord(NOW + 100)]));
    const isSent = [100, 200, 300, 400].map((ms) => position.isSent(aRecord(NOW + ms)));
    expect(isSent).toEqual([true, false, true, false]);
  });

  test('tells nothing twice, and is an id of at most 100 characters', () => {
    const times = fc.array(fc.nat(60_000), { maxLength: 60 });
    fc.assert(
      fc.property(times, times, (first, more) => {
        const told = first.map((ms, place) => aRecord(NOW + ms, `first ${place}`));
        const once = afterTelling(told);
        const twice = afterTelling(
          more.map((ms, place) => aRecord(NOW + ms, `more ${place}`)),
          afterTelling(told, resumed(once)),
        );
        const id = twice.toString();
        expect(id.length).toBeLessThanOrEqual(100);
        expect(id).toMatch(new RegExp(POSITION_PATTERN));
        expect(told.filter((record) => !resumed(twice).isSent(record))).toEqual([]);
      }),
    );
  });

  test('lies at most at this time, whatever the id says', () => {
    const position = FeedPosition.read('zzzzzzzzz.', NOW);
    expect([NOW, NOW + 1].map((at) => position.isSent(aRecord(at)))).toEqual([true, false]);
  });

  test('can be read of every text that has the pattern', () => {
    fc.assert(
      fc.property(fc.stringMatching(new RegExp(POSITION_PATTERN)), (id) => {
        expect(FeedPosition.read(id, NOW).isSent(aRecord(NOW + 1))).toBe(false);
      }),
    );
  });
});

describe('a position', () => {
  test('counts all before a time as told that is forgotten, and tells later records still', () => {
    const position = afterTelling([aRecord(NOW + 100)]);
    position.forgetBefore(NOW + 500);
    const isSent = [100, 499, 500].map((ms) => position.isSent(aRecord(NOW + ms)));
    expect(isSent).toEqual([true, true, false]);
  });
});
