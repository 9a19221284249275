import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

type ProxiedConnection = { client: Socket; broker: Socket; greeting: string };

/** Limits of a slow network. */
export type Weather = { latencyMs?: number; bytesPerSecond?: number };

/** A TCP proxy to the broker that can cut connections, slow them down, and silently stop forwarding. */
export class Detour implements AsyncDisposable {
  readonly #server: Server;
  readonly #pairs = new Set<ProxiedConnection>();
  readonly #to: URL;
  #stalled: 'answers' | 'everything' | undefined;
  #weather: Weather = {};
  #stallsAt: string | undefined;
  /** Everything that clients sent, as text. */
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

  /** Destroys every connection, or those of this name, without a close handshake. */
  cut(name = ''): void {
    for (const { client, broker, greeting } of this.#pairs) {
      if (!greeting.includes(name)) continue;
      client.destroy();
      broker.destroy();
    }
  }

  /** Stops forwarding the broker's answers, or everything; on new connections too. */
  stall(what: 'answers' | 'everything' = 'answers'): void {
    this.#stalled = what;
    for (const pair of this.#pairs) this.#holdUp(pair);
  }

  /** Stops forwarding answers once a client has sent this text, which is still forwarded. */
  stallAt(text: string): void {
    this.#stallsAt = text;
  }

  flow(): void {
    this.#stalled = undefined;
    this.#stallsAt = undefined;
    for (const { client, broker } of this.#pairs) {
      client.resume();
      broker.resume();
    }
  }

  /** Slows both directions from now on. */
  weather(weather: Weather): void {
    this.#weather = weather;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.cut();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #pass(client: Socket): void {
    const broker = connect(Number(this.#to.port), this.#to.hostname);
    const pair: ProxiedConnection = { client, broker, greeting: '' };
    this.#pairs.add(pair);
    client.on('data', (chunk: Buffer) => {
      const text = chunk.toString('latin1');
      this.said += text;
      if (this.#stallsAt !== undefined && text.includes(this.#stallsAt)) this.stall();
      if (pair.greeting.length < 1_000) pair.greeting += text;
    });
    for (const [from, to] of [
      [client, broker],
      [broker, client],
    ] as const) {
      this.#carry(from, to);
      from.on('error', () => to.destroy());
      from.on('close', () => {
        to.destroy();
        this.#pairs.delete(pair);
      });
    }
    this.#holdUp(pair);
  }

  #holdUp({ client, broker }: ProxiedConnection): void {
    if (this.#stalled !== undefined) broker.pause();
    if (this.#stalled === 'everything') client.pause();
  }

  /** Does not use `pipe`, which would resume a stalled socket by itself. */
  #carry(from: Socket, to: Socket): void {
    let before = Promise.resolve();
    from.on('data', (chunk: Buffer) => {
      const { latencyMs = 0, bytesPerSecond = Infinity } = this.#weather;
      const arrivesAt = Date.now() + latencyMs;
      before = before.then(async () => {
        const waitMs = Math.max(arrivesAt - Date.now(), (chunk.length / bytesPerSecond) * 1_000);
        if (waitMs > 0) await sleep(waitMs);
        to.write(chunk);
      });
      if (bytesPerSecond < Infinity) void this.#pauseUntil(from, before);
    });
  }

  /** Stops reading until what was read has been forwarded. */
  async #pauseUntil(from: Socket, through: Promise<void>): Promise<void> {
    from.pause();
    await through;
    if (this.#stalled === undefined) from.resume();
  }
}
