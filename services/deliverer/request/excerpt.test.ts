import { expect, test } from '@jest/globals';
import { excerpt, textOfPage } from './trace.ts';

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

test.each([
  ['text', 'not a <b>page</b>', 'not a <b>page</b>'],
  [
    'a page of Tomcat',
    '<!doctype html><html lang="en"><head><title>HTTP Status 400 – Bad Request</title><style type="text/css">body {font-family:Tahoma,Arial}</style></head><body><h1>HTTP Status 400</h1><hr class="line" /><p><b>Message</b> Invalid character found in the request target [&#47;hook &amp; more]</p></body></html>',
    'HTTP Status 400 – Bad Request HTTP Status 400 Message Invalid character found in the request target [&#47;hook & more]',
  ],
  ['a page that is cut in its style sheet', '<html><title>No</title><style>body {', 'No'],
  ['a page that is cut in a comment', '\ufeff\n<HTML><body>No<!-- more', 'No'],
  ['a page without text', '<html><script>go()</script></html>', '<html><script>go()</script></html>'],
])('of %s people are shown the text', (_, body, text) => {
  expect(textOfPage(body)).toBe(text);
});
