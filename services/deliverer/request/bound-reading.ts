import type { Socket } from 'node:net';
import { bytesSince, type Connection, type Connector } from './connection.ts';
import { InvalidResponse } from './invalid-response.ts';

const LOOK_EVERY_MS = 100;

/**
 * Ends a connection on which more than about `limitBytes` come for one request, or after it. The head reader counts headers
 * and the exchange the body; nothing else counts interim responses, blanks, chunk extensions and TLS messages after the
 * handshake: a receiver that sends these as fast as they are read would keep this process busy until the time limit. Counts
 * bytes beneath TLS, ten times a second.
 */
export function boundingReading(connect: Connector, limitBytes: number): Connector {
  const open = new Map<Socket, Connection>();
  const tooLong = `more than ${limitBytes} bytes came, and the end of its headers was not among them`;
  let looking: NodeJS.Timeout | undefined;

  function look(): void {
    // A `for` loop would make an array for each.
    open.forEach((connection, socket) => {
      if (bytesSince(connection) > limitBytes) socket.destroy(new InvalidResponse(tooLong));
    });
  }

  return (target, done) =>
    connect(target, (...connected) => {
      const [error, socket] = connected;
      if (error === null) {
        open.set(socket, target.connection);
        // The system's timer, not a given clock: it protects this process.
        looking ??= setInterval(look, LOOK_EVERY_MS).unref();
        socket.once('close', () => {
          open.delete(socket);
          if (open.size > 0) return;
          clearInterval(looking);
          looking = undefined;
        });
      }
      done(...connected);
    });
}
