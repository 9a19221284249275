import { generateKeyPairSync } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { JWK } from 'oidc-provider';
import { Provider } from 'oidc-provider';
import { closeServer, listen } from '@waybell/runtime/health';

/** A real authorization server that gives tokens by client credentials: the package oidc-provider. */
export type TokenIssuer = AsyncDisposable & {
  tokenUrl: string;
  /** How each request for a token was answered, such as `client_secret_basic 200`. */
  asked: string[];
  /** Starts over: with that secret, and without earlier tokens. */
  begin(how: { secret: string; lifeS?: number }): void;
  /** Whether a request's `authorization` has a token that is valid now. */
  admits(authorization: string | undefined): Promise<boolean>;
  /** Ends all tokens that were issued. */
  revoke(): Promise<void>;
  /** From now on no request is answered, until the returned function is called. */
  hang(): { open(): number; goOn(): void };
};

/** Its clients, by where they have their secret. */
export const CLIENTS = { header: 'client-by-header', body: 'client-by-body' } as const;
const METHODS = { header: 'client_secret_basic', body: 'client_secret_post' } as const;

type Answer = (request: IncomingMessage, response: ServerResponse) => unknown;

export async function startTokenIssuer(how: { secret: string; lifeS?: number }): Promise<TokenIssuer> {
  const asked: string[] = [];
  const issued = new Set<string>();
  const jwk = generateKeyPairSync('rsa', { modulusLength: 2_048 }).privateKey.export({ format: 'jwk' });
  let provider: Provider;
  let answer: Answer;
  const server = createServer((request, response) => void answer(request, response));
  const { port } = await listen(server, { host: '127.0.0.1', port: 0 });
  const origin = `http://127.0.0.1:${port}`;
  const begin: TokenIssuer['begin'] = ({ secret, lifeS = 3_600 }) => {
    provider = new Provider(origin, {
      clients: (['header', 'body'] as const).map((where) => ({
        client_id: CLIENTS[where],
        client_secret: secret,
        token_endpoint_auth_method: METHODS[where],
        grant_types: ['client_credentials'],
        redirect_uris: [],
        response_types: [],
      })),
      scopes: ['hooks'],
      // It knows a key as RFC 7517 has it.
      jwks: { keys: [{ ...(jwk as JWK), use: 'sig', alg: 'RS256', kid: 'rsa' }] },
      cookies: { keys: ['of a test'] },
      features: { devInteractions: { enabled: false }, clientCredentials: { enabled: true } },
      ttl: { ClientCredentials: lifeS },
    });
    provider.use(async (context, next) => {
      await next();
      const { authorization } = context.headers;
      asked.push(`${authorization === undefined ? METHODS.body : METHODS.header} ${context.status}`);
      // Its answer to a token request.
      const { access_token: token } = (context.body ?? {}) as { access_token?: string };
      if (token !== undefined) issued.add(token);
    });
    answer = provider.callback();
  };
  begin(how);
  return {
    tokenUrl: `${origin}/token`,
    asked,
    begin,
    admits: async (authorization = '') => {
      const [, token = ''] = /^Bearer (.+)$/.exec(authorization) ?? [];
      return (await provider.ClientCredentials.find(token)) !== undefined;
    },
    async revoke() {
      for (const token of issued) await (await provider.ClientCredentials.find(token))?.destroy();
    },
    hang() {
      const waiting: Parameters<Answer>[] = [];
      answer = (...request) => waiting.push(request);
      return {
        open: () => waiting.length,
        goOn() {
          answer = provider.callback();
          for (const request of waiting.splice(0)) void answer(...request);
        },
      };
    },
    async [Symbol.asyncDispose]() {
      const closed = closeServer(server);
      server.closeAllConnections();
      await closed;
    },
  };
}
