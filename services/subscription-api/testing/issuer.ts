import { randomUUID } from 'node:crypto';
import { httpServer } from '@waybell/runtime/testing/server';
import { wallClockMs } from '@waybell/runtime/testing/wall-clock';
import { exportJWK, generateKeyPair, SignJWT, type CryptoKey, type JWK } from 'jose';

export type IssuedKey = { kid: string; alg: string; privateKey: CryptoKey; shown: JWK };

export type Issuer = AsyncDisposable & {
  jwksUrl: URL;
  /** The keys that it shows at the moment; null: it is broken. */
  show(keys: readonly IssuedKey[] | null): void;
  /** How often it was asked for them. */
  asked(): number;
};

/** An issuer of JWTs, as far as it can be asked: a real server that shows keys. */
export async function startIssuer(): Promise<Issuer> {
  let shown: readonly IssuedKey[] | null = [];
  let asked = 0;
  const server = await httpServer((_request, response) => {
    asked += 1;
    response.statusCode = shown === null ? 500 : 200;
    response.setHeader('connection', 'close');
    response.end(JSON.stringify({ keys: shown?.map((key) => key.shown) }));
  });
  return {
    jwksUrl: new URL(`${server.url}/keys`),
    show: (keys) => (shown = keys),
    asked: () => asked,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

export async function aKey(kid: string, alg = 'ES256'): Promise<IssuedKey> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
  return { kid, alg, privateKey, shown: { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' } };
}

/** Claims of a user's token, from a minute ago until in an hour; `more` says whose side and account they are. */
export function someClaims(more: Record<string, unknown>): Record<string, unknown> {
  const nowS = Math.floor(wallClockMs() / 1_000);
  const about = { iss: 'https://issuer.test/', aud: 'waybell', sub: 'user-1', jti: randomUUID(), client_id: 'tms' };
  return { ...about, iat: nowS - 60, exp: nowS + 3_600, ...more };
}

/** A JWT with these claims; `header` replaces what says how it is signed. */
export function signed(
  { kid, alg, privateKey }: Pick<IssuedKey, 'kid' | 'alg'> & { privateKey: CryptoKey | Uint8Array },
  claims: Record<string, unknown>,
  header: Record<string, unknown> = {},
): Promise<string> {
  return new SignJWT(claims).setProtectedHeader({ alg, kid, typ: 'at+jwt', ...header }).sign(privateKey);
}
