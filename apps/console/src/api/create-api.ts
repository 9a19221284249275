import createClient, { type Client, type Middleware } from 'openapi-fetch';
import type { paths as ClientPaths } from './client-api.d.ts';
import type { paths as OperatorPaths } from './operator-api.d.ts';
import { isObject, problemOf, unreachable } from './problem.ts';

export type ApiClient = ReturnType<typeof createApi>;

/** A client for which an operator acts: the guid of its account, and its id. */
export type ActedFor = { account: string; client: string };

type ApiAccess = {
  /** The access token of the moment. */
  token: () => Promise<string>;
  /** Called when the token holds no more. */
  onSignedOut: (why: string) => void;
  /** The client for which an operator asks. */
  actingFor?: ActedFor | undefined;
};

/** The root of the listener that serves the page, which alone is asked. The page lies at console/ below it. */
export const root = new URL('..', new URL(location.pathname, location.origin)).href;

/** Makes the API client of someone who signed in. */
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
    // Its requests begin with their path.
    baseUrl: '',
    Request: requestsOf(actingFor),
    // The form of parameters on both interfaces: `status=exhausted,dropped`.
    querySerializer: { array: { style: 'form', explode: false } },
  });
  client.use(authorize);
  // The same listener may be either; which one, the settings of the page say.
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

/** The address of a path of either interface: that of the client interface lies below the client, if an operator acts for it. */
function urlOf(path: string, actingFor: ActedFor | undefined): string {
  if (actingFor === undefined || path.startsWith(OPERATOR_INTERFACE)) return new URL(path.slice(1), root).href;
  const { account, client } = actingFor;
  const place = `v1/admin/accounts/${account}/clients/${inPath(client)}/`;
  return new URL(`${place}${path.slice(CLIENT_INTERFACE.length)}`, root).href;
}

/** A client's id as a part of a path that no proxy changes. */
function inPath(client: string): string {
  if (/^[\w-]+$/.test(client)) return client;
  return `~${btoa(client).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '')}`;
}

/**
 * The one place that makes requests, each once and at its final address. A request that is made of another has a stream for its
 * body, which Chromium sends by HTTP/2 alone.
 */
function requestsOf(actingFor: ActedFor | undefined): typeof Request {
  return class extends Request {
    constructor(path: string, init?: RequestInit) {
      super(urlOf(path, actingFor), init);
    }
  } as typeof Request;
}

/** An answer without what the shipper interface wraps it in. */
export type Plain<T> = T extends { status: 'success'; data: infer D } ? (D extends { object: infer O } ? O : D) : T;

/** Returns the answer without its wrapping. Throws a Problem. */
export async function answerOf<T>(
  asked: Promise<{ data?: T; error?: unknown; response: Response }>,
): Promise<Plain<T>> {
  const { data, error, response } = await asked;
  if (!response.ok) throw problemOf(response, error);
  return plain(data) as Plain<T>;
}

function plain(body: unknown): unknown {
  if (!isObject(body) || body['status'] !== 'success' || !isObject(body['data'])) return body;
  const { data } = body;
  return 'object' in data ? data['object'] : data;
}
