import { describe, expect, test } from '@jest/globals';
import { errors, jwtVerify } from 'jose';
import { TurnedClock } from '@waybell/runtime/turned-clock';
import { aKey, signed, startIssuer } from '../../testing/issuer.ts';
import { Problem } from '../http/problem.ts';
import { issuerKeys, jwtScopes } from './by-jwt.ts';

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

const [READ, WRITE] = ['webhooks:read', 'webhooks:write'];
const rules = { audience: 'api://waybell', defaultScopes: [] };

describe('the scopes of a JWT', () => {
  test.each<[claims: Record<string, unknown>, scopes: string[]]>([
    [{ scope: 'openid webhooks:read webhooks:write' }, [READ, WRITE]],
    [{ scope: 'openid,webhooks:read' }, [READ]],
    [{ scope: ' webhooks:write  webhooks:write ' }, [WRITE]],
    [{ scope: ['openid', 'webhooks:read'] }, [READ]],
    [{ scope: ['webhooks:read webhooks:write'] }, [READ, WRITE]],
    [{ scp: 'webhooks:read' }, [READ]],
    [{ scp: ['webhooks:write'] }, [WRITE]],
    [{ scope: 'webhooks:read', scp: ['webhooks:write'] }, [READ, WRITE]],
    [{ permissions: ['read:orders', 'webhooks:write'] }, [WRITE]],
    [{ roles: 'webhooks:read' }, [READ]],
    [{ permissions: ['webhooks:read'], roles: ['webhooks:write'] }, [READ, WRITE]],
    [{ scope: 'openid profile', permissions: ['webhooks:read'] }, [READ]],
    [{ scope: 'api://waybell/webhooks:read' }, [READ]],
  ])('of %j are %j', (claims, scopes) => {
    expect(jwtScopes(claims, rules)).toEqual({ scopes });
  });

  test('are no more than the client was granted, whatever its user may do', () => {
    const claims = { scope: 'webhooks:read', permissions: [READ, WRITE], roles: { reader: {} } };
    expect(jwtScopes(claims, rules).scopes).toEqual([READ]);
  });

  test.each<Record<string, unknown>>([
    { scope: '' },
    { scope: [] },
    { scp: 'Webhooks:Write' },
    { scope: 'api://other/webhooks:write' },
    { scope: 'https://webhooks:write/x' },
    { scope: 'admin' },
    { permissions: ['orders:write'] },
    { roles: [] },
  ])('of %j are none, even where those without any claim have some', (claims) => {
    expect(jwtScopes(claims, { ...rules, defaultScopes: ['webhooks:write'] }).scopes).toEqual([]);
  });

  test('that has none of the claims are those of the setting', () => {
    expect(jwtScopes({ sub: 'x', groups: [WRITE] }, { ...rules, defaultScopes: ['webhooks:read'] }).scopes).toEqual([
      READ,
    ]);
  });

  test.each<[name: string, value: unknown]>([
    ['scope', 7],
    ['scope', null],
    ['scope', { webhooks: 'read' }],
    ['scp', [READ, 7]],
    ['scp', [[READ]]],
    ['permissions', true],
    ['roles', [{ value: READ }]],
  ])('cannot be read where %s is %j, which is said', (name, value) => {
    const read = () => jwtScopes({ [name]: value }, rules);
    expect(read).toThrow(Problem);
    expect(read).toThrow(`The claim ${name} of the access token has to be a text or a list of texts.`);
  });
});
