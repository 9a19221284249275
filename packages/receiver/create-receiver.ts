/** A receiver for each kind of server: Node's own, `fetch`, Fastify and AWS Lambda. Each reads a request and writes the answer that `receive` gives. */
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { Interface } from './parse-notification.ts';
import type { Follow } from './read-notification.ts';
import { inTime, receiving, type Answer, type Receive, type ReceiveOptions, type Refuse } from './receive.ts';
import { refuse, refuseParsedBody, type Refusal } from './refusal.ts';
import { requireNumbers, requireTimers } from './require-options.ts';

export type ReceiverOptions<I extends Interface> = ReceiveOptions<I> & {
  /**
   * Limit of a body in bytes; defaults to 8 MiB, which takes any notification of an event of 1 MiB. A framework that has read the
   * body before has its own limit.
   */
  maxBodyBytes?: number;
  /** Limit for the arrival of a body, in milliseconds; defaults to 10 s. Fastify has its own limit. */
  bodyWithinMs?: number;
};

export type Receiver = {
  /** For `http.createServer`, and for what hands out Node's requests: Express, NestJS, pages of Next.js. */
  node: NodeListener;
  /** For frameworks that pass on the requests of `fetch`: Hono, route handlers of Next.js. It needs `node:crypto`. */
  fetch: (request: Request) => Promise<Response>;
  /** A plugin of Fastify: `app.register(receiver.fastify, { prefix: '/waybell' })`. */
  fastify: (scope: FastifyScope) => Promise<void>;
  /** A handler of AWS Lambda behind API Gateway, a function URL or a load balancer. */
  lambda: (event: LambdaEvent) => Promise<LambdaAnswer>;
  /** For anything else: from a request to the answer to it. */
  receive: Receive;
  /** For `keepSubscribed`, which passes signing secrets and verification tokens as they change. */
  follow: Follow;
};

const MAX_BODY_BYTES = 8 * 1024 * 1024;
const BODY_WITHIN_MS = 10_000;

/** Receives the notifications of one interface. Throws where the options cannot be used. */
export function createReceiver(options: ReceiverOptions<'shipper'> | ReceiverOptions<'carrier'>): Receiver {
  const { maxBodyBytes: maxBytes = MAX_BODY_BYTES, bodyWithinMs: withinMs = BODY_WITHIN_MS } = options;
  requireNumbers({ maxBodyBytes: maxBytes });
  requireTimers({ bodyWithinMs: withinMs });
  const serving = { ...receivingOf(options), limits: { maxBytes, withinMs } };
  return {
    node: serveNode(serving),
    fetch: serveFetch(serving),
    fastify: serveFastify(serving),
    lambda: serveLambda(serving),
    receive: serving.receive,
    follow: serving.follow,
  };
}

/** Both do the same: the compiler checks one interface at a time. */
function receivingOf(options: ReceiverOptions<'shipper'> | ReceiverOptions<'carrier'>) {
  return options.interface === 'shipper' ? receiving(options) : receiving(options);
}

/** The functions that answer requests, and the limit of a body. */
type Serving = { receive: Receive; refuseRequest: Refuse; limits: BodyLimits };

type BodyLimits = { maxBytes: number; withinMs: number };

export type NodeListener = (request: IncomingMessage, response: ServerResponse) => void;

function serveNode(serving: Serving): NodeListener {
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
  request: IncomingMessage & { body?: unknown; rawBody?: unknown },
  { receive, refuseRequest, limits }: Serving,
): Promise<Answer> {
  const { method = '', headers } = request;
  if (method !== 'POST') return receive({ method, headers, body: '' });
  // The framework's parser has read it: the bytes are there if that kept them.
  if (request.readableDidRead) return receive({ method, headers, body: request.rawBody ?? request.body });
  const body = await readBody(request.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>, limits);
  return 'kind' in body ? refuseRequest(body) : receive({ method, headers, body });
}

