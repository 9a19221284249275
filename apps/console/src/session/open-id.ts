import * as oauth from 'oauth4webapi';
import { asking, clientOf, discovered, grantOf, type TokenGrant, type SignIn } from './issuer.ts';

/** The state of a sign-in that has left the page; `hash`: the place in the page to return to. */
type PendingSignIn = { verifier: string; state: string; isKept: boolean; hash: string };

const PENDING = 'waybell.sign-in';

/** The page itself, without what stands behind it. */
const redirectUri = (): string => new URL(location.pathname, location.origin).href;

/** Leads to the issuer, which leads back here (OpenID Connect, code flow with PKCE). */
export async function leadToIssuer(signIn: SignIn, isKept: boolean): Promise<void> {
  // Without it, a browser has no way to make a challenge.
  if (!isSecureContext) throw new Error('Open this page by https: over http, browsers do not let it sign you in.');
  const server = await discovered(signIn);
  if (server.authorization_endpoint === undefined) throw new Error('The issuer names no authorization endpoint.');
  const pending: PendingSignIn = {
    verifier: oauth.generateRandomCodeVerifier(),
    state: oauth.generateRandomState(),
    isKept,
    hash: location.hash,
  };
  sessionStorage.setItem(PENDING, JSON.stringify(pending));
  const address = new URL(server.authorization_endpoint);
  const asked = {
    client_id: signIn.clientId,
    redirect_uri: redirectUri(),
    response_type: 'code',
    scope: [...new Set(['openid', ...signIn.scope.split(' ')])].join(' ').trim(),
    audience: signIn.audience,
    code_challenge: await oauth.calculatePKCECodeChallenge(pending.verifier),
    code_challenge_method: 'S256',
    state: pending.state,
  };
  for (const [name, value] of Object.entries(asked)) address.searchParams.set(name, value);
  location.assign(address);
}

/** Returns the issuer's answer from the page's address, and removes it there; undefined if there is none. */
export function takeAnswer(): URLSearchParams | undefined {
  const { searchParams } = new URL(location.href);
  if (!searchParams.has('code') && !searchParams.has('error')) return undefined;
  // At once: a code is not to stay in an address, nor in the history.
  history.replaceState(null, '', redirectUri());
  return searchParams;
}

/** Exchanges the issuer's answer for tokens. Throws if the answer does not belong to a request of this tab. */
export async function grantFor(signIn: SignIn, answer: URLSearchParams): Promise<TokenGrant & { isKept: boolean }> {
  const written = sessionStorage.getItem(PENDING);
  sessionStorage.removeItem(PENDING);
  if (written === null) throw new Error('This sign-in was not begun in this tab. Begin it here.');
  const pending = JSON.parse(written) as PendingSignIn;
  history.replaceState(null, '', redirectUri() + pending.hash);
  const server = await discovered(signIn);
  const client = clientOf(signIn);
  const response = await oauth.authorizationCodeGrantRequest(
    server,
    client,
    oauth.None(),
    oauth.validateAuthResponse(server, client, answer, pending.state),
    redirectUri(),
    pending.verifier,
    asking(signIn),
  );
  const given = await oauth.processAuthorizationCodeResponse(server, client, response);
  return { ...grantOf(given), isKept: pending.isKept };
}
