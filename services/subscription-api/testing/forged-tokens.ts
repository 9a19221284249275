import { randomUUID } from 'node:crypto';
import { exportSPKI, importJWK, SignJWT, type CryptoKey } from 'jose';
import { wallClockMs } from '@waybell/runtime/testing/wall-clock';
import type { JwtRules } from '../rest/authentication/by-jwt.ts';
import { aKey, signed, startIssuer, type IssuedKey, someClaims } from './issuer.ts';

export type Forgery = AsyncDisposable & {
  rules: JwtRules;
  /** A token that holds, to show that the others fail by what is wrong with them. */
  good: string;
  /** Tokens that do not, by what is wrong with them. */
  forged: Readonly<Record<string, string>>;
  /** How often the forger's server was asked for keys. */
  asked(): number;
};

const nowS = Math.floor(wallClockMs() / 1_000);
const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');

/** An issuer with its tokens, and a forger with a server of its own and tokens that look alike. */
export async function startForgery(): Promise<Forgery> {
  await using stack = new AsyncDisposableStack();
  const [issuer, forger] = [stack.use(await startIssuer()), stack.use(await startIssuer())];
  const [ec, rsa, unlisted] = [await aKey('ec'), await aKey('rsa', 'RS256'), await aKey('es512', 'ES512')];
  const foreign = await aKey('ec');
  issuer.show([ec, rsa, unlisted]);
  forger.show([foreign]);
  const claims = (more: Record<string, unknown> = {}) =>
    someClaims({
      account: randomUUID(),
      interface: 'shipper',
      scope: 'webhooks:read webhooks:write admin',
      ...more,
    });
  const byForger = (header: Record<string, unknown>) => signed(foreign, claims(), header);
  const unsigned = (header: Record<string, unknown>) => `${part({ typ: 'at+jwt', ...header })}.${part(claims())}.`;
  const publicKey = new TextEncoder().encode(await exportSPKI((await importJWK(rsa.shown)) as CryptoKey));
  const good = await signed(ec, claims());
  const [head = '', body = ''] = good.split('.');
  const forged = {
    none: unsigned({ alg: 'none' }),
    nOnE: unsigned({ alg: 'nOnE', kid: 'ec' }),
    hs256: await signed({ kid: 'rsa', alg: 'HS256', privateKey: publicKey }, claims()),
    unlisted: await signed(unlisted, claims()),
    stranger: await byForger({}),
    jwk: await byForger({ jwk: foreign.shown }),
    jku: await byForger({ kid: 'mine', jku: forger.jwksUrl.href }),
    x5u: await byForger({ kid: 'mine', x5u: forger.jwksUrl.href }),
    x5c: await byForger({ x5c: [part('a certificate')] }),
    'kid-path': await byForger({ kid: '../../../../../../dev/null' }),
    'kid-sql': await byForger({ kid: "ec' union select 'key" }),
    crit: await demanding(ec, claims()),
    aud: await signed(ec, claims({ aud: 'https://other.test' })),
    typ: await signed(ec, claims(), { typ: 'JWT' }),
    expired: await signed(ec, claims({ exp: nowS - 3_600 })),
    empty: `${head}.${body}.`,
    psychic: `${head}.${body}.${Buffer.alloc(64).toString('base64url')}`,
    nested: `${Buffer.from(`{"alg":"ES256","kid":${'['.repeat(2_000)}${']'.repeat(2_000)}}`).toString('base64url')}.${body}.x`,
    admin: good,
  };
  const opened = stack.move();
  return {
    rules: {
      issuer: 'https://issuer.test/',
      audience: 'waybell',
      jwksUrl: issuer.jwksUrl,
      algorithms: ['RS256', 'ES256'],
      leewayMs: 5_000,
      defaultScopes: [],
      claims: { account: 'account', client: 'client_id', interface: 'interface' },
    },
    good,
    forged,
    asked: () => forger.asked(),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

/** A good one but for a member of its header that has to be understood, and is not. */
function demanding({ alg, kid, privateKey }: IssuedKey, claims: Record<string, unknown>): Promise<string> {
  const header = { alg, kid, typ: 'at+jwt', crit: ['x'], x: 1 };
  return new SignJWT(claims).setProtectedHeader(header).sign(privateKey, { crit: { x: true } });
}
