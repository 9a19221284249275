import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { type JsonValue, toPlain, writeJson } from './json.ts';
import { type JsonReading, readJson } from './read-json.ts';

const MAX_DEPTH = 32;
/** The library's own takes more than a second to be made. */
const character = fc
  .oneof(fc.integer({ min: 0, max: 0xd7_ff }), fc.integer({ min: 0xe0_00, max: 0x10_ff_ff }))
  .map((point) => String.fromCodePoint(point));
const read = (text: string | Buffer) => readJson(Buffer.from(text), MAX_DEPTH);
const rewritten = (text: string) => writeJson(valueOf(read(text)));

function valueOf(reading: JsonReading): JsonValue {
  if (reading.kind === 'invalid') throw new Error(reading.detail);
  return reading.value;
}

describe('readJson, then writeJson', () => {
  test.each([
    ['digits of numbers', '[0.10,-0,1e400,1E+5,100.0,12345678901234567890123,0.00000000000000000001]'],
    ['the order of members, numeric names included', '{"b":1,"2":2,"a":3,"1":4}'],
    ['numeric names in objects of all depths', '[{"x":{"2":{"10":1,"9":[{"1":0,"0":1}]},"1":2}}]'],
    ['numbers as JavaScript writes them', '[0,1,-1,0.1,1e+21,5e-324,9007199254740992,1.7976931348623157e+308]'],
    ['an escaped backslash before what looks like a NUL', String.raw`"\\u0000"`],
    ['names that mean something to JavaScript', '{"__proto__":{"x":1},"constructor":2,"toString":3,"":4}'],
    ['text of every Unicode plane', '"aé\u0416漢😀\u{1F9FF}\u{20000}\u{E0001}\u{10FFFD}\uFFFF\u2028"'],
    ['lone surrogates, as escapes', String.raw`["\ud83d","\ude00x","\udfff\ud800",{"\ud800":1}]`],
    ['escapes that JSON needs', String.raw`"\"\\\b\f\n\r\t\u0001\u001f"`],
    ['scalars and empty containers', '[null,true,false,"",[],{}]'],
  ])('keep %s', (_what, text) => {
    expect(rewritten(text)).toBe(text);
  });

  test('drop white space and needless escapes', () => {
    expect(rewritten(' {\t"a" :\r\n [ 1 , 2 ] , "\\u00e9\\/" : "\\ud83d\\ude00" } ')).toBe('{"a":[1,2],"é/":"😀"}');
  });

  test('read the same however much white space there is', () => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: character }), (value) => {
        const [compact, spaced] = [JSON.stringify(value), JSON.stringify(value, null, 1)];
        fc.pre(!compact.includes(String.raw`\u0000`));
        expect(valueOf(read(spaced))).toEqual(valueOf(read(compact)));
        expect(rewritten(spaced)).toBe(rewritten(compact));
      }),
    );
  });

  test('lose nothing of any JSON value', () => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: character }), (value) => {
        fc.pre(!JSON.stringify(value).includes(String.raw`\u0000`));
        expect(JSON.parse(rewritten(JSON.stringify(value)))).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });

  test('read what JSON.parse reads and refuse what it refuses', () => {
    const piece = fc.constantFrom(
      ...'{}[]:,"\\ \t0123-+.eE/untrfalsx\n\u0001é'.split(''),
      '\\u',
      'true',
      'null',
      '"a"',
      '":',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const text = pieces.join('');
        const reading = read(text);
        fc.pre(reading.kind === 'value' || reading.reason === 'not_json');
        expect({ text, isRead: reading.kind === 'value' }).toEqual({ text, isRead: isJson(text) });
      }),
      { numRuns: 5_000 },
    );
  });
});

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