function serveFetch({ receive, refuseRequest, limits }: Serving): (request: Request) => Promise<Response> {
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

/** The part of Fastify that a plugin needs here, so that the package does not depend on it. */
type FastifyScope = {
  removeAllContentTypeParsers(): void;
  addContentTypeParser(
    contentType: string,
    options: { parseAs: 'buffer'; bodyLimit: number },
    parser: (request: unknown, body: Buffer, done: (error: null, body: Buffer) => void) => void,
  ): void;
  all(path: string, handler: (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>): unknown;
};
type FastifyRequest = { method: string; headers: IncomingHttpHeaders; body: unknown };
type FastifyReply = { code(status: number): unknown; headers(headers: Record<string, string>): unknown };

/** The plugin's own parser of bodies applies to its scope only: that of the application stays. */
function serveFastify({ receive, limits }: Serving): (scope: FastifyScope) => Promise<void> {
  return async (scope) => {
    scope.removeAllContentTypeParsers();
    const options = { parseAs: 'buffer', bodyLimit: limits.maxBytes } as const;
    scope.addContentTypeParser('*', options, (_request, body, done) => done(null, body));
    scope.all('/', async ({ method, headers: given, body: read }, reply) => {
      const { status, headers, body } = await receive({ method, headers: given, body: read ?? '' });
      reply.code(status);
      reply.headers(headers);
      return body;
    });
  };
}

/** The needed part of an event of AWS Lambda: from API Gateway in either format, a function URL, or a load balancer. */
export type LambdaEvent = {
  httpMethod?: string | undefined;
  requestContext?: object | undefined;
  headers?: Readonly<Record<string, string | undefined>> | null | undefined;
  multiValueHeaders?: Readonly<Record<string, readonly string[] | undefined>> | null | undefined;
  /** Text or base64, depending on `isBase64Encoded`. */
  body?: string | null | undefined;
};

export type LambdaAnswer = {
  statusCode: number;
  headers: Record<string, string>;
  /** Present instead of `headers` if a load balancer passes several values. */
  multiValueHeaders?: Record<string, string[]>;
  body: string;
  isBase64Encoded: false;
};

function serveLambda({ receive }: Serving): (event: LambdaEvent) => Promise<LambdaAnswer> {
  return async (event) => {
    const several = event.multiValueHeaders ?? undefined;
    const { status, headers, body } = await receive({
      method: methodOf(event),
      headers: several ?? event.headers ?? {},
      body: event.body ?? '',
    });
    const answered = Object.entries(headers).map(([name, value]) => [name, [value]]);
    return {
      statusCode: status,
      headers,
      ...(several !== undefined && { multiValueHeaders: Object.fromEntries(answered) }),
      body,
      isBase64Encoded: false,
    };
  };
}

function methodOf({ httpMethod, requestContext = {} }: LambdaEvent): string {
  // Format 2.0 of API Gateway, and function URLs, have it there.
  const { http } = requestContext as { http?: { method?: string } };
  return httpMethod ?? http?.method ?? '';
}

/** Reads a body to its end. Returns an answer for one that is too large, too slow or broken off; the rest is not read. */
export async function readBody(
  chunks: AsyncIterable<Uint8Array>,
  { maxBytes, withinMs }: BodyLimits,
): Promise<Buffer | Refusal> {
  const ended = new AbortController();
  const read = await inTime(readAll(chunks, maxBytes, ended.signal), withinMs);
  ended.abort();
  return read === 'late' ? refuse('body_too_slow', `the body took more than ${withinMs} ms`) : read;
}

const FIRST_BYTES = 16 * 1024;

/** Copies chunks into one buffer: kept as they are, chunks of a byte would take a hundred times their size. */
async function readAll(
  chunks: AsyncIterable<Uint8Array>,
  maxBytes: number,
  ended: AbortSignal,
): Promise<Buffer | Refusal> {
  // Left early, `for await` would end the stream, and with it the connection that the answer takes.
  const iterator = chunks[Symbol.asyncIterator]();
  let buffer = Buffer.alloc(0);
  let bytes = 0;
  try {
    for (;;) {
      const { done, value: chunk } = await iterator.next();
      if (done || ended.aborted) return buffer.subarray(0, bytes);
      const end = bytes + chunk.byteLength;
      if (end > maxBytes)
        return refuse('body_too_large', `the body has more than ${maxBytes} bytes: see "maxBodyBytes"`);
      if (end > buffer.length) {
        const larger = Buffer.allocUnsafe(Math.min(maxBytes, Math.max(FIRST_BYTES, end, buffer.length * 2)));
        buffer.copy(larger, 0, 0, bytes);
        buffer = larger;
      }
      buffer.set(chunk, bytes);
      bytes = end;
    }
  } catch {
    return refuse('body_incomplete', 'the body broke off');
  }
}
