/** Credentials of callbacks at one host: at least one kind. Stored encrypted, as JSON, bound to the guid of its row. */
export type ReceiverCredentials = {
  /** Up to five, with their names as the client wrote them. */
  headers?: Record<string, string>;
  /** RFC 7617. Not together with `oauth2`, nor with a header `authorization`: a request has one of them. */
  basic?: { username: string; password: string };
  oauth2?: ClientCredentials;
  /** For TLS client authentication: certificate and intermediates, and the key, in PEM. */
  certificate?: { chain: string; key: string };
};

/** How to get an access token: client credentials (RFC 6749, 4.4). */
export type ClientCredentials = {
  tokenUrl: string;
  clientId: string;
  clientSecret: string;
  scope?: string;
  /** Some authorization servers ask for it, without a standard. */
  audience?: string;
  /** The place of id and secret in the token request: a header, or its body (RFC 6749, 2.3.1). */
  secretIn: 'header' | 'body';
};

/**
 * How the API has a deliverer fetch a token for credentials that were just put in: it appends a `TokenCheck`, as JSON, to the list of
 * Redis; the deliverer that takes it fetches one, and sets the key to the result, as JSON.
 */
export const TOKEN_CHECKS = 'waybell:token-checks';
export const tokenCheckKey = (guid: string): string => `waybell:token-check:${guid}`;
/** For longer than a token is waited for. */
export const TOKEN_CHECK_MS = 20_000;

/** `guid`: of the credentials. */
export type TokenCheck = { guid: string; callbackUrl: string };
/** `detail`: what came instead of a token, for people. */
export type TokenCheckResult = { status: 'issued' } | { status: 'failed'; detail: string } | { status: 'not_tried' };

export const writeCredentials = (credentials: ReceiverCredentials): string => JSON.stringify(credentials);

/** Trusts its input: only `writeCredentials` encrypts. */
export const readCredentials = (written: string): ReceiverCredentials => JSON.parse(written);
