import {
  allowInsecureRequests,
  clientCredentialsGrantRequest,
  ClientSecretBasic,
  ClientSecretPost,
  customFetch,
  processClientCredentialsResponse,
} from 'oauth4webapi';
import type { ClientCredentials } from '@waybell/notifications/receiver-credentials';
import type { AttemptResult } from '../request/attempt.ts';
import type { CallTokenUrl, TokenUrlAnswer } from '../request/call-token-url.ts';
import type { Credentials } from './credentials.ts';
import { tokenFailure } from './token-failure.ts';

/** Credentials by which tokens are asked for, and a callback URL that they are for. */
export type TokenNeed = Pick<Credentials, 'guid' | 'certificate'> & { oauth2: ClientCredentials; callbackUrl: string };

/** Returns the token that a request to the target needs; undefined if it needs none. */
export function tokenNeedOf(target: {
  callbackUrl: string;
  credentials?: Credentials | undefined;
}): TokenNeed | undefined {
  const { callbackUrl, credentials } = target;
  if (credentials?.oauth2 === undefined) return undefined;
  const { guid, oauth2, certificate } = credentials;
  return { guid, oauth2, callbackUrl, ...(certificate && { certificate }) };
}

/** A token and how long it lives from the start of its request on; or why there is none, as the result of an attempt. */
export type FetchedToken =
  | { kind: 'issued'; token: string; lifeMs: number }
  | { kind: 'refused' | 'unusable' | 'unanswered'; failure: AttemptResult };

/** Assumed life of a token that does not state its own. */
const ASSUMED_LIFE_MS = 300_000;
const LONGEST_LIFE_MS = 86_400_000;
/** Others would break the header that it goes into. */
const SENDABLE = /^[\x21-\x7e]+$/;

/**
 * Asks for an access token by client credentials (RFC 6749, 4.4), for requests with Bearer (RFC 6750). Takes any 2xx with the JSON of a
 * token, whatever its content type. Rejects with `Unavailable` if there is no way out.
 */
export async function fetchToken(need: TokenNeed, callTokenUrl: CallTokenUrl): Promise<FetchedToken> {
  const { oauth2 } = need;
  const { tokenUrl, clientId, clientSecret, scope, audience, secretIn } = oauth2;
  const server = { issuer: tokenUrl, token_endpoint: tokenUrl };
  const client = { client_id: clientId };
  const authentication = secretIn === 'header' ? ClientSecretBasic(clientSecret) : ClientSecretPost(clientSecret);
  const parameters = { ...(scope !== undefined && { scope }), ...(audience !== undefined && { audience }) };
  const came: { answer?: TokenUrlAnswer } = {};
  const response = await clientCredentialsGrantRequest(server, client, authentication, parameters, {
    // Storing the credentials refuses http unless it is permitted.
    [allowInsecureRequests]: true,
    [customFetch]: async (url, { headers, body }) => {
      const secrets = secretsOf(oauth2, headers);
      came.answer = await callTokenUrl({ url, headers, body: body.toString(), secrets, ...certificateFor(need) });
      return new Response(came.answer.body, AS_JSON);
    },
  });
  const { answer } = came;
  if (answer === undefined) throw new Error('the token URL was not called');
  if (!answer.result.isDelivered) {
    return { kind: answer.result.status === undefined ? 'unanswered' : 'refused', failure: tokenFailure(answer) };
  }
  try {
    return issued(await processClientCredentialsResponse(server, client, response));
  } catch (error) {
    return { kind: 'unusable', failure: tokenFailure(answer, error instanceof Error ? error.message : '') };
  }
}

const AS_JSON = { status: 200, headers: { 'content-type': 'application/json' } };

/** Returns the certificate only for connections to the host and port of the callbacks. */
function certificateFor({ oauth2: { tokenUrl }, callbackUrl, certificate }: TokenNeed): Pick<TokenNeed, 'certificate'> {
  const isThere = URL.parse(tokenUrl)?.host === URL.parse(callbackUrl)?.host;
  return certificate !== undefined && isThere ? { certificate } : {};
}

/**
 * Returns the secrets as they are sent: Basic encodes the pair as RFC 6749, 2.3.1, says, and some servers decode everything but
 * the blanks.
 */
function secretsOf({ clientSecret }: ClientCredentials, { authorization = '' }: Record<string, string>): string[] {
  return [clientSecret, clientSecret.replaceAll(' ', '+'), authorization.slice('Basic '.length).replaceAll('=', '')];
}

type Issued = { access_token: string; token_type: string; expires_in?: number | undefined };

/** Throws an error with the fault of the token, without its value. */
function issued({ access_token: token, token_type: type, expires_in: lifeS }: Issued): FetchedToken {
  if (type !== 'bearer') throw new Error('"token_type" must be "Bearer"');
  if (!SENDABLE.test(token)) throw new Error('"access_token" has characters that no header has');
  if (lifeS === 0) throw new Error('"expires_in" is 0');
  const lifeMs = lifeS === undefined ? ASSUMED_LIFE_MS : Math.min(lifeS * 1_000, LONGEST_LIFE_MS);
  return { kind: 'issued', token, lifeMs };
}
