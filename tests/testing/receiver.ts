import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import { closeServer, listen } from '@waybell/runtime/health';
import { until } from '@waybell/runtime/testing/until';

/** A callback request as it arrived. */
export type Received = {
  path: string;
  /** The address that was called, of those that the receiver is at. */
  to: string;
  headers: IncomingHttpHeaders;
  body: string;
  /** `performance.now()` when its head had arrived. */
  at: number;
  /** The status that it was answered with, once that is sent. */
  answered?: number;
};

/** How a path answers: a status, or anything else done by hand. */
export type Behaviour = number | ((response: ServerResponse, received: Received) => void);

type Place = { host: string; port: number; server: Server };

/** Real HTTP servers in the place of integrators'. A path that they gave out answers 200 unless told otherwise, any other 404. */
export class Receiver implements AsyncDisposable {
  readonly received: Received[] = [];
  /** Requests that have no answer yet. */
  unanswered = 0;
  readonly #behaviours = new Map<string, Behaviour>();
  readonly #places: Place[] = [];
  readonly #placeOf = new Map<string, Place>();
  readonly #take = (request: IncomingMessage, response: ServerResponse): void => {
    const at = performance.now();
    const chunks: Buffer[] = [];
    this.unanswered += 1;
    response.on('close', () => (this.unanswered -= 1));
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const path = request.url ?? '';
      const to = request.socket.localAddress?.replace('::ffff:', '') ?? '';
      const received: Received = { path, to, headers: request.headers, body: Buffer.concat(chunks).toString(), at };
      this.received.push(received);
      response.on('finish', () => (received.answered = response.statusCode));
      const behaviour = this.#behaviours.get(path) ?? 404;
      if (typeof behaviour === 'number') response.writeHead(behaviour).end();
      else behaviour(response, received);
    });
  };

  /** At each of these addresses; paths are given out at one after the other. Its ports are free ones unless one is said. */
  static async start(hosts: readonly string[] = ['127.0.0.1'], port = 0): Promise<Receiver> {
    const receiver = new Receiver();
    for (const host of hosts) receiver.#places.push({ host, port, server: createServer(receiver.#take) });
    await receiver.open();
    return receiver;
  }

  /** The address of a path, which is known from now on. */
  url(path: string): string {
    const place = this.#placeOf.get(path) ?? this.#places[this.#placeOf.size % this.#places.length];
    if (place === undefined) throw new Error('it is at no address');
    this.#placeOf.set(path, place);
    if (!this.#behaviours.has(path)) this.answer(path, 200);
    return `http://${place.host}:${place.port}${path}`;
  }

  /** No request gets through any more, until it is opened again. */
  async shut(): Promise<void> {
    const closed = this.#places.map(async ({ server }) => {
      const isClosed = closeServer(server);
      server.closeAllConnections();
      await isClosed;
    });
    await Promise.all(closed);
  }

  /** Listens where it did before. */
  async open(): Promise<void> {
    for (const place of this.#places) place.port = (await listen(place.server, place)).port;
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
    await this.shut();
  }
}
