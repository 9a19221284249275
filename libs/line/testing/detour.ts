import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

type Pair = { client: Socket; broker: Socket; greeting: string };

/** A way to the broker that can be cut, and stopped so that nothing passes and nobody notices. */
export class Detour implements AsyncDisposable {
  readonly #server: Server;
  readonly #pairs = new Set<Pair>();
  readonly #to: URL;
  #isStalled = false;
  /** Everything the client said, as text. */
  said = '';

  constructor(to: string) {
    this.#to = new URL(to);
    this.#server = createServer((client) => this.#pass(client));
  }

  static async to(url: string): Promise<Detour> {
    const detour = new Detour(url);
    await new Promise<void>((resolve) => detour.#server.listen(0, '127.0.0.1', resolve));
    return detour;
  }

  get url(): string {
    const url = new URL(this.#to);
    // A TCP server that listens has an address with a port.
    url.port = String((this.#server.address() as AddressInfo).port);
    return url.href;
  }

  /** Ends at once, without a word, every connection or those of this name. */
  cut(name = ''): void {
    for (const { client, broker, greeting } of this.#pairs) {
      if (!greeting.includes(name)) continue;
      client.destroy();
      broker.destroy();
    }
  }

  /** Nothing comes back from the broker any more, on connections there are and on new ones. */
  stall(): void {
    this.#isStalled = true;
    for (const { broker } of this.#pairs) broker.pause();
  }

  flow(): void {
    this.#isStalled = false;
    for (const { broker } of this.#pairs) broker.resume();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.cut();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #pass(client: Socket): void {
    const broker = connect(Number(this.#to.port), this.#to.hostname);
    const pair: Pair = { client, broker, greeting: '' };
    this.#pairs.add(pair);
    client.on('data', (chunk: Buffer) => {
      const text = chunk.toString('latin1');
      this.said += text;
      if (pair.greeting.length < 1_000) pair.greeting += text;
    });
    client.pipe(broker);
    // Not piped: a pipe would resume by itself what was stalled.
    broker.on('data', (chunk: Buffer) => client.write(chunk));
    if (this.#isStalled) broker.pause();
    for (const [one, other] of [
      [client, broker],
      [broker, client],
    ] as const) {
      one.on('error', () => other.destroy());
      one.on('close', () => {
        other.destroy();
        this.#pairs.delete(pair);
      });
    }
  }
}
