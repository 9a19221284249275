import createClient, { type Client, type Middleware } from 'openapi-fetch';
import type { paths as ClientPaths } from './client-api.d.ts';
import type { paths as OperatorPaths } from './operator-api.d.ts';
import { isObject, problemOf, unreachable } from './problem.ts';

export type ApiClient = ReturnType<typeof createApi>;

/** A client for which an operator acts: the guid of its account, and its id. */
export type ActedFor = { account: string; client: string };

type ApiAccess = {
  /** Returns an access token that is valid now. */
  token: () => Promise<string>;
  /** Called when the API no longer accepts the token. */
  onSignedOut: (why: string) => void;
  /** The client for which an operator acts. */
  actingFor?: ActedFor | undefined;
};

/** The root of the listener that serves the page, which lies at console/ below it. All requests go to that listener. */
export const root = new URL('..', new URL(location.pathname, location.origin)).href;

/** Makes the client of the API for whoever has signed in: the client interface, and for operators their own. */
export function createApi({ token, onSignedOut, actingFor }: ApiAccess) {
  const authorize: Middleware = {
    async onRequest({ request }) {
      request.headers.set('authorization', `Bearer ${await token()}`);
      return request;
    },
    async onResponse({ response }) {
      if (response.status !== 401) return;
      const problem = problemOf(
        response,
        await response
          .clone()
          .json()
          .catch(() => undefined),
      );
      onSignedOut(problem.message);
    },
    onError: unreachable,
  };
  const client = createClient<ClientPaths>({
    // `urlOf` makes each path a URL.
    baseUrl: '',
    Request: requestsOf(actingFor),
    // The form of parameters on both interfaces: `status=exhausted,dropped`.
    querySerializer: { array: { style: 'form', explode: false } },
  });
  client.use(authorize);
  // A listener serves one of the two interfaces: the settings of the page say which.
  return {
    client,
    operator: client as unknown as Client<OperatorPaths>,
    token,
    actingFor,
    onSignedOut,
    url: (path: `/v1/${string}`) => urlOf(path, actingFor),
  };
}

const CLIENT_INTERFACE = '/v1/';
const OPERATOR_INTERFACE = '/v1/admin/';

/** The URL of a path of either interface. A path of the client interface lies below the client if an operator acts for it. */
function urlOf(path: string, actingFor: ActedFor | undefined): string {
  if (actingFor === undefined || path.startsWith(OPERATOR_INTERFACE)) return new URL(path.slice(1), root).href;
  const { account, client } = actingFor;
  const place = `v1/admin/accounts/${account}/clients/${inPath(client)}/`;
  return new URL(`${place}${path.slice(CLIENT_INTERFACE.length)}`, root).href;
}

/** A client's id as a segment of a path that no proxy changes. */
function inPath(client: string): string {
  if (/^[\w-]+$/.test(client)) return client;
  return `~${btoa(client).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '')}`;
}

/**
 * A class of requests that have their final URL from the start. A request made from another one has a stream for its body, which
 * Chromium sends by HTTP/2 alone.
 */
function requestsOf(actingFor: ActedFor | undefined): typeof Request {
  return class extends Request {
    constructor(path: string, init?: RequestInit) {
      super(urlOf(path, actingFor), init);
    }
  } as typeof Request;
}

/** An answer without the envelope of the shipper interface. */
export type Plain<T> = T extends { status: 'success'; data: infer D } ? (D extends { object: infer O } ? O : D) : T;

/** Returns the answer to a request without its envelope. Throws a Problem. */
export async function answerOf<T>(
  answer: Promise<{ data?: T; error?: unknown; response: Response }>,
): Promise<Plain<T>> {
  const { data, error, response } = await answer;
  if (!response.ok) throw problemOf(response, error);
  return plain(data) as Plain<T>;
}

function plain(body: unknown): unknown {
  if (!isObject(body) || body['status'] !== 'success' || !isObject(body['data'])) return body;
  const { data } = body;
  return 'object' in data ? data['object'] : data;
}
