import { describe, expect, test } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import vectors from '../../docs/signature-vectors.json' with { type: 'json' };
import { signatures, shownUrl } from './callback.ts';

describe('signatures', () => {
  test.each(vectors)('are those of the published vector: $about', (vector) => {
    const { id, timestamp, body, secrets, signature } = vector;
    expect(signatures(secrets, { id, timestampS: timestamp, body: Buffer.from(body) })).toBe(signature);
  });

  test.each(vectors)('are what the library of Standard Webhooks makes of the vector: $about', (vector) => {
    const { id, timestamp, body, secrets, signature } = vector;
    const theirs = secrets.map((secret) => new Webhook(secret).sign(id, new Date(timestamp * 1_000), body));
    expect(theirs.join(' ')).toBe(signature);
  });

  test('of no secret are none', () => {
    expect(signatures([], { id: 'a', timestampS: 1, body: Buffer.from('') })).toBe('');
  });
});

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
