import type { KeyObject } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import type { Configuration, JWK, Provider } from 'oidc-provider';

/** A user of the issuer. */
export type Person = {
  /** Their claims in an access token, in addition to the usual ones. */
  claims: Record<string, string>;
  /** Whether they get refresh tokens, each of them good for one use. */
  isRenewed: boolean;
};

type Rules = { key: KeyObject; client: string; redirectUri: string; people: ReadonlyMap<string, Person> };

export const AUDIENCE = 'urn:waybell:test';
export const TOKEN_LIFE_S = 3_600;
const SCOPES = 'openid webhooks:read webhooks:write';

/** How oidc-provider is to be, to be an issuer of RFC 9068 that asks people for nothing but their name. */
export function openIdRules({ key, client, redirectUri, people }: Rules) {
  const configuration: Configuration = {
    clients: [
      {
        client_id: client,
        token_endpoint_auth_method: 'none',
        grant_types: ['authorization_code', 'refresh_token'],
        redirect_uris: [redirectUri],
      },
    ],
    // Both know a key as RFC 7517 has it.
    jwks: { keys: [{ ...(key.export({ format: 'jwk' }) as JWK), use: 'sig', alg: 'RS256', kid: 'rsa' }] },
    cookies: { keys: ['of a test'] },
    scopes: ['openid'],
    clientBasedCORS: (_context, origin) => origin === new URL(redirectUri).origin,
    features: {
      devInteractions: { enabled: false },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => AUDIENCE,
        useGrantedResource: () => true,
        getResourceServerInfo: () => ({
          scope: SCOPES,
          audience: AUDIENCE,
          accessTokenTTL: TOKEN_LIFE_S,
          accessTokenFormat: 'jwt',
          jwt: { sign: { alg: 'RS256' } },
        }),
      },
    },
    ttl: {
      AccessToken: TOKEN_LIFE_S,
      Grant: 86_400,
      Session: 86_400,
      IdToken: 60,
      Interaction: 3_600,
      RefreshToken: 86_400,
    },
    findAccount: (_context, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
    extraTokenClaims: (_context, token) => ('accountId' in token ? people.get(token.accountId)?.claims : {}),
    issueRefreshToken: (_context, _client, source) => people.get(source.accountId ?? '')?.isRenewed ?? false,
    rotateRefreshToken: true,
    interactions: { url: (_context, { uid }) => `/sign-in/${uid}` },
    // Signing in includes consent.
    async loadExistingGrant({ oidc }) {
      const { session, provider, client: asking } = oidc;
      const grant = new provider.Grant({ accountId: session?.accountId, clientId: asking?.clientId });
      grant.addOIDCScope('openid');
      grant.addResourceScope(AUDIENCE, SCOPES);
      await grant.save();
      return grant;
    },
  };
  return { configuration, watch, answerBy };
}

/** Notes what the token endpoint is asked for, and what was granted. */
function watch(provider: Provider, { granted, grants }: { granted: string[]; grants: Set<string> }): void {
  provider.use(async (context, next) => {
    await next();
    if (context.path === '/token' && context.method === 'POST')
      granted.push(`${String(context.oidc.params?.['grant_type'])} ${context.status}`);
  });
  provider.on('grant.success', ({ oidc }) => {
    if (oidc.entities.Grant?.jti !== undefined) grants.add(oidc.entities.Grant.jti);
  });
}

/** A page with a form at /sign-in/…; the rest is the provider's. */
function answerBy(provider: Provider): (request: IncomingMessage, response: ServerResponse) => void {
  const respond = provider.callback();
  return (request, response) => {
    if (!request.url?.startsWith('/sign-in/')) void respond(request, response);
    else if (request.method === 'POST') void finish(provider, request, response);
    else response.writeHead(200, { 'content-type': 'text/html' }).end(FORM);
  };
}

async function finish(provider: Provider, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const form = new URLSearchParams(await text(request));
  const result = form.has('cancel')
    ? { error: 'access_denied', error_description: 'You called it off.' }
    : { login: { accountId: form.get('name') ?? '' } };
  await provider.interactionFinished(request, response, result);
}

const FORM = `<!doctype html><html lang="en"><title>Sign in</title><link rel="icon" href="data:,">
<form method="post"><label>Name <input name="name"></label>
<button>Go on</button><button name="cancel" value="1">Call it off</button></form>`;
