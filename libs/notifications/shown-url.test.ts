import { expect, test } from '@jest/globals';
import { shownUrl } from './callback.ts';

test.each([
  ['https://hooks.example.com', 'https://hooks.example.com/'],
  ['https://hooks.example.com:8443/a%20b/c', 'https://hooks.example.com:8443/a%20b/c'],
  ['https://[2606:4700::1111]/', 'https://[2606:4700::1111]/'],
  ['https://me:secret@hooks.example.com/a', 'https://hooks.example.com/a'],
  ['https://hooks.example.com/a#secret', 'https://hooks.example.com/a'],
  ['https://hooks.example.com/a?token=secret', 'https://hooks.example.com/a?token=***'],
  ['https://hooks.example.com/a?b=secret=&c=&d[]=secret#e', 'https://hooks.example.com/a?b=***&c=***&d[]=***'],
  ['https://hooks.example.com/a?secret', 'https://hooks.example.com/a?***'],
  ['https://hooks.example.com/a?b=secret&secret', 'https://hooks.example.com/a?b=***&***'],
  ['https://hooks.example.com/a?', 'https://hooks.example.com/a'],
])('%s is shown as %s', (callbackUrl, shown) => {
  expect(shownUrl(new URL(callbackUrl))).toBe(shown);
});
