import { describe, expect, test } from '@jest/globals';
import { TurnedClock } from '@waybell/runtime/turned-clock';
import { errors, jwtVerify } from 'jose';
import { aKey, signed, startIssuer } from '../../testing/issuer.ts';
import { issuerKeys } from './by-jwt.ts';

const LONG_MS = 60_000;

describe('issuerKeys', () => {
  test('are fetched once for many tokens, and not again for names that are made up', async () => {
    await using issuer = await startIssuer();
    const [known, unknown] = [await aKey('known'), await aKey('made up')];
    issuer.show([known]);
    const keys = issuerKeys(issuer.jwksUrl, { timeoutMs: LONG_MS });
    const verify = async (key: typeof known) => jwtVerify(await signed(key, {}), keys);
    await Promise.all([1, 2, 3].map(() => verify(known)));
    for (let each = 0; each < 3; each += 1) {
      await expect(verify(unknown)).rejects.toBeInstanceOf(errors.JWKSNoMatchingKey);
    }
    await verify(known);
    expect(issuer.asked()).toBe(1);
  });

  test('follow a rotation once they may be asked for again: the new key holds, the old one no more', async () => {
    await using issuer = await startIssuer();
    const [old, next] = [await aKey('old'), await aKey('next')];
    issuer.show([old]);
    const keys = issuerKeys(issuer.jwksUrl, { askedEveryMs: 0, timeoutMs: LONG_MS });
    const verify = async (key: typeof old) => jwtVerify(await signed(key, {}), keys);
    await verify(old);
    issuer.show([next]);
    await verify(next);
    await expect(verify(old)).rejects.toBeInstanceOf(errors.JWKSNoMatchingKey);
  });

  test('are not asked for again and again while the issuer is broken', async () => {
    await using issuer = await startIssuer();
    issuer.show(null);
    const clock = new TurnedClock();
    const keys = issuerKeys(issuer.jwksUrl, { timeoutMs: LONG_MS, clock });
    const key = await aKey('known');
    const askedAt: number[] = [];
    for (const at of [0, 1, 4_999, 5_000, 5_001, 9_999, 10_000]) {
      clock.skipTo(at);
      const before = issuer.asked();
      await expect(jwtVerify(await signed(key, {}), keys)).rejects.not.toBeInstanceOf(errors.JWKSNoMatchingKey);
      if (issuer.asked() > before) askedAt.push(at);
    }
    expect(askedAt).toEqual([0, 5_000, 10_000]);
  });
});
