import { describe, expect, test } from '@jest/globals';
import { bytes, count, duration, durations, InvalidEnvironment, readEnvironment } from './environment.ts';

const specs = {
  DELAY: duration({ default: 60_000 }),
  DELAYS: durations({ default: [1_000] }),
  SLOTS: count({ default: 8 }),
  SIZE: bytes({ default: 1 }),
};

describe('readEnvironment', () => {
  test('reads durations as milliseconds and sizes as bytes', () => {
    const read = readEnvironment(specs, { DELAY: '4s', DELAYS: '1s, 2s,4s', SIZE: '64KiB' });
    expect({ ...read }).toMatchObject({ DELAY: 4_000, DELAYS: [1_000, 2_000, 4_000], SIZE: 65_536, SLOTS: 8 });
  });

  test('takes an empty value as not set', () => {
    expect(readEnvironment(specs, { SLOTS: '' }).SLOTS).toBe(8);
  });

  test('names every bad setting at once', () => {
    const read = () => readEnvironment(specs, { DELAY: '4', SLOTS: '0' });
    expect(read).toThrow(InvalidEnvironment);
    expect(read).toThrow(/DELAY[^]*SLOTS/);
  });
});
