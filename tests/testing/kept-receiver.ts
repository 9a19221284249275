import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { closeServer, listen } from '@waybell/runtime/health';
import { createReceiver, type Receiver, type ReceiverOptions } from '../../packages/receiver/create-receiver.ts';
import { keeping, type Kept, type KeepSubscribedOptions } from '../../packages/receiver/keep-subscribed.ts';
import type { KeepingChange, KeepingTrouble } from '../../packages/receiver/kept-subscription.ts';
import { memoryStore, type Store } from '../../packages/receiver/store.ts';
import type { Trouble } from '../../packages/receiver/receive.ts';
import type { SwitchingTimes } from '../../packages/receiver/switching-on.ts';

export type KeptReceiverOptions = Pick<KeepSubscribedOptions, 'api' | 'token' | 'actions'> & {
  interfaceName: 'shipper' | 'carrier';
  keeps?: Partial<KeepSubscribedOptions>;
  checks?: Partial<ReceiverOptions<'carrier'>>;
  times?: Partial<SwitchingTimes>;
  store?: Store;
};

/** The times of keepSubscribed. */
const TIMES = { firstPauseMs: 10_000, longestPauseMs: 600_000, replayPauseMs: 65_000 };
/** Looks at its start, and when it has a reason. */
const SELDOM_MS = 86_400_000;

/** A receiver that keeps itself subscribed, in one or several replicas behind one address. What it handled outlives each of them, as a database does. */
export class KeptReceiver implements AsyncDisposable {
  /** `webhook-id`s, in order. */
  readonly handled: string[] = [];
  readonly answers: { attempt: string; isTest: boolean; status: number; body: string }[] = [];
  readonly changes: KeepingChange[] = [];
  readonly troubles: KeepingTrouble[] = [];
  readonly refusals: Trouble[] = [];
  /** Handles a notification, after noting it. */
  handle: (id: string) => unknown = () => undefined;
  onTest: () => unknown = () => undefined;
  readonly kept: Kept[] = [];
  readonly #options: KeptReceiverOptions;
  readonly #store: Store;
  #receivers: Receiver[] = [];
  #server: Server | undefined;
  #port = 0;

  constructor(options: KeptReceiverOptions) {
    this.#options = options;
    this.#store = options.store ?? memoryStore();
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}/kept`;
  }

  /** Listens where it did before, and keeps itself subscribed unless told otherwise. */
  async start({ replicas = 1, isKept = true } = {}): Promise<void> {
    this.#server = createServer((request, response) => void this.#answer(request, response));
    this.#port = (await listen(this.#server, { host: '127.0.0.1', port: this.#port })).port;
    const { api, token, actions, keeps, times } = this.#options;
    for (let number = 0; number < replicas; number += 1) {
      const receiver = this.#receiver();
      this.#receivers.push(receiver);
      if (!isKept) continue;
      const options: KeepSubscribedOptions = {
        api,
        token,
        actions,
        callbackUrl: this.url,
        everyMs: SELDOM_MS,
        onChange: (change) => void this.changes.push(change),
        onTrouble: (trouble) => void this.troubles.push(trouble),
        ...keeps,
      };
      this.kept.push(keeping(receiver, options, { ...TIMES, ...times }));
    }
    await Promise.all(this.kept.map(({ ready }) => ready));
  }

  /** Ends as a process does: nothing is answered any more, not even what it has handled. */
  async stop(): Promise<void> {
    const server = this.#server;
    const kept = this.kept.splice(0);
    if (server === undefined) return;
    this.#server = undefined;
    this.#receivers = [];
    const isClosed = closeServer(server);
    server.closeAllConnections();
    await Promise.all([isClosed, ...kept.map((each) => each.close())]);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  #receiver(): Receiver {
    // The tests give what is right for their interface.
    return createReceiver({
      interface: this.#options.interfaceName,
      store: this.#store,
      handle: async (_notification: unknown, { id }: { id: string }) => {
        await this.handle(id);
        this.handled.push(id);
      },
      onTest: () => this.onTest(),
      onTrouble: (trouble: Trouble) => void this.refusals.push(trouble),
      ...this.#options.checks,
    } as ReceiverOptions<'carrier'>);
  }

  /** Each request comes to the next replica. */
  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const receiver = this.#receivers.shift();
    if (receiver === undefined) return void response.destroy();
    this.#receivers.push(receiver);
    const { method = '', headers } = request;
    const body = await buffer(request).catch(() => '');
    const answered = await receiver.receive({ method, headers, body });
    const isTest = headers['x-webhook-test'] === 'true';
    this.answers.push({ attempt: String(headers['x-webhook-attempt']), isTest, ...answered });
    response.writeHead(answered.status, answered.headers).end(answered.body);
  }
}
