import type { IncomingMessage, ServerResponse } from 'node:http';
import { readBody, type BodyLimits } from './read-body.ts';
import type { Answer, Receive, Refuse } from './receive.ts';

/** The functions that answer requests, and the limit of a body. */
export type Serving = { receive: Receive; refuseRequest: Refuse; limits: BodyLimits };

/** Members that a framework may have added to Node's request. */
type ParsedRequest = { body?: unknown; rawBody?: unknown };

export type NodeListener = (request: IncomingMessage, response: ServerResponse) => void;

export function serveNode(serving: Serving): NodeListener {
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { status, headers, body } = await answerTo(request, serving);
    // A time limit of the framework may have been first.
    if (response.headersSent) return;
    // The rest of a refused body must not be taken for the next request.
    if (!request.complete) response.setHeader('connection', 'close');
    response.writeHead(status, headers).end(body);
  };
  // Pages of Next.js wait for it; to servers it is a listener, which returns nothing.
  return (request, response) =>
    serve(request, response).catch((error: unknown) => {
      console.error('waybell receiver:', error);
      response.destroy();
    }) as unknown as void;
}

async function answerTo(
  request: IncomingMessage & ParsedRequest,
  { receive, refuseRequest, limits }: Serving,
): Promise<Answer> {
  const { method = '', headers } = request;
  if (method !== 'POST') return receive({ method, headers, body: '' });
  // A parser before this one has read it: the bytes are there if that kept them.
  if (request.readableDidRead) return receive({ method, headers, body: keptOf(request) });
  const body = await readBody(request.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>, limits);
  return 'kind' in body ? refuseRequest(body) : receive({ method, headers, body });
}

function keptOf({ body, rawBody }: ParsedRequest): unknown {
  return rawBody ?? body;
}
