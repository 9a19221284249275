import type { ServerResponse } from 'node:http';

export type EventStreamOptions = {
  response: ServerResponse;
  /** A reader with more unread bytes than this is ended. */
  bufferBytes: number;
  /** The place from which a reader that comes back goes on, if that is read. */
  id?: () => string;
};

const HEARTBEAT_MS = 15_000;
const RETRY_MS = 2_000;

/** Server-sent events to one reader, until its connection is closed. */
export class EventStream {
  readonly #options: EventStreamOptions;

  constructor(options: EventStreamOptions) {
    this.#options = options;
    const { response } = options;
    response.statusCode = 200;
    response.setHeader('content-type', 'text/event-stream');
    // Some proxies would otherwise wait for more.
    response.setHeader('x-accel-buffering', 'no');
    this.write(`retry: ${RETRY_MS}\n${this.#id()}\n`);
    const heartbeat = setInterval(() => this.say('alive'), HEARTBEAT_MS);
    response.once('close', () => clearInterval(heartbeat));
  }

  /** A comment, which clients pass over, and the id to go on from: also a reader that was told nothing for long goes on near now. */
  say(comment: string): void {
    this.write(`: ${comment}\n${this.#id()}\n`);
  }

  /** An event as its text: `data` is one line. */
  event(name: string, data: string): string {
    return `event: ${name}\n${this.#id()}data: ${data}\n\n`;
  }

  write(text: string): void {
    const { response, bufferBytes } = this.#options;
    if (response.writableEnded || response.destroyed) return;
    if (response.writableLength > bufferBytes) response.destroy();
    else response.write(text);
  }

  end(): void {
    this.#options.response.end();
  }

  #id(): string {
    const { id } = this.#options;
    return id === undefined ? '' : `id: ${id()}\n`;
  }
}
