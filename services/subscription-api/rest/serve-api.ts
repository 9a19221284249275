import { randomUUID } from 'node:crypto';
import { createServer, STATUS_CODES } from 'node:http';
import { closeServer, listen } from '@waybell/runtime/health';
import type { Express } from 'express';
import { Problem, PROBLEM_TYPE } from './problem.ts';

export type ApiServer = AsyncDisposable & { port: number };

/** Listens until disposed of; then takes no new request and finishes the ones it has. */
export async function serveApi(api: Express, at: { host: string; port: number }): Promise<ApiServer> {
  const server = createServer(api);
  // What is not even HTTP never reaches Express.
  server.on('clientError', (_error, socket) => {
    if (!socket.writable) return void socket.destroy();
    const problem = new Problem('malformed-request', 'This is not a valid HTTP request.');
    const body = problem.toBody(randomUUID());
    const head = [
      `HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status]}`,
      `content-type: ${PROBLEM_TYPE}`,
      `content-length: ${Buffer.byteLength(body)}`,
      'connection: close',
    ];
    socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
  });
  const { port } = await listen(server, at);
  return { port, [Symbol.asyncDispose]: () => closeServer(server) };
}
