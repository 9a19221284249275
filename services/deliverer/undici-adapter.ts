import { AxiosHeaders, type AxiosAdapter, type AxiosResponse, type InternalAxiosRequestConfig } from 'axios';
import type { Dispatcher } from 'undici';

/** The receiver, or the way to it, was too slow; `code` says in which part. */
export class TimeLimitPassed extends Error {
  readonly code: 'CONNECT_TIMEOUT' | 'HANDOVER_TIMEOUT' | 'RESPONSE_TIMEOUT';
  constructor(code: TimeLimitPassed['code']) {
    super(code);
    this.name = 'TimeLimitPassed';
    this.code = code;
  }
}

/** Limits of one request, in milliseconds from its start unless said otherwise, and bytes. */
export type RequestLimits = {
  /** Until the request is handed over; undefined where only the response has a limit. */
  handoverMs?: number;
  responseMs: number;
  /** The body is of no consequence: it is read this long after the status and this far, and then let go. */
  bodyMs: number;
  bodyBytes: number;
  /** Of the body, this much is kept. */
  keptBytes: number;
};

/** Sends axios' requests through an undici dispatcher, each within its limits. Nothing is followed or inflated. */
export function undiciAdapter(dispatcher: Dispatcher, limitsOf: (config: object) => RequestLimits): AxiosAdapter {
  return (config) =>
    new Promise<AxiosResponse>((resolve, reject) => {
      const { origin, pathname, search } = new URL(config.url ?? '');
      const exchange = new Exchange(limitsOf(config), (error, response) => {
        if (error !== undefined) reject(error);
        else resolve({ ...response, config, statusText: '' });
      });
      dispatcher.dispatch(
        {
          origin,
          path: pathname + search,
          method: 'POST',
          ...messageOf(config),
        },
        exchange,
      );
    });
}

const TAKEN_AT_ONCE_BYTES = 16 * 1024;

function messageOf(config: InternalAxiosRequestConfig): Pick<Dispatcher.DispatchOptions, 'headers' | 'body'> {
  const headers = AxiosHeaders.from(config.headers).toJSON() as Record<string, string>;
  // Bytes in, bytes out: the caller's transformRequest leaves them alone.
  const body = config.data as Buffer;
  if (body.length <= TAKEN_AT_ONCE_BYTES) return { headers, body };
  // Of a buffer undici says that it is sent when the socket has queued it; of an iterable, when the socket let it go.
  headers['content-length'] = String(body.length);
  // undici takes iterables, which its types do not say of this method.
  return { headers, body: [body] as unknown as Buffer };
}

type Ended = (error: Error | undefined, response: Response) => void;
type Response = { status: number; headers: Record<string, string>; data: string };

/** One request and its response: undici calls it as things happen, a timer when they do not. */
class Exchange implements Dispatcher.DispatchHandler {
  readonly #limits: RequestLimits;
  readonly #ended: Ended;
  #controller: Dispatcher.DispatchController | undefined;
  #timer: NodeJS.Timeout;
  readonly #startedAt = performance.now();
  #isOver = false;
  #isHandedOver = false;
  #status = 0;
  #bytesRead = 0;
  readonly #kept: Buffer[] = [];

  constructor(limits: RequestLimits, ended: Ended) {
    this.#limits = limits;
    this.#ended = ended;
    this.#timer = setTimeout(() => this.#timeIsUp(), limits.handoverMs ?? limits.responseMs);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    // The limit passed while the connection was still being made.
    if (this.#isOver) controller.abort(new TimeLimitPassed('CONNECT_TIMEOUT'));
  }

  onRequestSent(): void {
    this.#isHandedOver = true;
    if (this.#isOver || this.#limits.handoverMs === undefined) return;
    const elapsedMs = performance.now() - this.#startedAt;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#timeIsUp(), this.#limits.responseMs - elapsedMs);
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number): void {
    if (status < 200 || this.#isOver) return;
    this.#status = status;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#letGo(), this.#limits.bodyMs);
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
    this.#end(this.#status === 0 ? error : undefined);
  }

  #letGo(): void {
    this.#end(undefined);
    this.#controller?.abort(new Error('enough of the body was read'));
  }

  #timeIsUp(): void {
    const part = this.#controller === undefined ? 'CONNECT' : this.#isHandedOver ? 'RESPONSE' : 'HANDOVER';
    const error = new TimeLimitPassed(`${part}_TIMEOUT`);
    this.#end(error);
    this.#controller?.abort(error);
  }

  #end(error: Error | undefined): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.#ended(error, { status: this.#status, headers: {}, data: Buffer.concat(this.#kept).toString() });
  }
}
