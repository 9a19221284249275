/**
 * One request and its response, over undici; and what guards this process and undici from receivers that send no plain response: heads
 * that break rules are rewritten or refused, a connection that sends without an end is closed.
 */
import { type AxiosAdapter, AxiosHeaders, type AxiosResponse, type InternalAxiosRequestConfig } from 'axios';
import dispatchRequest from 'axios/unsafe/core/dispatchRequest.js';
import type { Dispatcher } from 'undici';
import type { Clock, Timer } from '@waybell/runtime/clock';
import { withoutRootDot } from '@waybell/runtime/names/resolve-host';
import { type ClientCertificate, beginRequest, type Connection, type Connector, bytesSince } from './connection.ts';
import { beginsPage, excerpt, restHeaders, type Trace } from './trace.ts';
import { reasonOfError } from './failure-reason.ts';
import type { ConnectionObserver, RequestDispatcher } from './origin-pools.ts';
import type { Socket } from 'node:net';
import { HeadReader } from './head-reader.ts';

/** Limits of one request, in milliseconds from its start unless said otherwise, and bytes. */
export type RequestLimits = {
  /** Until the request is handed over; undefined if only the response has a limit. */
  handoverMs?: number;
  responseMs: number;
  /** The body changes nothing: it is read for this long after the status and up to this size. */
  bodyMs: number;
  bodyBytes: number;
  /** Bytes of the body kept for people to read. */
  keptBytes: number;
};

/** URL, headers and limits of a request, and the trace in which it notes how it goes. */
export type RequestTerms = {
  /** Null if the callback URL is not valid. */
  url: URL | null;
  /** All headers but the length. Not passed through axios, which would check and copy each; undici checks them too. */
  headers: Record<string, string>;
  body: Buffer;
  limits: RequestLimits;
  trace: Trace;
  clock: Clock;
  /** The certificate that its connection authenticates with; absent for most. */
  certificate?: ClientCertificate | undefined;
};

/**
 * Makes a request by axios, as from the end of its `request()`: merging the configuration with defaults and running
 * interceptors, which are none here, would allocate twice as much as all the rest. The adapter has the body, which nothing
 * transforms.
 */
export function dispatchByAxios(adapter: AxiosAdapter): Promise<AxiosResponse<string>> {
  const config: InternalAxiosRequestConfig = { headers: NO_HEADERS, adapter };
  // axios uses a configuration without a prototype unchanged after reading each member, and copies any other. One made without a
  // prototype would be a hash table.
  return dispatchRequest(Object.setPrototypeOf(config, null));
}

/**
 * An axios adapter over an undici dispatcher. Follows no redirect and inflates nothing. A request that failed over a
 * connection kept from an earlier request is sent again at once, over a new one: a receiver that closes an idle connection
 * cannot know that a request is on its way (RFC 9112, 9.3.1). The result of the second request counts.
 */
export function throughUndici(requests: RequestDispatcher, terms: RequestTerms): AxiosAdapter {
  return (config) =>
    new Promise((resolve, reject) => {
      if (terms.url === null) return reject(new TypeError('Invalid URL'));
      const request = requestTo(terms.url, terms);
      const ended: OnExchanged = (error, status, data) => {
        if (error !== undefined) reject(error);
        else resolve({ status, statusText: '', headers: NO_HEADERS, data, config });
      };
      new HttpExchange(terms, { requests, request, ended }).send();
    });
}

const TAKEN_AT_ONCE_BYTES = 16 * 1024;

function requestTo(url: URL, { headers, body }: RequestTerms): Dispatcher.DispatchOptions {
  const { origin, pathname, search, hostname, port } = url;
  const request = { origin, path: pathname + search, method: 'POST' as const, headers, body };
  if (hostname.endsWith('.')) request.headers = { ...headers, host: withoutRootDot(hostname) + (port && `:${port}`) };
  if (body.length > TAKEN_AT_ONCE_BYTES) {
    request.headers = { ...request.headers, 'content-length': String(body.length) };
    // undici calls a buffer sent when the socket has queued it, an iterable when the socket has written it.
    // It takes iterables, though its types do not say so of this method.
    request.body = [body] as unknown as Buffer;
  }
  return request;
}

