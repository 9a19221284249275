import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { closeServer, listen } from '@waybell/runtime/health';
import { until } from '@waybell/runtime/testing/until';

/** A callback request as it arrived. */
export type Received = {
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
  /** `performance.now()` when its head had arrived. */
  at: number;
  /** The status that it was answered with, once that is sent. */
  answered?: number;
};

/** How a path answers: a status, or anything else done by hand. */
export type Behaviour = number | ((response: ServerResponse, received: Received) => void);

/** A real HTTP server in the place of an integrator's. A path that it gave out answers 200 unless told otherwise, any other 404. */
export class Receiver implements AsyncDisposable {
  readonly received: Received[] = [];
  /** Requests that have no answer yet. */
  unanswered = 0;
  readonly #behaviours = new Map<string, Behaviour>();
  readonly #server = createServer((request, response) => {
    const at = performance.now();
    const chunks: Buffer[] = [];
    this.unanswered += 1;
    response.on('close', () => (this.unanswered -= 1));
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const path = request.url ?? '';
      const received: Received = { path, headers: request.headers, body: Buffer.concat(chunks).toString(), at };
      this.received.push(received);
      response.on('finish', () => (received.answered = response.statusCode));
      const behaviour = this.#behaviours.get(path) ?? 404;
      if (typeof behaviour === 'number') response.writeHead(behaviour).end();
      else behaviour(response, received);
    });
  });
  #port = 0;

  static async start(): Promise<Receiver> {
    const receiver = new Receiver();
    receiver.#port = (await listen(receiver.#server, { host: '127.0.0.1', port: 0 })).port;
    return receiver;
  }

  /** The address of a path, which is known from now on. */
  url(path: string): string {
    if (!this.#behaviours.has(path)) this.answer(path, 200);
    return `http://127.0.0.1:${this.#port}${path}`;
  }

  answer(path: string, behaviour: Behaviour): void {
    this.#behaviours.set(path, behaviour);
  }

  at(path: string): Received[] {
    return this.received.filter((each) => each.path === path);
  }

  /** Waits until `count` requests have come to `path`. */
  async untilReceived(path: string, count: number): Promise<Received[]> {
    return until(`${count} requests came to ${path}`, () => this.at(path).length >= count && this.at(path));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await closeServer(this.#server);
  }
}
