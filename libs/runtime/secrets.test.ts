import { randomBytes } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { readKeyRing } from './secrets.ts';
import { Unavailable } from './unavailable.ts';

const key = (id: string) => `${id}:${randomBytes(32).toString('base64')}`;

describe('readKeyRing', () => {
  test('opens what it sealed, and only for the row it was sealed for', () => {
    const ring = readKeyRing(key('a'));
    const secret = ring.seal('tökén', 'row-1');
    expect(ring.open(secret, 'row-1')).toBe('tökén');
    expect(() => ring.open(secret, 'row-2')).toThrow('authenticate');
    expect(ring.open(secret, 'row-1')).toBe('tökén');
  });

  test('opens with an older key after a newer one was put in front', () => {
    const older = key('a');
    const secret = readKeyRing(older).seal('token', 'row');
    const rotated = readKeyRing(`${key('b')},${older}`);
    expect(rotated.open(secret, 'row')).toBe('token');
    expect(rotated.seal('token', 'row').keyId).toBe('b');
    expect(rotated.keyIds).toEqual(['b', 'a']);
  });

  test('does not mistake a changed ciphertext for the one it opened', () => {
    const ring = readKeyRing(key('a'));
    const { sealed, keyId } = ring.seal('token', 'row');
    ring.open({ sealed, keyId }, 'row');
    const changed = Buffer.from(sealed);
    changed.writeUInt8(changed.readUInt8(changed.length - 1) ^ 1, changed.length - 1);
    expect(() => ring.open({ sealed: changed, keyId }, 'row')).toThrow('authenticate');
  });

  test('is unavailable, and says which key it lacks, for what another sealed', () => {
    const secret = readKeyRing(key('a')).seal('token', 'row');
    const open = () => readKeyRing(key('b')).open(secret, 'row');
    expect(open).toThrow(Unavailable);
    expect(open).toThrow('key "a" of SECRET_KEYS');
  });

  test('refuses a key of the wrong length and says which', () => {
    expect(() => readKeyRing('short:AAAA')).toThrow('"short"');
  });
});
