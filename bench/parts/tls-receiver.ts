import { createServer } from 'node:https';
import type { TLSSocket } from 'node:tls';
import type { Certificate } from '@waybell/runtime/testing/certificate';
import { listen } from '@waybell/runtime/health';
import { serve } from '../lib/part.ts';

/** Answers 200 at once, over TLS, and counts handshakes. */
export type TlsReceiverCommands = typeof commands;

export type Handshakes = { full: number; resumed: number };

let handshakes: Handshakes = { full: 0, resumed: 0 };

const commands = {
  /** Listens on all addresses of 127.0.0.0/8; resolves with the port. */
  async listen(certificate: Certificate): Promise<number> {
    const server = createServer(certificate, (request, response) => {
      request.resume();
      response.writeHead(200).end();
    });
    server.on('secureConnection', (socket: TLSSocket) => {
      handshakes[socket.isSessionReused() ? 'resumed' : 'full'] += 1;
    });
    server.keepAliveTimeout = 120_000;
    return (await listen(server, { host: '0.0.0.0', port: 0 })).port;
  },
  /** Handshakes since the last call. */
  newHandshakes(): Handshakes {
    const since = handshakes;
    handshakes = { full: 0, resumed: 0 };
    return since;
  },
};

serve(commands);
