import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

type ProxiedConnection = { client: Socket; server: Socket; greeting: string };

/** Limits of a slow network. */
export type Weather = { latencyMs?: number; bytesPerSecond?: number };

/** A TCP proxy to a server that can cut connections, refuse them, slow them down, and silently stop forwarding. */
export class Detour implements AsyncDisposable {
  /** How many it has without a client: its server's, and both ends of what holds its port. */
  static readonly SOCKETS = 3;

  readonly #listener = createServer();
  readonly #pairs = new Set<ProxiedConnection>();
  readonly #to: URL;
  readonly #passedBytes: number;
  #port = 0;
  #held: Socket[] = [];
  #stalled: 'answers' | 'everything' | undefined;
  #weather: Weather = {};
  #stallsAt: string | undefined;
  /** Everything that clients sent, as text. */
  said = '';

  private constructor(to: string, passedBytes: number) {
    this.#to = new URL(to);
    this.#passedBytes = passedBytes;
  }

  /**
   * Of what each connection sends it forwards `passedBytes` and keeps the rest: the client cannot come to its end before it is
   * cut.
   */
  static async to(url: string, { passedBytes = Infinity } = {}): Promise<Detour> {
    const detour = new Detour(url, passedBytes);
    await detour.reopen();
    // It listens on a port, so it has an AddressInfo.
    detour.#port = (detour.#listener.address() as AddressInfo).port;
    detour.#held = await holdPort(detour.#listener, detour.#port);
    detour.#listener.on('connection', (client: Socket) => detour.#pass(client));
    return detour;
  }

  /** The same URL, through the proxy. */
  get url(): string {
    const url = new URL(this.#to);
    url.host = `127.0.0.1:${this.#port}`;
    return url.href;
  }

  /** Ends every connection and refuses new ones, until it is opened again. */
  async shut(): Promise<void> {
    this.#listener.close();
    const sockets = [...this.#pairs].flatMap(({ client, server }) => [client, server]);
    const open = sockets.filter((socket) => !socket.closed);
    const closed = open.map((socket) => new Promise((resolve) => socket.once('close', resolve)));
    this.cut();
    await Promise.all(closed);
  }

  async reopen(): Promise<void> {
    await new Promise<void>((resolve) => void this.#listener.listen(this.#port, '127.0.0.1', resolve));
  }

  /** Destroys every connection, or those of this name, without a close handshake. */
  cut(name = ''): void {
    for (const { client, server, greeting } of this.#pairs) {
      if (!greeting.includes(name)) continue;
      client.destroy();
      server.destroy();
    }
  }

  /** Stops forwarding the server's answers, or everything; on new connections too. */
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
    for (const { client, server } of this.#pairs) {
      client.resume();
      server.resume();
    }
  }

  /** Slows both directions from now on. */
  weather(weather: Weather): void {
    this.#weather = weather;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const ended = new Promise((resolve) => this.#listener.close(resolve));
    this.cut();
    for (const socket of this.#held) socket.destroy();
    await ended;
  }

  #pass(client: Socket): void {
    // Only URLs of Postgres leave it out.
    const server = connect(Number(this.#to.port || 5432), this.#to.hostname);
    const pair: ProxiedConnection = { client, server, greeting: '' };
    this.#pairs.add(pair);
    client.on('data', (chunk: Buffer) => {
      const text = chunk.toString('latin1');
      this.said += text;
      if (this.#stallsAt !== undefined && text.includes(this.#stallsAt)) this.stall();
      if (pair.greeting.length < 1_000) pair.greeting += text;
    });
    for (const [from, to] of [
      [client, server],
      [server, client],
    ] as const) {
      this.#carry(from, to, from === client ? this.#passedBytes : Infinity);
      from.on('error', () => to.destroy());
      from.on('close', () => {
        to.destroy();
        this.#pairs.delete(pair);
      });
    }
    this.#holdUp(pair);
  }

  #holdUp({ client, server }: ProxiedConnection): void {
    if (this.#stalled !== undefined) server.pause();
    if (this.#stalled === 'everything') client.pause();
  }

  /** Does not use `pipe`, which would resume a stalled socket by itself. */
  #carry(from: Socket, to: Socket, passedBytes: number): void {
    let before = Promise.resolve();
    let leftBytes = passedBytes;
    from.on('data', (chunk: Buffer) => {
      const { latencyMs = 0, bytesPerSecond = Infinity } = this.#weather;
      const arrivesAt = Date.now() + latencyMs;
      const passed = chunk.subarray(0, leftBytes);
      leftBytes -= passed.length;
      if (leftBytes === 0) from.pause();
      before = before.then(async () => {
        const waitMs = Math.max(arrivesAt - Date.now(), (passed.length / bytesPerSecond) * 1_000);
        if (waitMs > 0) await sleep(waitMs);
        to.write(passed);
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

/** While the server does not listen, one connection that is never cut keeps its port from being given to another process. */
async function holdPort(server: Server, port: number): Promise<Socket[]> {
  const accepted = once(server, 'connection') as Promise<[Socket]>;
  const connecting = connect(port, '127.0.0.1');
  await once(connecting, 'connect');
  return [connecting, ...(await accepted)];
}
