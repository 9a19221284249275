import { expect, test } from '@jest/globals';
import { maskedHead } from './mask.ts';

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
