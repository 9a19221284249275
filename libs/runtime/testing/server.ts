import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createSecureServer, type ServerOptions } from 'node:https';
import { createServer as createTcpServer, type Server, type Socket } from 'node:net';

/** A server on a port of its own, on the loopback address. Disposing cuts its connections. */
export type TestServer = AsyncDisposable & {
  port: number;
  url: string;
  /** Connections made to it so far. */
  connections: () => number;
};

/** A port without a listener: a privileged one, which no other process is given by chance. */
export const NOBODY_PORT = 2;

/** Connections stay until they are cut: an idle timeout could close one as the next request comes. */
const UNTIL_CUT = { keepAliveTimeout: 0 };

const LOOPBACK = '127.0.0.1';

type RespondTo = (request: IncomingMessage, response: ServerResponse) => unknown;

export const httpServer = (answer: RespondTo, { host = LOOPBACK } = {}): Promise<TestServer> =>
  start(
    createServer(UNTIL_CUT, (request, response) => void answer(request, response)),
    'http',
    host,
  );

export const tlsServer = (options: ServerOptions, answer: RespondTo): Promise<TestServer> =>
  start(
    createSecureServer({ ...options, ...UNTIL_CUT }, (request, response) => void answer(request, response)),
    'https',
  );

/** Answers with bytes: what a socket gets is up to `connected`. */
export const tcpServer = (connected: (socket: Socket) => void, { host = LOOPBACK } = {}): Promise<TestServer> =>
  start(createTcpServer(connected), 'http', host);

/** Answers the first bytes of each connection with these. */
export const sayingServer = (text: string): Promise<TestServer> =>
  tcpServer((socket) => socket.once('data', () => socket.write(text)));

async function start(server: Server, scheme: string, host = LOOPBACK): Promise<TestServer> {
  const sockets = new Set<Socket>();
  let connections = 0;
  server.on('connection', (socket: Socket) => {
    connections += 1;
    sockets.add(socket);
    // Clients that go away are part of many tests.
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('it listens on a port');
  return {
    port: address.port,
    url: `${scheme}://localhost:${address.port}`,
    connections: () => connections,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
      });
    },
  };
}
