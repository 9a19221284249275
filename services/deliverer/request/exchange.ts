import type { AxiosAdapter, AxiosResponse } from 'axios';
import type { Dispatcher } from 'undici';
import type { Clock, Timer } from '@waybell/runtime/clock';
import { withoutRootDot } from '@waybell/runtime/names/host-name';
import { beginRequest, type Connection } from './connection.ts';
import { excerpt } from './excerpt.ts';
import type { ConnectionObserver, RequestDispatcher } from './origin-pools.ts';
import { restHeaders } from './too-much.ts';
import type { Trace } from './trace.ts';

/** The receiver, or the way to it, was too slow; `code` says in which part. */
export class TimeLimitPassed extends Error {
  readonly code: 'CONNECT_TIMEOUT' | 'HANDOVER_TIMEOUT' | 'RESPONSE_TIMEOUT';
  constructor(code: TimeLimitPassed['code']) {
    super(code);
    this.name = 'TimeLimitPassed';
    this.code = code;
  }
}

/** A receiver closed the connection as idle, and said so to a request that was on its way. */
class ConnectionWasIdle extends Error {}

/** Limits of one request, in milliseconds from its start unless said otherwise, and bytes. */
export type RequestLimits = {
  /** Until the request is handed over; undefined where only the response has a limit. */
  handoverMs?: number;
  responseMs: number;
  /** The body is of no consequence: it is read this long after the status and this far, and then let go. */
  bodyMs: number;
  bodyBytes: number;
  /** This much of the body is kept, for people to read. */
  keptBytes: number;
};

/** What a request has to keep to, and where it notes how it goes. */
export type RequestTerms = {
  /** Read once for all uses; null where it is none. */
  url: URL | null;
  /** All that are sent, but for the length: those of axios would be checked and copied one by one, and undici checks them too. */
  headers: Record<string, string>;
  limits: RequestLimits;
  trace: Trace;
  clock: Clock;
};

/**
 * Sends one request of axios' through an undici dispatcher, on its terms. Nothing is followed or inflated. One that came to nothing
 * over a connection which was kept from an earlier request is sent again at once, over a new one: whoever closes an idle connection cannot know
 * that a request is on its way (RFC 9112, 9.3.1). What that comes to is the outcome.
 */
export function throughUndici(requests: RequestDispatcher, terms: RequestTerms): AxiosAdapter {
  return (config) =>
    new Promise<AxiosResponse>((resolve, reject) => {
      if (terms.url === null) return reject(new TypeError('Invalid URL'));
      const { origin, pathname, search, hostname, port } = terms.url;
      const headers = hostname.endsWith('.')
        ? { ...terms.headers, host: withoutRootDot(hostname) + (port && `:${port}`) }
        : terms.headers;
      const message = messageOf(config.data as Buffer, headers);
      const request = { origin, path: pathname + search, method: 'POST' as const, ...message };
      const exchange = new HttpExchange(terms, {
        ended: (error, response) => {
          if (error !== undefined) reject(error);
          else resolve({ ...response, config, statusText: '' });
        },
        sendAnew: () => requests.dispatch(request, exchange, 'a new connection'),
      });
      try {
        requests.dispatch(request, exchange);
      } catch (error) {
        // A scheme that is not HTTP's: nothing was begun that could end.
        exchange.refused(error);
      }
    });
}

const TAKEN_AT_ONCE_BYTES = 16 * 1024;

// Bytes in, bytes out: no transformRequest of axios' defaults has touched them.
function messageOf(
  body: Buffer,
  headers: Record<string, string>,
): Pick<Dispatcher.DispatchOptions, 'headers' | 'body'> {
  if (body.length <= TAKEN_AT_ONCE_BYTES) return { headers, body };
  // undici calls a buffer sent when the socket has queued it; an iterable, when the socket let it go.
  // undici takes iterables, which its types do not say of this method.
  return { headers: { ...headers, 'content-length': String(body.length) }, body: [body] as unknown as Buffer };
}

type Response = { status: number; headers: Record<string, string>; data: string };
type ExchangeCallbacks = {
  ended: (error: Error | undefined, response: Response) => void;
  /** Sends the request over a new connection. Throws where requests have been cut. */
  sendAnew: () => void;
};

/** What some servers say to an idle connection before they close it (RFC 9110, 15.5.9). */
const REQUEST_TIMEOUT = 408;

/** One request and its response: undici calls it as things happen, a timer when they do not. */
class HttpExchange implements ConnectionObserver {
  readonly #limits: RequestLimits;
  readonly #callbacks: ExchangeCallbacks;
  readonly #trace: Trace;
  readonly #clock: Clock;
  #connection: () => Connection | undefined = () => undefined;
  #begunOver: Connection | undefined;
  #controller: Dispatcher.DispatchController | undefined;
  #timer: Timer;
  #isOver = false;
  #isHandedOver = false;
  #status = 0;
  #bytesRead = 0;
  readonly #kept: Buffer[] = [];

