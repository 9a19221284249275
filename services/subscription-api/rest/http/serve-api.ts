import { randomUUID } from 'node:crypto';
import { createServer, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Express } from 'express';
import type { ProblemKind } from '@waybell/contracts/problem-kinds';
import { closeServer, listen } from '@waybell/runtime/health';
import type { HttpMetrics } from './http-metrics.ts';
import { boundConnections, type ConnectionBounds } from './limits.ts';
import { Problem, PROBLEM_TYPE } from './problem.ts';

export type ApiServer = AsyncDisposable & { port: number };

/** Limits of a client's resources, before its request is known too. */
export type ServerLimits = Omit<ConnectionBounds, 'checkEveryMs'> & {
  /** From the first byte of a request to the end of its headers. */
  headersTimeoutMs: number;
  /** From the first byte of a request to the end of its body. */
  requestTimeoutMs: number;
  /** From the end of an answer to the next request. */
  idleTimeoutMs: number;
};

const HEADERS_LIMIT_BYTES = 16 * 1_024;
// Load balancers forget connections that are quiet for 240 s (Azure) or 350 s (AWS), and notify neither end.
const PROBED_EVERY_MS = 60_000;
// Slow requests and answers are checked for this often.
const CHECK_EVERY_MS = 1_000;
// Most requests wait for less; who is slow to send one, or to read its answer, is not waited for.
const CLOSE_LIMIT_MS = 10_000;

export type ServeOptions = ServerLimits & {
  host: string;
  port: number;
  checkEveryMs?: number;
  /** Once it is given, no connection is accepted: what is disposed of before does not keep it listening. */
  until?: AbortSignal;
};

/** Listens until disposed of; then accepts no new connection and finishes the requests it has, for ten seconds at most. */
export async function serveApi(
  api: Express,
  {
    host,
    port,
    headersTimeoutMs,
    requestTimeoutMs,
    idleTimeoutMs,
    checkEveryMs = CHECK_EVERY_MS,
    until,
    ...bounds
  }: ServeOptions,
  { connectionsRefused }: HttpMetrics,
): Promise<ApiServer> {
  const server = createServer(
    {
      maxHeaderSize: HEADERS_LIMIT_BYTES,
      headersTimeout: headersTimeoutMs,
      requestTimeout: requestTimeoutMs,
      keepAliveTimeout: idleTimeoutMs,
      keepAlive: true,
      keepAliveInitialDelay: PROBED_EVERY_MS,
      connectionsCheckingInterval: checkEveryMs,
      // Express answers in full where it is missing.
      requireHostHeader: false,
    },
    api,
  );
  boundConnections(server, { ...bounds, checkEveryMs }, () => connectionsRefused.inc());
  // A client gets the answer to its request, whatever else it expects.
  server.on('checkExpectation', api);
  // An incomplete request never reaches Express.
  server.on('clientError', (error, socket) => {
    if (!socket.writable) return void socket.destroy();
    answerBare(socket, explain(error));
  });
  const address = await listen(server, { host, port });
  let closed: Promise<void> | undefined;
  const close = () => (closed ??= closeServer(server, CLOSE_LIMIT_MS));
  until?.addEventListener('abort', () => void close());
  return { port: address.port, [Symbol.asyncDispose]: close };
}

function explain(error: NodeJS.ErrnoException): Problem {
  const [kind, detail] = EXPLAINED[error.code ?? ''] ?? ['malformed-request', 'This is not a valid HTTP request.'];
  return new Problem(kind, detail);
}

const EXPLAINED: Readonly<Record<string, [ProblemKind, string]>> = {
  HPE_HEADER_OVERFLOW: ['headers-too-large', 'The request line and the headers have at most 16 KiB.'],
  ERR_HTTP_REQUEST_TIMEOUT: ['request-timeout', 'The request did not come to its end in time.'],
};

function answerBare(socket: Duplex, problem: Problem): void {
  const body = JSON.stringify(problem.toBody(randomUUID()));
  const head = [
    `HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status]}`,
    `content-type: ${PROBLEM_TYPE}`,
    `content-length: ${Buffer.byteLength(body)}`,
    'cache-control: no-store',
    'connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}
