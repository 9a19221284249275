import { createServer } from 'node:http';
import { connect, type Socket } from 'node:net';

export type TestProxy = AsyncDisposable & {
  url: string;
  /** Authority and user of each CONNECT so far. */
  asked: { authority: string | undefined; authorization: string | undefined }[];
};

/** A proxy for CONNECT that leads every tunnel to a port of this machine, or refuses it with a status. */
export async function connectProxy(
  answer: (authority: string) => { port: number } | { status: number },
): Promise<TestProxy> {
  const asked: TestProxy['asked'] = [];
  const sockets = new Set<Socket>();
  const server = createServer((_, response) => response.writeHead(400).end());
  server.on('connection', (socket: Socket) => sockets.add(socket));
  server.on('connect', ({ url = '', headers }, client) => {
    asked.push({ authority: url, authorization: headers['proxy-authorization'] });
    const said = answer(url);
    if ('status' in said) return void client.end(`HTTP/1.1 ${said.status} No\r\n\r\n`);
    const onward = connect(said.port, '127.0.0.1', () => client.write('HTTP/1.1 200 OK\r\n\r\n'));
    sockets.add(onward);
    for (const socket of [client, onward]) socket.on('error', () => undefined);
    client.pipe(onward).pipe(client);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('it listens on a port');
  return {
    url: `http://127.0.0.1:${address.port}`,
    asked,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
      });
    },
  };
}
