import { describe, expect, test } from '@jest/globals';
import { oneLine, plainText } from './print.ts';

describe('oneLine', () => {
  test.each([
    ['a line end', 'a\nb\r\nc', String.raw`a\u000ab\u000d\u000ac`],
    ['controls of a terminal', '\u001b[2J\u009b1A\u007f', String.raw`\u001b[2J\u009b1A\u007f`],
    ['what turns the direction', 'a\u202etxt.\u2066', String.raw`a\u202etxt.\u2066`],
    ['what cannot be seen', 'pay\u200bpal\ufeff\u{e0061}', String.raw`pay\u200bpal\ufeff\udb40\udc61`],
    ['other separators of lines', 'a\u2028b\u2029c\u0085d', String.raw`a\u2028b\u2029c\u0085d`],
    ['half a pair', '\ud800', String.raw`\ud800`],
  ])('shows %s', (_what, text, shown) => {
    expect(oneLine(text)).toBe(shown);
  });

  test('leaves letters of any language, and JSON that it says the same', () => {
    expect(oneLine('Müller → 東京 😀')).toBe('Müller → 東京 😀');
    const value = { sub: 'a\nb\u202e\u{e0061}' };
    expect(JSON.parse(oneLine(JSON.stringify(value)))).toEqual(value);
  });
});

describe('plainText', () => {
  test('keeps its lines and tabs, and nothing else of that kind', () => {
    expect(plainText('a\n\tb\r\u2028')).toBe('a\n\tb' + String.raw`\u000d\u2028`);
  });
});
