/**
 * Guards this process and undici from what receivers send instead of plain responses: heads that break rules are rewritten or refused,
 * and a connection that sends without an end is closed.
 */
import type { Socket } from 'node:net';
import { type Connection, type Connector, bytesSince } from './connection.ts';
import { HeadReader } from './head-reader.ts';

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

const CHECK_MS = 100;

/**
 * Ends a connection on which more than about `limitBytes` come for one request, or after it. The head reader counts headers
 * and the exchange the body; nothing else counts interim responses, blanks, chunk extensions and TLS messages after the
 * handshake: a receiver that sends these as fast as they are read would keep this process busy until the time limit. Counts
 * bytes beneath TLS, ten times a second.
 */
export function boundingReading(connect: Connector, limitBytes: number): Connector {
  const open = new Map<Socket, Connection>();
  const tooLong = `more than ${limitBytes} bytes came, and the end of its headers was not among them`;
  let checking: NodeJS.Timeout | undefined;

  function check(): void {
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
        checking ??= setInterval(check, CHECK_MS).unref();
        socket.once('close', () => {
          open.delete(socket);
          if (open.size > 0) return;
          clearInterval(checking);
          checking = undefined;
        });
      }
      done(...connected);
    });
}

/** The receiver's bytes are no HTTP response; `brokenRule` says why, for people. */
export class InvalidResponse extends Error {
  readonly code = 'INVALID_RESPONSE';
  readonly brokenRule: string;
  constructor(brokenRule: string) {
    super(`no response of HTTP: ${brokenRule}`);
    this.name = 'InvalidResponse';
    this.brokenRule = brokenRule;
  }
}
