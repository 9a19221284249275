import { readBody } from './read-body.ts';
import { refuseParsedBody, type Refusal } from './refusal.ts';
import type { Serving } from './serve-node.ts';

export function serveFetch({ receive, refuseRequest, limits }: Serving): (request: Request) => Promise<Response> {
  const bodyOf = async (request: Request): Promise<Uint8Array | Refusal> => {
    if (request.bodyUsed) return refuseParsedBody();
    // Streams of Node can be iterated over, which the types of browsers do not know.
    return request.body === null ? new Uint8Array() : readBody(request.body as AsyncIterable<Uint8Array>, limits);
  };
  return async (request) => {
    const { method, headers: given } = request;
    const read = method === 'POST' ? await bodyOf(request) : '';
    const isRefused = typeof read === 'object' && 'kind' in read;
    const { status, headers, body } = isRefused
      ? refuseRequest(read)
      : await receive({ method, headers: given, body: read });
    // The rest of a body must not be taken for the next request.
    const isLeft = request.body !== null && (isRefused || method !== 'POST');
    return new Response(body, { status, headers: { ...headers, ...(isLeft ? { connection: 'close' } : {}) } });
  };
}
