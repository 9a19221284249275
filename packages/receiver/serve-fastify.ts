import type { IncomingHttpHeaders } from 'node:http';
import type { Serving } from './serve-node.ts';

/** The part of Fastify that a plugin needs here, so that the package does not depend on it. */
export type FastifyScope = {
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
export function serveFastify({ receive, limits }: Serving): (scope: FastifyScope) => Promise<void> {
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
