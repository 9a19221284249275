import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { toUtf8 } from './read-event.ts';

const bigEndian = (text: string) => Buffer.from(text, 'utf16le').swap16();
const wide = (text: string, isBigEndian: boolean) => {
  const bytes = Buffer.alloc(text.length * 4);
  for (let at = 0; at < text.length; at += 1) {
    if (isBigEndian) bytes.writeUInt32BE(text.charCodeAt(at), at * 4);
    else bytes.writeUInt32LE(text.charCodeAt(at), at * 4);
  }
  return bytes;
};
const MARK = '\uFEFF';
const TEXT = '{"a":"Łódź 🚚",  "n":0.10}';

describe('toUtf8', () => {
  test.each([
    ['UTF-8', Buffer.from(TEXT)],
    ['UTF-8 with a mark', Buffer.from(MARK + TEXT)],
    ['UTF-16LE with a mark', Buffer.from(MARK + TEXT, 'utf16le')],
    ['UTF-16BE with a mark', bigEndian(MARK + TEXT)],
    ['UTF-16LE without a mark', Buffer.from(TEXT, 'utf16le')],
    ['UTF-16BE without a mark', bigEndian(TEXT)],
    ['UTF-16LE that begins with a list and white space', Buffer.from(`\r\n [${TEXT}]`, 'utf16le')],
  ])('makes UTF-8 without a mark of %s', (what, bytes) => {
    const decoded = toUtf8(bytes);
    const text = what.includes('list') ? `\r\n [${TEXT}]` : TEXT;
    expect(decoded).toEqual({ kind: 'bytes', bytes: Buffer.from(text) });
  });

  test.each([
    ['UTF-32', wide(MARK + TEXT, false)],
    ['UTF-32', wide(MARK + TEXT, true)],
    ['UTF-32', wide('{}', false)],
    ['UTF-32', wide('{}', true)],
    ['UTF-16LE, and broken', Buffer.from(MARK + TEXT, 'utf16le').subarray(0, -1)],
    ['UTF-16LE, and broken', Buffer.from(`${MARK}{"\uD800":1}`, 'utf16le')],
    ['UTF-16BE, and broken', bigEndian(`${MARK}{"\uDC00":1}`)],
  ])('refuses %s', (what, bytes) => {
    expect(toUtf8(bytes)).toEqual({
      kind: 'invalid',
      reason: 'not_utf8',
      detail: `the body is in ${what}: write it in UTF-8`,
    });
  });

  test.each([[[]], [[0xef]], [[0xef, 0xbb]], [[0x7b]], [[0]], [[0x28, 0xb5, 0x2f, 0xfd]], [[0x7b, 0xe9, 0x7d]]])(
    'leaves %j alone',
    (bytes) => {
      expect(toUtf8(Buffer.from(bytes))).toEqual({ kind: 'bytes', bytes: Buffer.from(bytes) });
    },
  );

  test('makes the same of any document, however it is written', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string({ unit: 'grapheme' }), fc.jsonValue()), (value) => {
        const text = JSON.stringify(value);
        for (const bytes of [Buffer.from(text, 'utf16le'), bigEndian(text), Buffer.from(MARK + text)])
          expect(toUtf8(bytes)).toEqual({ kind: 'bytes', bytes: Buffer.from(text) });
      }),
    );
  });
});
