import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { anAuthority, type Authority } from '@waybell/runtime/testing/certificate';
import { tlsServer } from '@waybell/runtime/testing/server';
import { aKey, signed } from '@waybell/subscription-api/testing/issuer';
import { wallClockMs } from '@waybell/runtime/testing/wall-clock';
import type { Planted } from './planted.ts';

export type Issuer = AsyncDisposable & {
  /** Services trust its certificates. */
  authority: Authority;
  /** Settings that the services need for that. */
  settings: Record<string, string>;
  /** A token for the account that expires in so many hours; fewer than none: it has expired. */
  issue(account: string, hours: number): Promise<string>;
};

const ISSUER = 'https://issuer.test/';

/** An issuer of JWTs, whose tokens are planted. `caFile` is written: the authority that its address is known by. */
export async function startIssuer(planted: Planted, caFile: string): Promise<Issuer> {
  const key = await aKey('ec');
  const authority = anAuthority('Authority of the issuer');
  const server = await tlsServer(authority.issue({ name: 'localhost' }), (_, response) =>
    response.end(JSON.stringify({ keys: [key.shown] })),
  );
  await writeFile(caFile, authority.cert);
  return {
    authority,
    settings: {
      JWT_ISSUER: ISSUER,
      JWT_AUDIENCE: 'waybell',
      JWT_JWKS_URL: `${server.url}/keys`,
      NODE_EXTRA_CA_CERTS: caFile,
    },
    async issue(account, hours) {
      const nowS = Math.floor(wallClockMs() / 1_000);
      const times = { iat: nowS - 7_200, exp: nowS + hours * 3_600 };
      const who = { iss: ISSUER, aud: 'waybell', sub: 'me', jti: randomUUID(), account, client_id: 'tms' };
      const what = { interface: 'carrier', scope: 'webhooks:read webhooks:write' };
      const token = await signed(key, { ...who, ...what, ...times });
      planted.addBytes('JWT', Buffer.from(token.split('.')[2] ?? '', 'base64url'));
      return token;
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}
