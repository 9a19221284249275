import * as oauth from 'oauth4webapi';
import { ProblemAnswer } from '../api/problem.ts';
import type { PageSettings } from '../api/settings.ts';
import type { SignInToken } from './tabs.ts';

export type SignIn = NonNullable<PageSettings['signIn']>;

/** The tokens that an issuer grants. */
export type TokenGrant = Pick<SignInToken, 'token' | 'endsAtMs' | 'refreshToken'>;

type IssuerRequest = Omit<RequestInit, 'body'> & { body?: URLSearchParams | undefined };

const LIMIT_MS = 30_000;
// Nobody is let in by the ID token, which came from the issuer itself: a wrong clock here is to keep nobody out.
const CLOCKS_DIFFER_BY_S = 86_400;

export const clientOf = ({ clientId }: SignIn): oauth.Client => ({
  client_id: clientId,
  [oauth.clockTolerance]: CLOCKS_DIFFER_BY_S,
});

export const hostOf = ({ issuer }: SignIn): string => new URL(issuer).host;

/** Reads the issuer's metadata. */
export async function discovered(signIn: SignIn): Promise<oauth.AuthorizationServer> {
  const issuer = new URL(signIn.issuer);
  const response = await oauth.discoveryRequest(issuer, asking(signIn));
  return oauth.processDiscoveryResponse(issuer, response);
}

/** How an issuer is asked. Throws a Problem where it does not answer. */
export function asking(signIn: SignIn) {
  return {
    signal: () => AbortSignal.timeout(LIMIT_MS),
    [oauth.customFetch]: (url: string, { body, ...options }: IssuerRequest) =>
      fetch(url, { ...options, ...(body && { body }) }).catch(() => {
        throw silent(signIn);
      }),
    ...(isHere(signIn) && { [oauth.allowInsecureRequests]: true as const }),
  };
}

/** Reads a grant. `before`: the refresh token that was used, which may stay valid. */
export function grantOf(
  { access_token: token, expires_in: seconds, refresh_token: refreshToken }: oauth.TokenEndpointResponse,
  before?: string,
): TokenGrant {
  const endsAtMs = seconds === undefined ? undefined : Date.now() + seconds * 1_000;
  return { token, endsAtMs, refreshToken: refreshToken ?? before };
}

/** Asks the issuer for the next token. */
export async function renewAt(signIn: SignIn, held: SignInToken): Promise<SignInToken> {
  const { refreshToken = '' } = held;
  const client = clientOf(signIn);
  const server = await discovered(signIn);
  const response = await oauth.refreshTokenGrantRequest(server, client, oauth.None(), refreshToken, asking(signIn));
  const given = await oauth.processRefreshTokenResponse(server, client, response);
  return { ...held, ...grantOf(given, refreshToken) };
}

/** Over http only on this machine, where people try things out. */
function isHere({ issuer }: SignIn): boolean {
  const { protocol, hostname } = new URL(issuer);
  return protocol === 'http:' && ['localhost', '127.0.0.1', '[::1]'].includes(hostname);
}

// A browser does not tell a page which of these it was.
const silent = (signIn: SignIn): ProblemAnswer =>
  new ProblemAnswer({
    kind: 'unreachable',
    status: 0,
    title: 'No answer',
    detail: `${hostOf(signIn)} did not answer, or does not let this page ask it. Try again in a moment.`,
  });
