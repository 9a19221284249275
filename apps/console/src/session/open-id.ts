/**
 * Sign-in at an OpenID Connect issuer: the code flow with PKCE, by redirects of this tab.
 *
 *   leadToIssuer ─► the issuer's pages ─► consumeAnswer ─► grantFor ─► (near its end) renewAt
 *
 * Each reads the issuer's metadata first. A request that the issuer does not answer throws a Problem.
 */
import * as oauth from 'oauth4webapi';
import { ProblemAnswer } from '../api/problem.ts';
import type { PageSettings } from '../settings.ts';
import type { SignInToken } from './tabs.ts';

type SignIn = NonNullable<PageSettings['signIn']>;

/** The tokens that an issuer grants. */
type TokenGrant = Pick<SignInToken, 'token' | 'endsAtMs' | 'refreshToken'>;

/** The state of a sign-in that has left the page; `hash`: the place in the page to return to. */
type PendingSignIn = { verifier: string; state: string; isKept: boolean; hash: string };

const PENDING = 'waybell.sign-in';
const LIMIT_MS = 30_000;
// The ID token, which the issuer itself sent, admits nobody: a wrong clock on this machine must not keep anybody out.
const CLOCKS_DIFFER_BY_S = 86_400;

/** Leads to the issuer, which leads back to this page. */
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
  const parameters = {
    client_id: signIn.clientId,
    redirect_uri: redirectUri(),
    response_type: 'code',
    scope: [...new Set(['openid', ...signIn.scope.split(' ')])].join(' ').trim(),
    audience: signIn.audience,
    code_challenge: await oauth.calculatePKCECodeChallenge(pending.verifier),
    code_challenge_method: 'S256',
    state: pending.state,
  };
  for (const [name, value] of Object.entries(parameters)) address.searchParams.set(name, value);
  location.assign(address);
}

/** Returns the issuer's answer from the page's address, and removes it there; undefined if there is none. */
export function consumeAnswer(): URLSearchParams | undefined {
  const { searchParams } = new URL(location.href);
  if (!searchParams.has('code') && !searchParams.has('error')) return undefined;
  // At once: a code must not stay in an address, nor in the history.
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
    requestOptions(signIn),
  );
  const given = await oauth.processAuthorizationCodeResponse(server, client, response);
  return { ...grantOf(given), isKept: pending.isKept };
}

/** Requests the token that follows `last` from the issuer. */
export async function renewAt(signIn: SignIn, last: SignInToken): Promise<SignInToken> {
  const { refreshToken = '' } = last;
  const client = clientOf(signIn);
  const server = await discovered(signIn);
  const response = await oauth.refreshTokenGrantRequest(
    server,
    client,
    oauth.None(),
    refreshToken,
    requestOptions(signIn),
  );
  const given = await oauth.processRefreshTokenResponse(server, client, response);
  return { ...last, ...grantOf(given, refreshToken) };
}

export const hostOf = ({ issuer }: SignIn): string => new URL(issuer).host;

/** Why somebody is not signed in, in a sentence; `issuer` is the host of theirs. */
export function explainSignIn(error: unknown, issuer = 'The issuer'): string {
  if (error instanceof ProblemAnswer && error.kind === 'insufficient-scope')
    return `${error.message} This page needs one with it.`;
  if (error instanceof oauth.AuthorizationResponseError) return `${issuer} did not sign you in: ${textOf(error)}.`;
  if (error instanceof oauth.ResponseBodyError) return `${issuer} gave no access token: ${textOf(error)}.`;
  if (error instanceof oauth.OperationProcessingError)
    return `What ${issuer} answered is not accepted: ${error.message}. Sign in again.`;
  return error instanceof Error ? error.message : String(error);
}

// The issuer's own text may be shown: nobody else can have sent it, as the state is checked before.
const textOf = ({ error, error_description: more }: { error: string; error_description?: string | undefined }) =>
  more === undefined ? error : `${error} (${more.replace(/\.$/, '')})`;

/** Whether the issuer refuses it, and will however often it is asked. */
export const isRefused = (error: unknown): boolean =>
  error instanceof oauth.ResponseBodyError && error.status < 500 && error.status !== 429;

/** The address of the page itself, without a query or a fragment. */
const redirectUri = (): string => new URL(location.pathname, location.origin).href;

const clientOf = ({ clientId }: SignIn): oauth.Client => ({
  client_id: clientId,
  [oauth.clockTolerance]: CLOCKS_DIFFER_BY_S,
});

/** Reads the issuer's metadata. */
async function discovered(signIn: SignIn): Promise<oauth.AuthorizationServer> {
  const issuer = new URL(signIn.issuer);
  const response = await oauth.discoveryRequest(issuer, requestOptions(signIn));
  return oauth.processDiscoveryResponse(issuer, response);
}

type IssuerRequest = Omit<RequestInit, 'body'> & { body?: URLSearchParams | undefined };

/** Options of a request to the issuer, which throws a Problem where it does not answer. */
function requestOptions(signIn: SignIn) {
  return {
    signal: () => AbortSignal.timeout(LIMIT_MS),
    [oauth.customFetch]: (url: string, { body, ...options }: IssuerRequest) =>
      fetch(url, { ...options, ...(body && { body }) }).catch(() => {
        throw silent(signIn);
      }),
    ...(isHere(signIn) && { [oauth.allowInsecureRequests]: true as const }),
  };
}

/** Whether the issuer is on this machine, for a trial: only there is http allowed. */
function isHere({ issuer }: SignIn): boolean {
  const { protocol, hostname } = new URL(issuer);
  return protocol === 'http:' && ['localhost', '127.0.0.1', '[::1]'].includes(hostname);
}

// A browser does not say which of the two it was.
const silent = (signIn: SignIn): ProblemAnswer =>
  new ProblemAnswer({
    kind: 'unreachable',
    status: 0,
    title: 'No answer',
    detail: `${hostOf(signIn)} did not answer, or does not let this page ask it. Try again in a moment.`,
  });

/** Reads a grant. `before`: the refresh token that was used, which may stay valid. */
function grantOf(
  { access_token: token, expires_in: seconds, refresh_token: refreshToken }: oauth.TokenEndpointResponse,
  before?: string,
): TokenGrant {
  const endsAtMs = seconds === undefined ? undefined : Date.now() + seconds * 1_000;
  return { token, endsAtMs, refreshToken: refreshToken ?? before };
}
