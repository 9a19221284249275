import type { Socket } from 'node:net';
import type { Connector } from './connection.ts';

/** A receiver sent more than anybody needs, and the end of its headers or its body was not in sight. */
export class ResponseTooLong extends Error {
  readonly code = 'RESPONSE_TOO_LONG';
  constructor(limitBytes: number) {
    super(`more than ${limitBytes} bytes came for one request`);
    this.name = 'ResponseTooLong';
  }
}

/**
 * Ends a connection on which more than about `limitBytes` come for one request, whatever they are. The parser counts
 * headers and the adapter the body; nobody counts interim responses, blanks, empty lines, reason phrases and chunk
 * extensions: without a bound, one receiver that sends them as fast as they are read keeps this process busy until its
 * limit has passed.
 */
export function boundingResponses<Target>(connect: Connector<Target>, limitBytes: number): Connector<Target> {
  return (options, done) =>
    connect(options, (...connected) => {
      const [error, socket] = connected;
      if (error === null) boundReading(socket, limitBytes);
      done(...connected);
    });
}

function boundReading(socket: Socket, limitBytes: number): void {
  const read = socket.read.bind(socket);
  let readBytes = 0;
  let sentBytes = 0;
  socket.read = (size) => {
    // Without pipelining, what comes after something was sent belongs to that.
    if (socket.bytesWritten !== sentBytes) readBytes = 0;
    sentBytes = socket.bytesWritten;
    if (readBytes > limitBytes) {
      socket.destroy(new ResponseTooLong(limitBytes));
      return null;
    }
    const chunk: unknown = read(size);
    if (Buffer.isBuffer(chunk)) readBytes += chunk.length;
    return chunk;
  };
}
