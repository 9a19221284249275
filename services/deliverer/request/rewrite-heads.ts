import type { Socket } from 'node:net';
import type { Connection, Connector } from './connection.ts';
import { HeadReader } from './head-reader.ts';
import { InvalidResponse } from './invalid-response.ts';

type KeptLimits = { keptS: number; longestMs: number };

/**
 * Rewrites the heads of responses before undici reads them: its parser refuses all that breaks a rule, has no setting for
 * that, and closes the connection for a 100 (Continue). Leaves out interim responses, which a client must skip (RFC 9110,
 * 15.2), and headers that are not read here. Passes bodies on as they come: an invalid body does not change its status.
 * Passes on bytes that come while no response is awaited, too, for which undici closes the connection. `keptS`: as of `HeadReader`.
 * A connection that was begun longer than `longestMs` ago ends with the next response, however busy it is: only a new one finds a
 * receiver that has moved, and is checked again.
 */
export function rewritingHeads(connect: Connector, { keptS, longestMs }: KeptLimits): Connector {
  return (target, done) =>
    connect(target, (...connected) => {
      const [error, socket] = connected;
      const { clock, begunAt } = target.connection;
      // Connections that were begun together do not all end together.
      const until = begunAt + longestMs * (1 - Math.random() / 4);
      const isOld = () => clock.now() > until;
      if (error === null) rewriteHeads(socket, target.connection, new HeadReader(keptS, isOld));
      done(...connected);
    });
}

function rewriteHeads(socket: Socket, connection: Connection, head: HeadReader): void {
  const read = socket.read.bind(socket);
  connection.head = head;
  socket.read = (size) => {
    for (;;) {
      const chunk: unknown = read(size);
      if (!Buffer.isBuffer(chunk)) return chunk;
      const passed = head.read(chunk);
      if (passed === undefined) continue;
      if (Buffer.isBuffer(passed)) return passed;
      socket.destroy(new InvalidResponse(passed.brokenRule));
      return null;
    }
  };
}
