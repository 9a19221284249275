import { expect, test } from '@jest/globals';
import { HeldKeys } from './relay.ts';

test('a key whose events are late is held ever longer, until one is confirmed', () => {
  let now = 0;
  const held = new HeldKeys(() => now);
  const late = (key: string) => held.learn({ confirmedKeys: [], lateKeys: [key] });
  late('a');
  expect(held.keys).toEqual(['a']);
  now = 1_000;
  expect(held.keys).toEqual([]);
  late('a');
  now = 2_999;
  expect(held.keys).toEqual(['a']);
  for (let each = 0; each < 10; each += 1) late('a');
  now += 29_999;
  expect(held.keys).toEqual(['a']);
  now += 1;
  expect(held.keys).toEqual([]);
  held.learn({ confirmedKeys: ['a'], lateKeys: [] });
  late('a');
  now += 1_000;
  expect(held.keys).toEqual([]);
});