  constructor({ limits, trace, clock }: RequestTerms, callbacks: ExchangeCallbacks) {
    this.#limits = limits;
    this.#trace = trace;
    this.#clock = clock;
    this.#callbacks = callbacks;
    this.#timer = this.#untilHandedOver();
  }

  #untilHandedOver(): Timer {
    const { handoverMs = Infinity } = this.#limits;
    return this.#clock.after(Math.max(0, Math.min(handoverMs, this.#leftMs())), () => this.#timeIsUp());
  }

  #leftMs(): number {
    return this.#limits.responseMs - (this.#clock.now() - this.#trace.startedAt);
  }

  onConnection(connection: () => Connection | undefined): void {
    this.#connection = connection;
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    this.#trace.isUnderWay = true;
    const connection = this.#connection();
    if (connection !== undefined) beginRequest(connection);
    this.#begunOver = connection;
    // The limit passed while the connection was still being made.
    if (this.#isOver) controller.abort(new TimeLimitPassed('CONNECT_TIMEOUT'));
  }

  onRequestSent(): void {
    // What is to be sent anew is not sent, though undici says so, late, of the connection that ended.
    if (this.#controller !== undefined) this.#isHandedOver = true;
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number, headers: Record<string, unknown>): void {
    if (status < 200 || this.#isOver) return;
    if (status === REQUEST_TIMEOUT && this.#isOverKept()) return controller.abort(new ConnectionWasIdle());
    this.#status = status;
    this.#trace.restHeaders = restHeaders(status, headers);
    this.#trace.firstByteAt = this.#clock.now();
    this.#timer[Symbol.dispose]();
    this.#timer = this.#clock.after(this.#limits.bodyMs, () => this.#letGo());
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    const missing = this.#limits.keptBytes - this.#bytesRead;
    if (missing > 0) this.#kept.push(chunk.subarray(0, missing));
    this.#bytesRead += chunk.length;
    if (this.#bytesRead > this.#limits.bodyBytes) this.#letGo();
  }

  onResponseEnd(): void {
    this.#end(undefined);
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    // Once there is a status, nothing that happens to the body changes it.
    if (this.#isOver || this.#status !== 0) return this.#end(undefined);
    if (this.#isOverKept() && (error instanceof ConnectionWasIdle || !this.#hasResponseBegun())) this.#sendAnew(error);
    else this.#end(error);
  }

  /** Whether it went, or was to go, over a connection that had an earlier request; what is sent anew never does. */
  #isOverKept(): boolean {
    const connection = this.#connection();
    if (connection === undefined) return false;
    return (connection.requests ?? 0) > (this.#begunOver === connection ? 1 : 0);
  }

  #hasResponseBegun(): boolean {
    const connection = this.#connection();
    return this.#begunOver === connection && connection?.head?.hasBegun !== false;
  }

  #sendAnew(error: Error): void {
    this.#controller = undefined;
    this.#isHandedOver = false;
    this.#trace.isUnderWay = false;
    // The limit of the handover begins anew, that of the response does not.
    this.#timer[Symbol.dispose]();
    this.#timer = this.#untilHandedOver();
    try {
      this.#callbacks.sendAnew();
    } catch {
      this.#end(error);
    }
  }

  refused(error: unknown): void {
    this.#end(error instanceof Error ? error : new Error(String(error)));
  }

  #letGo(): void {
    this.#end(undefined);
    this.#controller?.abort(new Error('enough of the body was read'));
  }

  #timeIsUp(): void {
    // The timer of the handover is left to run out: most responses come before it does.
    const leftMs = this.#isHandedOver ? this.#leftMs() : 0;
    if (leftMs >= 1) {
      this.#timer = this.#clock.after(leftMs, () => this.#timeIsUp());
      return;
    }
    const part = this.#controller === undefined ? 'CONNECT' : this.#isHandedOver ? 'RESPONSE' : 'HANDOVER';
    const error = new TimeLimitPassed(`${part}_TIMEOUT`);
    this.#end(error);
    this.#controller?.abort(error);
  }

  #end(error: Error | undefined): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#timer[Symbol.dispose]();
    const connection = this.#connection();
    if (connection !== undefined) this.#trace.connection = connection;
    if (error !== undefined && this.#begunOver !== undefined && this.#begunOver === connection) {
      const { held } = connection.head ?? {};
      if (held !== undefined) this.#trace.held = excerpt([held.subarray(0, this.#limits.keptBytes)]);
    }
    this.#callbacks.ended(error, { status: this.#status, headers: {}, data: excerpt(this.#kept) });
  }
}
