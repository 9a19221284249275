import * as oauth from 'oauth4webapi';
import type { Settings } from '../api/settings.ts';

type SignIn = NonNullable<Settings['signIn']>;
type Pending = { verifier: string; state: string; isKept: boolean };

const PENDING = 'waybell.sign-in';

/** The page itself, without what stands behind it. */
const redirectUri = (): string => new URL(location.pathname, location.origin).href;

/** Leads to the issuer, which leads back here (OpenID Connect, code flow with PKCE). */
export async function leadToIssuer(signIn: SignIn, isKept: boolean): Promise<void> {
  const server = await discovered(signIn);
  if (server.authorization_endpoint === undefined) throw new Error('The issuer names no authorization endpoint.');
  const pending: Pending = { verifier: oauth.generateRandomCodeVerifier(), state: oauth.generateRandomState(), isKept };
  sessionStorage.setItem(PENDING, JSON.stringify(pending));
  const address = new URL(server.authorization_endpoint);
  const asked = {
    client_id: signIn.clientId,
    redirect_uri: redirectUri(),
    response_type: 'code',
    scope: ['openid', ...signIn.scope.split(' ').filter((scope) => scope !== 'openid')].join(' '),
    audience: signIn.audience,
    code_challenge: await oauth.calculatePKCECodeChallenge(pending.verifier),
    code_challenge_method: 'S256',
    state: pending.state,
  };
  for (const [name, value] of Object.entries(asked)) address.searchParams.set(name, value);
  location.assign(address);
}

/** The access token, where the issuer has led back here; undefined where nobody was led there. */
export async function tokenFromIssuer(signIn: SignIn): Promise<{ token: string; isKept: boolean } | undefined> {
  const here = new URL(location.href);
  const written = sessionStorage.getItem(PENDING);
  if (written === null || !(here.searchParams.has('code') || here.searchParams.has('error'))) return undefined;
  sessionStorage.removeItem(PENDING);
  // At once: a code is not to stay in an address, nor in the history.
  history.replaceState(null, '', redirectUri());
  const pending = JSON.parse(written) as Pending;
  const server = await discovered(signIn);
  const client: oauth.Client = { client_id: signIn.clientId };
  const answer = oauth.validateAuthResponse(server, client, here, pending.state);
  const response = await oauth.authorizationCodeGrantRequest(
    server,
    client,
    oauth.None(),
    answer,
    redirectUri(),
    pending.verifier,
    insecure(signIn),
  );
  const { access_token: token } = await oauth.processAuthorizationCodeResponse(server, client, response);
  return { token, isKept: pending.isKept };
}

async function discovered(signIn: SignIn): Promise<oauth.AuthorizationServer> {
  const issuer = new URL(signIn.issuer);
  const response = await oauth.discoveryRequest(issuer, insecure(signIn));
  return oauth.processDiscoveryResponse(issuer, response);
}

/** Over http only on this machine, where people try things out. */
function insecure({ issuer }: SignIn): { [oauth.allowInsecureRequests]?: true } {
  const { protocol, hostname } = new URL(issuer);
  const isHere = protocol === 'http:' && ['localhost', '127.0.0.1', '[::1]'].includes(hostname);
  return isHere ? { [oauth.allowInsecureRequests]: true } : {};
}
