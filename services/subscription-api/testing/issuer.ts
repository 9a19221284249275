import { createServer } from 'node:http';
import { exportJWK, generateKeyPair, SignJWT, type CryptoKey, type JWK } from 'jose';
import { closeServer, listen } from '@waybell/runtime/health';

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
  const server = createServer((_request, response) => {
    asked += 1;
    response.statusCode = shown === null ? 500 : 200;
    response.setHeader('connection', 'close');
    response.end(JSON.stringify({ keys: shown?.map((key) => key.shown) }));
  });
  const { port } = await listen(server, { host: '127.0.0.1', port: 0 });
  return {
    jwksUrl: new URL(`http://127.0.0.1:${port}/keys`),
    show: (keys) => (shown = keys),
    asked: () => asked,
    [Symbol.asyncDispose]: () => closeServer(server),
  };
}

export async function aKey(kid: string, alg = 'ES256'): Promise<IssuedKey> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
  return { kid, alg, privateKey, shown: { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' } };
}

/** A JWT with these claims; `header` replaces what says how it is signed. */
export function signed(
  { kid, alg, privateKey }: Pick<IssuedKey, 'kid' | 'alg'> & { privateKey: CryptoKey | Uint8Array },
  claims: Record<string, unknown>,
  header: Record<string, unknown> = {},
): Promise<string> {
  return new SignJWT(claims).setProtectedHeader({ alg, kid, typ: 'at+jwt', ...header }).sign(privateKey);
}
