import { createServer, type Server } from 'node:http';
import { connect } from 'node:net';
import { closeServer, listen } from '@waybell/runtime/health';

/** A proxy on loopback that has every request go to one port of loopback, whatever it asked for, and tells what that was. */
export type TestProxy = AsyncDisposable & { address: string; asked: string[] };

export async function startProxy(to: { port: number }): Promise<TestProxy> {
  const asked: string[] = [];
  const server: Server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    response.end('from the proxy');
  });
  server.on('connect', ({ url = '' }, socket) => {
    asked.push(`CONNECT ${url}`);
    const upstream = connect(to.port, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      upstream.pipe(socket);
      socket.pipe(upstream);
    });
    for (const each of [upstream, socket]) each.on('error', () => [upstream, socket].forEach((end) => end.destroy()));
    socket.once('close', () => upstream.destroy());
    sockets.add(socket);
  });
  const sockets = new Set<{ destroy(): unknown }>();
  const { port } = await listen(server, { host: '127.0.0.1', port: 0 });
  return {
    address: `127.0.0.1:${port}`,
    asked,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.closeAllConnections();
      await closeServer(server);
    },
  };
}
