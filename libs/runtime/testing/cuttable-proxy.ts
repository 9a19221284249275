import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

export type CuttableProxy = AsyncDisposable & {
  /** The same URL, through the proxy. */
  url: string;
  /** Ends every connection and refuses new ones. */
  cut(): Promise<void>;
  restore(): Promise<void>;
};

/**
 * Stands between a client and the server of `target`, to take it away and bring it back. Of what each connection sends it
 * passes on `passedBytes` and keeps the rest, so that the client cannot come to its end before it is cut.
 */
export async function cuttableProxy(
  target: string,
  { passedBytes = Infinity }: { passedBytes?: number } = {},
): Promise<CuttableProxy> {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  const pass = (client: Socket) => {
    const upstream = connect(Number(port || 5432), hostname);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket
        .on('error', () => {})
        .on('close', () => {
          sockets.delete(socket);
          client.destroy();
          upstream.destroy();
        });
    }
    upstream.pipe(client);
    if (passedBytes === Infinity) client.pipe(upstream);
    else passSome(client, upstream, passedBytes);
  };
  const server = createServer();
  const listen = (at: number) => new Promise<void>((resolve) => void server.listen(at, '127.0.0.1', resolve));
  await listen(0);
  // It listens on a port, so it has an AddressInfo.
  const own = (server.address() as AddressInfo).port;
  const held = await holdPort(server, own);
  server.on('connection', pass);

  async function cut(): Promise<void> {
    server.close();
    const closed = [...sockets].map((socket) => new Promise((resolve) => socket.once('close', resolve)));
    for (const socket of sockets) socket.destroy();
    await Promise.all(closed);
  }

  const url = new URL(target);
  url.host = `127.0.0.1:${own}`;
  return {
    url: url.href,
    cut,
    restore: () => listen(own),
    async [Symbol.asyncDispose]() {
      if (server.listening) await cut();
      for (const socket of held) socket.destroy();
    },
  };
}

/** While the server does not listen, one connection that is never cut keeps its port from being given to another process. */
async function holdPort(server: Server, port: number): Promise<Socket[]> {
  const accepted = once(server, 'connection') as Promise<[Socket]>;
  const connecting = connect(port, '127.0.0.1');
  await once(connecting, 'connect');
  return [connecting, ...(await accepted)];
}

function passSome(from: Socket, to: Socket, bytes: number): void {
  let leftBytes = bytes;
  from.on('data', (chunk: Buffer) => {
    to.write(chunk.subarray(0, leftBytes));
    leftBytes -= chunk.length;
    if (leftBytes <= 0) from.pause();
  });
}
