import { createHash } from 'node:crypto';
import { createServer, type ServerResponse } from 'node:http';
import { closeServer, listen } from '@waybell/runtime/health';

/** A request of which the body was not kept. */
export type Measured = { path: string; delivery: string; attempt: number; sha256: string };

/** Receives what is too much to be kept: of each body its hash. `/ok/…` answers 200, `/hang/…` never. */
export class MeasuringReceiver implements AsyncDisposable {
  readonly received: Measured[] = [];
  readonly #hanging = new Set<ServerResponse>();
  readonly #server = createServer((request, response) => {
    const [path, hash] = [request.url ?? '', createHash('sha256')];
    request.on('data', (chunk: Buffer) => hash.update(chunk));
    request.on('end', () => {
      const { 'webhook-id': delivery, 'x-webhook-attempt': attempt } = request.headers;
      this.received.push({ path, delivery: String(delivery), attempt: Number(attempt), sha256: hash.digest('hex') });
      if (path.startsWith('/ok/')) return void response.writeHead(200).end();
      this.#hanging.add(response);
      response.on('close', () => this.#hanging.delete(response));
    });
  });
  #port = 0;

  static async start(): Promise<MeasuringReceiver> {
    const receiver = new MeasuringReceiver();
    receiver.#port = (await listen(receiver.#server, { host: '127.0.0.1', port: 0 })).port;
    return receiver;
  }

  /** Requests that have no answer. */
  get hanging(): number {
    return this.#hanging.size;
  }

  url(path: string): string {
    return `http://127.0.0.1:${this.#port}${path}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await closeServer(this.#server);
  }
}