/** `data`: the beginning of the body. */
type OnExchanged = (error: Error | undefined, status: number, data: string) => void;
type RequestSending = { requests: RequestDispatcher; request: Dispatcher.DispatchOptions; ended: OnExchanged };

const NO_CONNECTION = (): undefined => undefined;

/** Some servers send this over an idle connection before they close it (RFC 9110, 15.5.9). */
const REQUEST_TIMEOUT = 408;

/** As Apache and Tomcat answer where they want a certificate, and could not ask for it. */
const REFUSALS = new Set([401, 403]);

/** A page is read further than is kept, to get behind its style sheets. */
const PAGE_BYTES = 16 * 1024;

const limitBody = (exchange: HttpExchange): void => exchange.limitBody();

/** One request and its response. undici calls it for events, a timer for their absence. */
class HttpExchange implements ConnectionObserver {
  readonly certificate: ClientCertificate | undefined;
  readonly #limits: RequestLimits;
  readonly #sending: RequestSending;
  readonly #trace: Trace;
  readonly #clock: Clock;
  #connection: () => Connection | undefined = NO_CONNECTION;
  #begunOver: Connection | undefined;
  #controller: Dispatcher.DispatchController | undefined;
  #timer: Timer;
  #isOver = false;
  #isHandedOver = false;
  #status = 0;
  #bytesRead = 0;
  #keptBytes: number;
  #kept: Buffer[] = [];
  /** How the request ended by TLS 1.3, after which it was sent again by TLS 1.2; and its controller, for which undici may still call. */
  #refusal: { error: Error | undefined; status: number; data: string } | undefined;
  #left: Dispatcher.DispatchController | undefined;

  constructor({ limits, trace, clock, certificate }: RequestTerms, sending: RequestSending) {
    this.#limits = limits;
    this.#keptBytes = limits.keptBytes;
    this.#trace = trace;
    this.#clock = clock;
    this.certificate = certificate;
    this.#sending = sending;
    this.#timer = this.#untilHandedOver();
  }

