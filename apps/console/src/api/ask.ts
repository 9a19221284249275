import createClient, { type Client, type Middleware } from 'openapi-fetch';
import { isObject, problemOf, unreachable } from './problem.ts';
import type { paths as ClientPaths } from './client-api.d.ts';
import type { paths as OperatorPaths } from './operator-api.d.ts';

/** The root of the listener that serves the page, which alone is asked. The page lies at console/ below it. */
export const root = new URL('..', new URL(location.pathname, location.origin)).href;

/** What is asked of the API by one who signed in; `token` is the access token of the moment. `onSignedOut` is called where it holds no more. */
export function askWith(token: () => Promise<string>, onSignedOut: (why: string) => void) {
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
  const client = createClient<ClientPaths>({ baseUrl: root.replace(/\/$/, '') });
  client.use(authorize);
  // The same listener may be either; which one, the settings of the page say.
  return { client, operator: client as unknown as Client<OperatorPaths>, token };
}

export type ApiClient = ReturnType<typeof askWith>;

/** An answer without what the shipper interface wraps it in. */
export type Plain<T> = T extends { status: 'success'; data: infer D } ? (D extends { object: infer O } ? O : D) : T;

/** What is answered, without its wrapping. Throws a Problem. */
export async function told<T>(asked: Promise<{ data?: T; error?: unknown; response: Response }>): Promise<Plain<T>> {
  const { data, error, response } = await asked;
  if (!response.ok) throw problemOf(response, error);
  return plain(data) as Plain<T>;
}

function plain(body: unknown): unknown {
  if (!isObject(body) || body['status'] !== 'success' || !isObject(body['data'])) return body;
  const { data } = body;
  return 'object' in data ? data['object'] : data;
}
