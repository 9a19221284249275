import type { Socket } from 'node:net';
import type { Connector } from './connection.ts';

const CONTINUE = Buffer.from('HTTP/1.1 100');
const LAST_DIGIT = CONTINUE.length - 1;
const H = 'H'.charCodeAt(0);
const NOTHING = Buffer.alloc(0);

/**
 * A client has to skip interim answers, those included that it did not ask for (RFC 9110, 15.2). undici skips all but
 * 100 (Continue), for which it closes the connection, and has no setting for that: so it is shown 102 in its place. Were a
 * body to contain that text, its copy in the log would differ in one digit.
 */
export function skippingContinue(connect: Connector): Connector {
  return (options, done) =>
    connect(options, (...connected) => {
      const [error, socket] = connected;
      if (error === null) readContinueAsProcessing(socket);
      done(...connected);
    });
}

function readContinueAsProcessing(socket: Socket): void {
  const read = socket.read.bind(socket);
  // What the last chunk ended with, where that may be a status line's beginning: it may be cut anywhere.
  let before: Buffer = NOTHING;
  socket.read = (size) => {
    const chunk: unknown = read(size);
    if (!Buffer.isBuffer(chunk)) return chunk;
    const both = before.length === 0 ? chunk : Buffer.concat([before, chunk]);
    for (let at = both.indexOf(CONTINUE); at >= 0; at = both.indexOf(CONTINUE, at + 1)) {
      chunk.write('2', at + LAST_DIGIT - before.length);
    }
    before = both.indexOf(H, -LAST_DIGIT) === -1 ? NOTHING : both.subarray(-LAST_DIGIT);
    return chunk;
  };
}