  send(): void {
    const { requests, request } = this.#sending;
    try {
      requests.dispatch(request, this);
    } catch (error) {
      // The scheme is not one of HTTP, or the certificate cannot be used.
      this.#end(error instanceof Error ? error : new Error(String(error)));
    }
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
    // undici reports this late for the connection that ended: a request to be sent again is not sent yet.
    if (this.#controller !== undefined) this.#isHandedOver = true;
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number, headers: Record<string, unknown>): void {
    if (status < 200 || this.#isOver) return;
    if (status === REQUEST_TIMEOUT && this.#isOverKept()) return controller.abort(new ConnectionWasIdle());
    // A resumed session keeps what the receiver found of the certificate when it was begun.
    if (this.certificate !== undefined && status >= 400) this.#connection()?.forgetSession?.();
    this.#status = status;
    this.#trace.restHeaders = restHeaders(status, headers);
    const { location } = headers;
    this.#trace.location = typeof location === 'string' ? location : undefined;
    this.#trace.firstByteAt = this.#clock.now();
    // Most bodies have come with the status.
    process.nextTick(limitBody, this);
  }

  limitBody(): void {
    if (this.#isOver) return;
    this.#timer[Symbol.dispose]();
    this.#timer = this.#clock.after(this.#limits.bodyMs, () => this.#letGo());
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (controller === this.#left) return;
    if (this.#bytesRead === 0 && beginsPage(chunk)) this.#keptBytes = Math.max(this.#keptBytes, PAGE_BYTES);
    const missing = this.#keptBytes - this.#bytesRead;
    if (missing > 0) this.#kept.push(chunk.length > missing ? chunk.subarray(0, missing) : chunk);
    this.#bytesRead += chunk.length;
    if (this.#bytesRead > this.#limits.bodyBytes) this.#letGo();
  }

  onResponseEnd(): void {
    this.#end(undefined);
  }

  onResponseError(controller: Dispatcher.DispatchController, error: Error): void {
    if (controller !== undefined && controller === this.#left) return;
    // Once there is a status, nothing that happens to the body changes it.
    if (this.#isOver || this.#status !== 0) return this.#end(undefined);
    if (this.#isOverKept() && (error instanceof ConnectionWasIdle || !this.#hasResponseBegun())) this.#sendAgain(error);
    else this.#end(error);
  }

  /** Whether it went, or was to go, over a connection that had an earlier request. A request sent again never does. */
  #isOverKept(): boolean {
    const connection = this.#connection();
    if (connection === undefined) return false;
    return (connection.requests ?? 0) > (this.#begunOver === connection ? 1 : 0);
  }

  #hasResponseBegun(): boolean {
    const connection = this.#connection();
    return this.#begunOver === connection && connection?.head?.hasBegun !== false;
  }

  #sendAgain(error: Error, over: 'a new connection' | 'TLS 1.2' = 'a new connection'): void {
    this.#controller = undefined;
    this.#isHandedOver = false;
    this.#trace.isUnderWay = false;
    // Restarts the limit of the handover, not that of the response.
    this.#timer[Symbol.dispose]();
    this.#timer = this.#untilHandedOver();
    const { requests, request } = this.#sending;
    try {
      requests.dispatch(request, this, over);
    } catch {
      // Requests have been cut.
      this.#end(error);
    }
  }

  #letGo(): void {
    const controller = this.#controller;
    this.#end(undefined);
    controller?.abort(new Error('enough of the body was read'));
  }

  /**
   * Whether the receiver may have wanted the certificate after the handshake, which Node.js cannot show then: it answers 401 or 403, or
   * resets the connection. By TLS 1.2 it can be asked for.
   */
  #mayBeAskedBefore(error: Error | undefined): boolean {
    if (this.#refusal !== undefined || this.#connection()?.mayAskLater !== true) return false;
    return error === undefined ? REFUSALS.has(this.#status) : reasonOfError(error) === 'reset';
  }

  #sendByOlderTls(error: Error | undefined): void {
    this.#refusal = { error, status: this.#status, data: excerpt(this.#kept) };
    this.#left = this.#controller;
    this.#status = 0;
    this.#bytesRead = 0;
    this.#kept = [];
    this.#sendAgain(error ?? new Error('it cannot be sent again'), 'TLS 1.2');
  }

  #timeIsUp(): void {
    // The handover's timer is not stopped at the handover: most responses come before it fires.
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
    if (this.#mayBeAskedBefore(error)) return this.#sendByOlderTls(error);
    this.#isOver = true;
    this.#timer[Symbol.dispose]();
    const connection = this.#connection();
    if (connection !== undefined) this.#trace.connection = connection;
    if (error !== undefined && this.#begunOver !== undefined && this.#begunOver === connection) {
      const { received } = connection.head ?? {};
      if (received !== undefined) this.#trace.received = excerpt([received.subarray(0, this.#limits.keptBytes)]);
    }
    const { ended } = this.#sending;
    if (error !== undefined && this.#refusal !== undefined)
      ended(this.#refusal.error, this.#refusal.status, this.#refusal.data);
    else ended(error, this.#status, excerpt(this.#kept));
  }
}

/** The receiver, or the network, was too slow; `code` names the phase. */
class TimeLimitPassed extends Error {
  readonly code: 'CONNECT_TIMEOUT' | 'HANDOVER_TIMEOUT' | 'RESPONSE_TIMEOUT';
  constructor(code: TimeLimitPassed['code']) {
    super(code);
    this.name = 'TimeLimitPassed';
    this.code = code;
  }
}

/** A receiver closed the connection as idle, with a 408, while a request was on its way. */
class ConnectionWasIdle extends Error {}

/** Copying and checking no headers would take an eighth of what axios allocates. */
class NoHeaders extends AxiosHeaders {
  override normalize(): this {
    return this;
  }
}

/** The headers of all requests and responses as far as axios knows: the adapter has some, and notes some in the trace. */
const NO_HEADERS = new NoHeaders();

type KeptLimits = { keptS: number; longestMs: number };

/**
 * Rewrites the heads of responses before undici reads them: its parser refuses all that breaks a rule, has no setting for
 * that, and closes the connection for a 100 (Continue). Leaves out interim responses, which a client must skip (RFC 9110,
 * 15.2), and headers that are not read here. Passes bodies on as they come: an invalid body does not change its status.
 * Passes on bytes that come while no response is awaited, too, for which undici closes the connection. `keptS`: as of `HeadReader`.
 * A connection that was begun longer than `longestMs` ago ends with the next response, however busy it is: only a new one finds a
 * receiver that has moved, and is checked again.
 */
export function rewritingHeads(connect: Connector, { keptS, longestMs }: KeptLimits): Connector {
  return (target, done) =>
    connect(target, (...connected) => {
      const [error, socket] = connected;
      const { clock, begunAt } = target.connection;
      // Connections that were begun together do not all end together.
      const until = begunAt + longestMs * (1 - Math.random() / 4);
      const isOld = () => clock.now() > until;
      if (error === null) rewriteHeads(socket, target.connection, new HeadReader(keptS, isOld));
      done(...connected);
    });
}

function rewriteHeads(socket: Socket, connection: Connection, head: HeadReader): void {
  const read = socket.read.bind(socket);
  connection.head = head;
  socket.read = (size) => {
    for (;;) {
      const chunk: unknown = read(size);
      if (!Buffer.isBuffer(chunk)) return chunk;
      const passed = head.read(chunk);
      if (passed === undefined) continue;
      if (Buffer.isBuffer(passed)) return passed;
      socket.destroy(new InvalidResponse(passed.brokenRule));
      return null;
    }
  };
}

const CHECK_MS = 100;

/**
 * Ends a connection on which more than about `limitBytes` come for one request, or after it. The head reader counts headers
 * and the exchange the body; nothing else counts interim responses, blanks, chunk extensions and TLS messages after the
 * handshake: a receiver that sends these as fast as they are read would keep this process busy until the time limit. Counts
 * bytes beneath TLS, ten times a second.
 */
export function boundingReading(connect: Connector, limitBytes: number): Connector {
  const open = new Map<Socket, Connection>();
  const tooLong = `more than ${limitBytes} bytes came, and the end of its headers was not among them`;
  let checking: NodeJS.Timeout | undefined;

  function check(): void {
    // A `for` loop would make an array for each.
    open.forEach((connection, socket) => {
      if (bytesSince(connection) > limitBytes) socket.destroy(new InvalidResponse(tooLong));
    });
  }

  return (target, done) =>
    connect(target, (...connected) => {
      const [error, socket] = connected;
      if (error === null) {
        open.set(socket, target.connection);
        // The system's timer, not a given clock: it protects this process.
        checking ??= setInterval(check, CHECK_MS).unref();
        socket.once('close', () => {
          open.delete(socket);
          if (open.size > 0) return;
          clearInterval(checking);
          checking = undefined;
        });
      }
      done(...connected);
    });
}

/** The receiver's bytes are no HTTP response; `brokenRule` says why, for people. */
export class InvalidResponse extends Error {
  readonly code = 'INVALID_RESPONSE';
  readonly brokenRule: string;
  constructor(brokenRule: string) {
    super(`no response of HTTP: ${brokenRule}`);
    this.name = 'InvalidResponse';
    this.brokenRule = brokenRule;
  }
}
