import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Provider } from 'oidc-provider';
import { anAuthority } from '@waybell/runtime/testing/certificate';
import { AUDIENCE, openIdRules, type Person } from './open-id-rules.ts';

/** An issuer of OpenID Connect over https, for one public client: the package oidc-provider, and a form to sign in with. */
export type OpenIdIssuer = AsyncDisposable & {
  origin: string;
  /** Settings with which services take its tokens, and a console leads there. */
  settings: Record<string, string>;
  /** Begins, once it is known where people are led back to. */
  begin(redirectUri: string): void;
  /** Lets a person sign in by that name. */
  admit(name: string, person: Person): void;
  /** Forgets all that was granted: nothing is renewed. */
  forget(): Promise<void>;
  /** Requests to its token endpoint and their results, such as `refresh_token 200`. */
  granted: string[];
  /** Until the end of that, nothing listens at its address. */
  away(): Promise<AsyncDisposable>;
};

const CLIENT = 'waybell-console';

export async function startOpenIdIssuer(): Promise<OpenIdIssuer> {
  const home = await mkdtemp(join(tmpdir(), 'waybell-issuer-'));
  const authority = anAuthority('Authority of an issuer');
  const ca = join(home, 'ca.pem');
  await writeFile(ca, authority.cert);
  const people = new Map<string, Person>();
  const granted: string[] = [];
  const grants = new Set<string>();
  let provider: Provider | undefined;
  let answer = (_request: IncomingMessage, response: ServerResponse): void => void response.writeHead(503).end();
  const server = createServer(authority.issue({ name: 'localhost' }), (request, response) => answer(request, response));
  // Includes sockets without a request: a browser opens some ahead.
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  const listen = async (port: number) => {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    // It listens on a port.
    return (server.address() as AddressInfo).port;
  };
  const port = await listen(0);
  const origin = `https://localhost:${port}`;
  const stop = async () => {
    const closed = once(server, 'close');
    server.close();
    for (const socket of sockets) socket.destroy();
    await closed;
  };
  return {
    origin,
    settings: {
      JWT_ISSUER: origin,
      JWT_AUDIENCE: AUDIENCE,
      JWT_JWKS_URL: `${origin}/jwks`,
      JWT_CLIENT_CLAIM: 'waybell_client',
      CONSOLE_CLIENT_ID: CLIENT,
      NODE_EXTRA_CA_CERTS: ca,
    },
    granted,
    begin(redirectUri) {
      const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
      const rules = openIdRules({ key: privateKey, client: CLIENT, redirectUri, people });
      provider = new Provider(origin, rules.configuration);
      rules.watch(provider, { granted, grants });
      answer = rules.answerBy(provider);
    },
    admit: (name, person) => void people.set(name, person),
    async forget() {
      // It is asynchronous, which its types do not say.
      for (const id of grants) await Promise.resolve(provider?.RefreshToken.revokeByGrantId(id));
    },
    async away() {
      await stop();
      return { [Symbol.asyncDispose]: async () => void (await listen(port)) };
    },
    async [Symbol.asyncDispose]() {
      await stop();
      await rm(home, { recursive: true });
    },
  };
}
