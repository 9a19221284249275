import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { readSpans, type SentSpan } from './read-spans.ts';

/** A collector that keeps spans sent by OTLP over HTTP. */
export class SpanCollector implements AsyncDisposable {
  readonly spans: SentSpan[] = [];
  readonly headers: IncomingHttpHeaders[] = [];
  /** The request bodies so far, unparsed. */
  readonly bodies: Buffer[] = [];
  /** The status that it answers with. */
  status = 200;
  readonly #server = createServer((request, response) => {
    void buffer(request).then((body) => {
      this.headers.push(request.headers);
      if (this.status === 200 && request.url === '/v1/traces') {
        this.bodies.push(body);
        this.spans.push(...readSpans(body));
      }
      response.writeHead(this.status).end();
    });
  });

  static async start(): Promise<SpanCollector> {
    const collector = new SpanCollector();
    await once(collector.#server.listen(0, '127.0.0.1'), 'listening');
    return collector;
  }

  get url(): string {
    // A server that listens on a port has an AddressInfo.
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Returns the spans of a trace, in order of their beginning. */
  of(traceId: string): SentSpan[] {
    return this.spans.filter((span) => span.traceId === traceId).toSorted((one, other) => one.startMs - other.startMs);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}
