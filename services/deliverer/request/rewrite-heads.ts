import type { Socket } from 'node:net';
import type { Connection, Connector } from './connection.ts';
import { HeadReader } from './head-reader.ts';
import { InvalidResponse } from './invalid-response.ts';

/**
 * Reads the heads of responses before undici does, whose parser takes none that breaks a rule, has no setting for that, and
 * closes the connection for a 100 (Continue). It is shown a head that it takes; interim responses, which a client has to skip whether it
 * asked for them or not (RFC 9110, 15.2), and headers that nobody here looks at are left out. Bodies it gets as they come: nothing
 * that is wrong with one changes what its status says. What comes while no response is awaited it gets as well, and closes the connection.
 */
export function rewritingHeads(connect: Connector): Connector {
  return (target, done) =>
    connect(target, (...connected) => {
      const [error, socket] = connected;
      if (error === null) rewriteHeads(socket, target.connection);
      done(...connected);
    });
}

function rewriteHeads(socket: Socket, connection: Connection): void {
  const read = socket.read.bind(socket);
  const head = new HeadReader();
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
