import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import { closeServer, listen } from '@waybell/runtime/health';

/** The side of libs/runtime/testing/borrow.ts that lends. */
export type Lender = AsyncDisposable & { environment: Record<string, string> };

export type AnswerHandlers = Record<string, (body: unknown) => Promise<unknown>>;

/** Answers each path by its function; what that throws is the answer's text, with status 500. */
export async function serveAnswers(answers: AnswerHandlers): Promise<Lender> {
  const server = createServer((request, response) => {
    // Tests look for sockets that were left open.
    response.setHeader('connection', 'close');
    json(request)
      .then((body) => answers[request.url?.slice(1) ?? '']?.(body))
      .then((answer) => response.end(JSON.stringify(answer ?? null)))
      .catch((error: unknown) => response.writeHead(500).end(String(error)));
  });
  const { port } = await listen(server, { host: '127.0.0.1', port: 0 });
  return {
    environment: { TEST_SERVERS: `http://127.0.0.1:${port}` },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await closeServer(server);
    },
  };
}