describe('readJson', () => {
  test.each([
    ['not_json', '', 'the body (character 1): the body is empty'],
    ['not_json', '{\n  "a": [1,\n é2]\n}', '/a/1 (character 2 of its line 3): a value is expected'],
    ['not_json', '{"a":[1,2', '/a/1 (character 10): a comma or a closing bracket is expected'],
    ['not_json', '{"a":{"b":nul}}', '/a/b (character 11): a value is expected'],
    ['not_json', '{"a":1} x', 'the body (character 9): there is more after the end of the JSON value'],
    ['not_json', '{"a":01}', '/a (character 7): a comma or a closing brace is expected'],
    ['not_json', '{a:1}', 'the body (character 2): a member name in double quotes is expected'],
    ['not_json', '{"a":"x\ny"}', '/a (character 8): a control character is not escaped'],
    ['not_json', String.raw`{"a":"\x41"}`, '/a (character 6): a string holds an escape that JSON does not have'],
    ['not_json', '{"a":"x', '/a (character 8): a string does not end'],
    ['not_json', '\u{FEFF}{}', 'the body (character 1): a value is expected'],
    ['duplicate_key', '{"a":{"b":1,"b":1}}', '/a/b (character 16): the member is there twice'],
    [
      'duplicate_key',
      '{"a":[{"__proto__":1,"__proto__":1}]}',
      '/a/0/__proto__ (character 33): the member is there twice',
    ],
    ['duplicate_key', '{"1":1,"2":2,"1":1}', '/1 (character 17): the member is there twice'],
    ['duplicate_key', String.raw`{"a":1,"\u0061":1}`, '/a (character 16): the member is there twice'],
    [
      'nul_in_string',
      String.raw`{"a":["x\u0000"]}`,
      '/a/0 (character 7): a string holds a NUL, which receivers cannot store',
    ],
    ['nul_in_string', '{"a":"\0"}', '/a (character 7): a string holds a NUL, which receivers cannot store'],
    [
      'nul_in_string',
      String.raw`{"\u0000":1}`,
      'the body (character 2): a string holds a NUL, which receivers cannot store',
    ],
    ['not_json', '{"a/b":{"c~d":x}}', '/a~1b/c~0d (character 15): a value is expected'],
  ])('refuses as %s: %j', (reason, text, detail) => {
    const [place] = detail.split(' (');
    expect(read(text)).toEqual({ kind: 'invalid', reason, detail, ...(place === 'the body' ? {} : { place }) });
  });

  test('names the byte that is not UTF-8, an encoded surrogate included', () => {
    expect(read(Buffer.from([0x22, 0x61, 0xff, 0x22]))).toMatchObject({
      reason: 'not_utf8',
      detail: 'byte 3 is not UTF-8: write the JSON in UTF-8',
    });
    expect(read(Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22]))).toMatchObject({ reason: 'not_utf8' });
  });

  test.each([
    [String.raw`{"a":1,"b\u0000":2}`, 'nul_in_string', 'the body (character 8)'],
    ['{"a":1,}', 'not_json', 'the body (character 8)'],
    [String.raw`{"p":{"a":{"x":1},"b\x":3}}`, 'not_json', '/p (character 19)'],
  ])('says of a broken name in %s in which object it is', (text, reason, place) => {
    expect(read(text)).toMatchObject({ reason, detail: expect.stringContaining(`${place}: `) });
  });

  test('takes 32 levels and refuses 33', () => {
    expect(read(`${'['.repeat(32)}${']'.repeat(32)}`).kind).toBe('value');
    expect(read(`${'['.repeat(33)}${']'.repeat(33)}`)).toMatchObject({ reason: 'too_deep' });
    expect(read(`${'{"a":'.repeat(32)}1${'}'.repeat(32)}`).kind).toBe('value');
    expect(read(`${'{"a":'.repeat(33)}1${'}'.repeat(33)}`)).toMatchObject({ reason: 'too_deep' });
    expect(read('[{"a":'.repeat(100_000))).toMatchObject({ reason: 'too_deep' });
    expect(read(`${'['.repeat(400_000)}${']'.repeat(400_000)}`)).toMatchObject({ reason: 'too_deep' });
  });

  test('keeps a detail short and printable, whatever the names in the body', () => {
    const reading = read(JSON.stringify({ ['\u0001\u007f\ud800'.repeat(10_000)]: 1 }).replace('1}', 'x}'));
    expect(reading).toMatchObject({ detail: expect.stringMatching(/^[\x20-\x7e…]{1,1600}$/) });
  });
});

describe('toPlain', () => {
  test.each([
    ['1.0', 1],
    ['1e2', 100],
    ['9007199254740993', 2 ** 53],
    ['1e400', Infinity],
    ['0.10', 0.1],
  ])('shows %s as its value', (text, plain) => {
    expect(toPlain(valueOf(read(text)))).toBe(plain);
  });

  test.each(['1e-400', '9007199254740993.5', '1.00000000000000000000000001'])('never shows %s as whole', (text) => {
    expect(toPlain(valueOf(read(text)))).toBe(0.5);
  });

  test('lets no member reach the prototype', () => {
    const plain = toPlain(valueOf(read('{"__proto__":{"isAdmin":true}}')));
    expect(plain).not.toHaveProperty('isAdmin');
    expect(Object.keys(Object(plain))).toEqual(['__proto__']);
  });
});
