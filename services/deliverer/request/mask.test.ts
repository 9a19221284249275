import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { masked, secretsOfQuery, maskedHead } from './mask.ts';

const SECRET = 'v1,k3y+/=ü "x"';

const ways: [what: string, text: string][] = [
  ['as it is', SECRET],
  ['as JSON', JSON.stringify(SECRET).slice(1, -1)],
  [
    'as JSON that escapes slashes',
    JSON.stringify(SECRET)
      .slice(1, -1)
      .replaceAll('/', String.raw`\/`),
  ],
  ['as JSON in ASCII', String.raw`v1,k3y\u002b\u002F\u003d\u00fc \u0022x\u0022`],
  ['as part of a URL', encodeURIComponent(SECRET)],
  ['in small hex', encodeURIComponent(SECRET).toLowerCase()],
  ['as a form', new URLSearchParams({ '': SECRET }).toString().slice(1)],
  ['as JSON in JSON', JSON.stringify(JSON.stringify(SECRET).slice(1, -1)).slice(1, -1)],
  ['as part of a URL in another', encodeURIComponent(encodeURIComponent(SECRET))],
  ['as HTML', 'v1,k3y&#43;&#x2F;=&#xfc; &#34;x&#x22;'],
];

describe('masked', () => {
  test.each(ways)('shows no secret %s', (_what, text) => {
    expect(masked(`{"a": "${text}", "b": "${text}"}`, ['other', SECRET])).toBe('{"a": "***", "b": "***"}');
  });

  test.each(ways)('shows no beginning of one %s, wherever the text is cut', (_what, text) => {
    for (let length = 1; length < text.length; length += 1) {
      expect(masked(`said ${text.slice(0, length)}`, [SECRET])).not.toMatch(/said v1(,|%2c)k3/i);
    }
  });

  test('masks the whole of one that begins as another', () => {
    expect(masked('secret-more secret-', ['secret-', 'secret-more'])).toBe('*** ***');
  });

  test('takes no time to speak of, whatever a receiver and its callback URL say', () => {
    // Patterns built from the secret took 19 s, or were too large to compile.
    const [text, secret] = ['ab'.repeat(2_048), `${'ab'.repeat(4_000)}z`];
    expect(masked(text, [secret])).toBe('***');
    expect(masked(`${text}!`, [secret])).toBe(`${text}!`);
  });

  test('takes no time to speak of for several long secrets of one beginning, put in by who has the receiver', () => {
    const secrets = Array.from({ length: 5 }, (_, index) => `${'ab'.repeat(2_040)}${index}`);
    const text = `${'ab'.repeat(2_044)}%41!`;
    // Prefix by prefix, this took 20 s.
    for (let count = 0; count < 100; count += 1) expect(masked(text, secrets)).toBe(text);
  });

  test('finds a secret of any length wherever it is, and the longest of its beginnings at the end', () => {
    const few = fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 160 });
    const secret = fc.string({ unit: fc.constantFrom('a', 'b'), minLength: 4, maxLength: 80 });
    fc.assert(
      fc.property(few, few, secret, fc.nat(79), (before, after, one, cut) => {
        expect(masked(`${before}${one}${after}`, [one])).not.toContain(one);
        const begun = one.slice(0, cut % one.length);
        const shown = masked(`${before}-${begun}`, [one]);
        expect(shown.endsWith(begun.length < 4 ? `-${begun}` : '-***')).toBe(true);
      }),
    );
  });

  test('leaves what is too short to be one, and what only looks like a pattern', () => {
    expect(masked('1 + 1 = 2; a.b*c', ['1', 'a1b*c', ''])).toBe('1 + 1 = 2; a.b*c');
  });
});

describe('secretsOfQuery', () => {
  test('are the values, decoded, those included that have no name', () => {
    expect(secretsOfQuery('?apikey=a%20b%2Fc&bare&x=1+2&broken=%zz')).toEqual(['a b/c', 'bare', '1 2', '%zz']);
    expect(secretsOfQuery('')).toEqual(['']);
  });
});

test.each([
  [
    'of a header that may be a secret',
    'HTTP/1.1 200 OK\r\nSet-Cookie: a=b\r\nx: y\r\n',
    'HTTP/1.1 200 OK\r\nSet-Cookie: ***\r\nx: y\r\n',
  ],
  ['that is folded', 'x-api-key: a\r\n b\r\nserver: me', 'x-api-key: ***\r\n ***\r\nserver: me'],
  ['that is cut', 'location: /a?b', 'location: ***'],
])('the value is left out %s', (_, text, shown) => {
  expect(maskedHead(text)).toBe(shown);
});

test.each([
  ['a line without a colon', 'HTTP/1.1 200 OK\r\nauthentic nonsense\r\n\r\n'],
  ['a body', 'HTTP/1.1 200 OK\r\n\r\nlocation: here\n'],
  ['what is no head', 'SSH-2.0-OpenSSH_9.2\r\n'],
])('%s is left as it is', (_, text) => {
  expect(maskedHead(text)).toBe(text);
});
