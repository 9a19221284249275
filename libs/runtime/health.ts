import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { Server as NetServer, type AddressInfo } from 'node:net';
import { codeOf } from './error-codes.ts';
import type { Metrics, Shown } from './metrics.ts';
import type { Readiness } from './readiness.ts';

export type Health = AsyncDisposable & { port: number };

/** Serves `/livez`, `/readyz` (503 with the dependencies waited for) and `/metrics`. Close it last. */
export async function serveHealth(options: {
  host: string;
  port: number;
  readiness: Pick<Readiness, 'waitingFor'>;
  metrics: Metrics;
  /** Used for scrapers that take OpenMetrics; if absent, all get the plain format. */
  openMetrics?: () => Promise<Shown>;
}): Promise<Health> {
  const server = createServer((request, response) => {
    const path = request.url?.split('?')[0];
    if (path === '/livez') {
      response.end('alive\n');
    } else if (path === '/readyz') {
      const waitingFor = options.readiness.waitingFor();
      response.statusCode = waitingFor.length === 0 ? 200 : 503;
      response.setHeader('content-type', 'application/json');
      response.end(`${JSON.stringify({ ready: waitingFor.length === 0, waitingFor })}\n`);
    } else if (path === '/metrics') {
      const takesOpenMetrics = request.headers.accept?.includes('application/openmetrics-text') ?? false;
      const show = (takesOpenMetrics && options.openMetrics) || (() => plain(options.metrics));
      show().then(
        ({ text, contentType }) => response.setHeader('content-type', contentType).end(text),
        () => response.writeHead(500).end(),
      );
    } else {
      response.writeHead(404).end();
    }
  });
  const { port } = await listen(server, options);
  return { port, [Symbol.asyncDispose]: () => closeServer(server) };
}

async function plain(metrics: Metrics): Promise<Shown> {
  return { text: await metrics.metrics(), contentType: metrics.contentType };
}

/** The address cannot be listened on. The message says what to do. */
export class CannotListen extends Error {
  constructor({ host, port }: { host: string; port: number }, cause: unknown) {
    const why = WHY_NOT[codeOf(cause)] ?? String(cause);
    super(`cannot listen on ${host}:${port}: ${why}`, { cause });
    this.name = 'CannotListen';
  }
}

const WHY_NOT: Readonly<Record<string, string>> = {
  EADDRINUSE: 'something else does; stop it, or set another port',
  EACCES: 'this user may not; set a port from 1024 up',
  EADDRNOTAVAIL: 'this machine has no such address; set another host',
};

/** Unfinished answers of each listening server. */
const answersOf = new WeakMap<Server, Set<ServerResponse>>();

/** Throws CannotListen. */
export async function listen(server: Server, at: { host: string; port: number }): Promise<AddressInfo> {
  const answers = new Set<ServerResponse>();
  answersOf.set(server, answers);
  server.prependListener('request', (_request, answer) => {
    answers.add(answer);
    answer.once('close', () => answers.delete(answer));
  });
  await new Promise<void>((resolve, reject) => {
    const refuse = (error: Error) => reject(new CannotListen(at, error));
    server.once('error', refuse);
    server.listen(at.port, at.host, () => {
      server.off('error', refuse);
      resolve();
    });
  });
  // A server that listens on a port, not on a pipe, has an AddressInfo.
  return server.address() as AddressInfo;
}

const CLOSE_LIMIT_MS = 2_000;

/**
 * Takes no new connections, closes idle ones, and resolves when the last answer is sent. Cuts answers that do not end within the
 * limit, as to a client that reads slowly.
 */
export async function closeServer(server: Server, limitMs = CLOSE_LIMIT_MS): Promise<void> {
  const answers = [...(answersOf.get(server) ?? [])];
  answers.forEach(closeAfter);
  server.prependListener('request', (_request, answer) => closeAfter(answer));
  const limit = setTimeout(() => server.closeAllConnections(), limitMs);
  await new Promise<void>((resolve) => {
    // `close` of the HTTP server would take answers that are written but not yet sent for idle, and cut them.
    NetServer.prototype.close.call(server, () => resolve());
    const out = answers.filter(({ writableEnded }) => writableEnded).map((answer) => once(answer, 'close'));
    void Promise.all(out).then(() => server.close());
  });
  clearTimeout(limit);
}

/** Closes the connection after the answer: a client that keeps asking over it would keep it open for ever. */
function closeAfter(answer: ServerResponse): void {
  const { socket } = answer;
  if (answer.headersSent) answer.once('finish', () => socket?.end());
  else answer.setHeader('connection', 'close');
}
