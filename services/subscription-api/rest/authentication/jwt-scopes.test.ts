import { describe, expect, test } from '@jest/globals';
import { Problem } from '../http/problem.ts';
import { jwtScopes } from './by-jwt.ts';

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
