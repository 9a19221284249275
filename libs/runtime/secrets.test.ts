import { randomBytes } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { readKeyRing } from './secrets.ts';
import { TurnedClock } from './turned-clock.ts';
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

  test('opens what a row has now, after it had another secret, and each again', () => {
    const ring = readKeyRing(key('a'));
    const [one, other] = [ring.seal('one', 'row'), ring.seal('other', 'row')];
    for (const [secret, meant] of [
      [one, 'one'],
      [other, 'other'],
      [one, 'one'],
      [one, 'one'],
    ] as const) {
      expect(ring.open(secret, 'row')).toBe(meant);
    }
  });

  test('opens it also from base64 in lines, as Postgres writes it, once and again', () => {
    const ring = readKeyRing(key('a'));
    const { sealed, keyId } = ring.seal('tökén', 'row');
    const written = sealed.toString('base64').replaceAll(/.{20}/g, '$&\n');
    for (const each of [written, written, sealed]) expect(ring.open({ sealed: each, keyId }, 'row')).toBe('tökén');
  });

  test('opens what was sealed with the same key of another id', () => {
    const [first, again] = ['a', 'b'].map((id) => `${id}:${Buffer.alloc(32, 1).toString('base64')}`);
    const ring = readKeyRing(`${first},${again}`);
    const { sealed } = ring.seal('token', 'row');
    for (const keyId of ['a', 'b', 'a']) expect(ring.open({ sealed, keyId }, 'row')).toBe('token');
    expect(() => ring.open({ sealed, keyId: 'c' }, 'row')).toThrow(Unavailable);
  });

  test('decrypts once what is opened again and again, and again what was not for ten minutes', async () => {
    const clock = new TurnedClock(1);
    const ring = readKeyRing(key('a'), clock);
    const { sealed, keyId } = ring.seal('token', 'row');
    let decrypted = 0;
    // Only what is decrypted is taken apart.
    sealed.subarray = (...part) => {
      if (part[0] === 0) decrypted += 1;
      return Buffer.prototype.subarray.apply(sealed, part);
    };
    const openAfter = async (passedMs: number) => {
      await clock.runFor(passedMs);
      ring.open({ sealed, keyId }, 'row');
      return decrypted;
    };
    expect(await openAfter(0)).toBe(1);
    for (const passedMs of [0, 500_000, 500_000]) expect(await openAfter(passedMs)).toBe(1);
    expect(await openAfter(700_000)).toBe(2);
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
