import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/** What stands before a cluster: hands each connection to the next node that takes it. */
export class LoadBalancer implements AsyncDisposable {
  readonly #server: Server;
  readonly #nodes: readonly URL[];
  readonly #sockets = new Set<Socket>();
  #turn = 0;

  private constructor(nodes: readonly URL[]) {
    this.#nodes = nodes;
    this.#server = createServer((client) => void this.#pass(client));
  }

  /** `urls` differ in host and port only. */
  static async before(urls: readonly string[]): Promise<LoadBalancer> {
    const balancer = new LoadBalancer(urls.map((url) => new URL(url)));
    balancer.#server.listen(0, '127.0.0.1');
    await once(balancer.#server, 'listening');
    return balancer;
  }

  get url(): string {
    const url = new URL(this.#nodes[0] ?? '');
    // A TCP server that listens has an address with a port.
    url.port = String((this.#server.address() as AddressInfo).port);
    return url.href;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #pass(client: Socket): Promise<void> {
    this.#keep(client);
    for (let tries = 0; tries < this.#nodes.length; tries += 1) {
      this.#turn += 1;
      const node = this.#nodes[this.#turn % this.#nodes.length];
      const broker = connect(Number(node?.port), node?.hostname);
      this.#keep(broker);
      const isTaken = await once(broker, 'connect').then(
        () => true,
        () => false,
      );
      if (isTaken) return join(client, broker);
    }
    client.destroy();
  }

  #keep(socket: Socket): void {
    this.#sockets.add(socket);
    // Its end is all there is to say of it.
    socket.on('error', () => undefined);
    socket.on('close', () => this.#sockets.delete(socket));
  }
}

function join(client: Socket, broker: Socket): void {
  for (const [from, to] of [
    [client, broker],
    [broker, client],
  ] as const) {
    from.pipe(to);
    from.on('close', () => to.destroy());
    if (from.destroyed) to.destroy();
  }
}
