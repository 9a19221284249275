import { createPrivateKey } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { httpServer } from '@waybell/runtime/testing/server';
import type { Authority } from '@waybell/runtime/testing/certificate';
import type { Planted } from './planted.ts';
import type { Subscribed, Witness } from './witness.ts';

/** Returns a request's credentials in the form of servers that reveal too much. */
export function authorizationOf({ headers }: IncomingMessage): string {
  const { authorization = '' } = headers;
  return [authorization, encodeURIComponent(authorization), pairIn(authorization)].join(' ');
}

/** Username and password of Basic; empty for another scheme. */
function pairIn(authorization: string): string {
  const [, pair = ''] = authorization.split('Basic ');
  return Buffer.from(pair, 'base64').toString();
}

/** Token endpoints that send back what they were sent: one whose tokens are planted, and one that has none. */
export async function startTokenEndpoints(
  planted: Planted,
): Promise<AsyncDisposable & { granting: string; refusing: string }> {
  const server = await httpServer(async (request, response) => {
    // A client's id and secret are encoded as in a form.
    const client = new URLSearchParams(`is=${pairIn(request.headers.authorization ?? '')}`).get('is');
    const asked = [authorizationOf(request), client, await text(request)].join(' ');
    const isGranting = request.url?.startsWith('/granting?');
    response.writeHead(isGranting ? 200 : 401, { 'content-type': 'application/json' });
    const granted = () => ({ access_token: planted.plant('token of a receiver'), token_type: 'Bearer', asked });
    response.end(JSON.stringify(isGranting ? granted() : { error: 'invalid_client', error_description: asked }));
  });
  return {
    granting: `${server.url}/granting`,
    refusing: `${server.url}/refusing`,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

type Client = { subscribed: Subscribed; url: string };
type Parts = {
  clients: Record<string, Client>;
  tokenUrls: { granting: string; refusing: string };
  authority: Authority;
};

/** Puts in credentials of every kind, for receivers that send back what they were sent; and some that are refused. */
export async function putCredentials(witness: Witness, planted: Planted, parts: Parts): Promise<void> {
  const { clients, tokenUrls, authority } = parts;
  // A stored answer cuts long values; special characters have several spellings.
  const header = () => ({ 'X-Api-Key': planted.plant('header of a receiver') + planted.plant('header of a receiver') });
  const basic = () => ({ username: 'me', password: `pä:${planted.plant('password of a receiver')} +/"` });
  const oauth2 = (tokenUrl: string, secretIn: string) => ({
    token_url: `${tokenUrl}?key=${planted.plant('query of a token URL')}`,
    client_id: 'waybell',
    client_secret: `a ${planted.plant('client secret')}+/&%"`,
    secret_in: secretIn,
  });
  const certificate = () => {
    const { cert, key } = authority.issue({ name: 'waybell' });
    plantKey(planted, key);
    return { chain: cert, key };
  };
  const given: Record<string, object> = {
    delivered: { headers: header(), basic: basic() },
    refused: { headers: header(), oauth2: oauth2(tokenUrls.granting, 'header') },
    redirected: { oauth2: oauth2(tokenUrls.granting, 'body') },
    unauthorized: { oauth2: oauth2(tokenUrls.refusing, 'header') },
    misunderstood: { oauth2: oauth2(tokenUrls.refusing, 'body') },
    garbled: { headers: header(), basic: basic() },
    certified: { certificate: certificate(), headers: { Authorization: planted.plant('header of a receiver') } },
    untrusted: { certificate: certificate() },
  };
  for (const [name, body] of Object.entries(given)) {
    const client = clients[name];
    if (client === undefined) throw new Error(`nobody is called ${name}`);
    await put(witness, client, { body: JSON.stringify(body), status: 201 });
    const { token } = client.subscribed;
    for (const path of ['/v1/credentials', pathOf(client.url)]) await witness.ask('GET', path, { token });
  }
  const [first] = Object.values(clients);
  if (first !== undefined) await putWrongly(witness, planted, { client: first, right: certificate() });
}

type Pair = { chain: string; key: string };

/** Each is refused for a reason of its own. */
async function putWrongly(witness: Witness, planted: Planted, { client, right }: { client: Client; right: Pair }) {
  const secret = () => planted.plant('refused credential');
  const wrong: unknown[] = [
    { headers: { [`Bearer ${secret()}`]: secret() } },
    { headers: { 'X-Api-Key': `${secret()}\n` } },
    { headers: { Host: secret() } },
    { headers: secret() },
    { basic: { username: `me:${secret()}`, password: [secret()] } },
    { basic: { username: 'me', password: secret(), other: secret() }, other: secret() },
    { oauth2: { token_url: `https://me:${secret()}@login.example.com/`, client_id: '', client_secret: secret() } },
    { oauth2: { token_url: secret(), client_secret: secret(), scope: ` ${secret()}` } },
    { certificate: { ...right, key: right.key.replace('PRIVATE KEY', `PRIVATE KEY ${secret()}`) } },
    { certificate: { chain: right.key, key: right.chain } },
    { certificate: { chain: `${right.chain}${secret()}`, key: secret() } },
    secret(),
  ];
  for (const body of wrong) await put(witness, client, { body: JSON.stringify(body), status: 422 });
  await put(witness, client, { body: `{"headers":{"X-Api-Key":"${secret()}`, status: 400 });
}

/** Throws where it is answered with another status. */
async function put(witness: Witness, { subscribed: { token }, url }: Client, { body, status }: Put): Promise<void> {
  const answer = await witness.ask('PUT', pathOf(url), { token, body });
  if (answer.status !== status) throw new Error(`${answer.status} in the place of ${status}: ${answer.text}`);
}

type Put = { body: string; status: number };

const pathOf = (url: string): string => `/v1/credentials/${new URL(url).host}`;

/** Plants a key: its bytes, and each line of its PEM. */
function plantKey(planted: Planted, pem: string): void {
  const { d = '' } = createPrivateKey(pem).export({ format: 'jwk' });
  planted.addBytes('private key', Buffer.from(d, 'base64url'));
  for (const line of pem.trim().split('\n').slice(1, -1)) planted.add('private key', line);
}
