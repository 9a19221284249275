import { describe, expect, test } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import vectors from '../../docs/signature-vectors.json' with { type: 'json' };
import { signatures } from './callback.ts';

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
