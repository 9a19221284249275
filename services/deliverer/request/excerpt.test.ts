import { expect, test } from '@jest/globals';
import { excerpt } from './excerpt.ts';

test.each([
  ['nothing', [], ''],
  ['text in pieces that cut a character', ['grü', 'ße'].map((text) => Buffer.from(text)), 'grüße'],
  ['text whose last character is cut', [Buffer.from('sí €').subarray(0, -1)], 'sí '],
  ['NULs', [Buffer.from('a\0b\0')], 'a\ufffdb\ufffd'],
  ['half a surrogate pair', [Buffer.from([0x61, 0xed, 0xa0, 0x80, 0x62])], 'a\ufffd\ufffd\ufffdb'],
  ['what is no text', [Buffer.from([0x1f, 0x8b, 0xff])], '\u001f\ufffd\ufffd'],
])('%s becomes text that JSON and Postgres hold', (_, chunks, text) => {
  const shown = excerpt(chunks);
  expect(shown).toBe(text);
  expect(shown.isWellFormed()).toBe(true);
});
