import { randomBytes } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { readKeyRing } from './secrets.ts';

const key = (id: string) => `${id}:${randomBytes(32).toString('base64')}`;

describe('readKeyRing', () => {
  test('opens what it sealed, and only for the row it was sealed for', () => {
    const ring = readKeyRing(key('a'));
    const secret = ring.seal('tökén', 'row-1');
    expect(ring.open(secret, 'row-1')).toBe('tökén');
    expect(() => ring.open(secret, 'row-2')).toThrow('authenticate');
  });

  test('opens with an older key after a newer one was put in front', () => {
    const older = key('a');
    const secret = readKeyRing(older).seal('token', 'row');
    const rotated = readKeyRing(`${key('b')},${older}`);
    expect(rotated.open(secret, 'row')).toBe('token');
    expect(rotated.seal('token', 'row').keyId).toBe('b');
  });

  test('refuses a key of the wrong length and says which', () => {
    expect(() => readKeyRing('short:AAAA')).toThrow('"short"');
  });
});
