import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:https';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { aKey, signed, type IssuedKey, someClaims } from '@waybell/subscription-api/testing/issuer';
import { authority, moveTo, publicAddress, stack } from './stand.ts';

const ISSUER = 'issuer.test';
const ADDRESS = publicAddress(31);
const PORT_OF_ISSUER = 8444;
const ORIGIN = `https://${ISSUER}:${PORT_OF_ISSUER}`;

export function tokenClaims(): void {
  describe('a JWT of another issuer', () => {
    let key: IssuedKey;
    let issuer: Server;
    let settings: AsyncDisposable;

    beforeAll(async () => {
      key = await aKey('a');
      issuer = createServer(authority.issue({ name: ISSUER }), (_request, response) =>
        response.end(JSON.stringify({ keys: [key.shown] })),
      ).listen(PORT_OF_ISSUER, ADDRESS);
      await once(issuer, 'listening');
      settings = await stack.withSettings('subscription-api', {
        JWT_ISSUER: ORIGIN,
        JWT_AUDIENCE: 'waybell',
        JWT_JWKS_URL: `${ORIGIN}/keys`,
      });
    });

    afterAll(async () => {
      await settings?.[Symbol.asyncDispose]();
      issuer?.closeAllConnections();
      issuer?.close();
    });

    /** How that token's reading of secrets, and their rotation, are answered. */
    async function answers(claims: Record<string, unknown>): Promise<number[]> {
      moveTo(ISSUER, ADDRESS);
      const whose = { iss: ORIGIN, account: randomUUID(), interface: 'shipper' };
      const token = await signed(key, someClaims({ ...whose, ...claims }));
      const ask = async (method: string, path: string) =>
        fetch(`${stack.stack.addresses['API_URL']}${path}`, { method, headers: { authorization: `Bearer ${token}` } });
      const read = await ask('GET', '/v1/public/webhooks');
      const written = await ask('POST', '/v1/signing-secrets/rotate');
      return [read.status, written.status];
    }

    const READ = 'webhooks:read';
    const WRITE = 'webhooks:write';
    test.each([
      ['a text for scope', { scope: `${READ} ${WRITE}` }, [200, 200]],
      ['a list for scope', { scope: [READ, WRITE] }, [200, 200]],
      ['a list for scope, of what may only be read', { scope: [READ] }, [200, 403]],
      ['scp as a list', { scp: [READ] }, [200, 403]],
      ['scp as a text', { scp: READ }, [200, 403]],
      ['permissions', { permissions: [READ] }, [200, 403]],
      ['roles', { roles: [READ] }, [200, 403]],
      ['roles of others alone', { roles: ['Administrator'] }, [403, 403]],
      ['an empty scope', { scope: '' }, [403, 403]],
      ['nothing of the kind', {}, [403, 403]],
      ['a number for scope', { scope: 7 }, [401, 401]],
      ['a list of what is no text', { scp: [READ, 7] }, [401, 401]],
      ['an object for permissions', { permissions: { [WRITE]: true } }, [401, 401]],
    ])('has the rights that it names, with %s', async (_, claims, expected) => {
      expect(await answers(claims)).toEqual(expected);
    });
  });
}
