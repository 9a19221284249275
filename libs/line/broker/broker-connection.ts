import { connect, type Channel, type ChannelModel } from 'amqplib';
import { systemClock, type Clock } from '@waybell/runtime/clock';
import type { ServerAddress } from '@waybell/runtime/server-address';
import { placeOf } from '@waybell/runtime/place-of';
import { withTimeout } from '@waybell/runtime/with-timeout';
import type { BrokerLog } from './broker-log.ts';
import { close } from './channels.ts';
import { corkWrites, socketOf } from './cork-writes.ts';

export type BrokerConnectionOptions = ServerAddress & {
  name: string;
  heartbeatSeconds: number;
  log: BrokerLog;
  clock: Clock;
  /** Limit for the close handshake. */
  closeLimitMs?: number;
  /** Sets up channels after each connect. `control` carries no messages, so it is answered whenever the broker reads at all. */
  onOpen: (connection: ChannelModel, control: Channel) => Promise<void>;
};

/** Limit of silence while connecting. */
const CONNECT_TIMEOUT_MS = 10_000;
/** Limit from the first packet to the end of `onOpen`; allows for a very slow network. */
const SET_UP_LIMIT_MS = 45_000;
export const CLOSE_LIMIT_MS = 2_000;

/**
 * One connection, from its first packet to its last. Holds all of its state, so that nothing is carried over to the next. Every wait
 * is limited, even if the broker never answers.
 */
export class BrokerConnection {
  /** Whether the broker blocks publishers because of an alarm on memory or disk. */
  isBlocked = false;
  readonly #options: BrokerConnectionOptions;
  readonly #model: ChannelModel;
  readonly #cut: AbortController;
  #end: (why: string) => void = () => undefined;
  /** Resolves with the reason when the connection is lost or given up. */
  readonly ended = new Promise<string>((resolve) => (this.#end = resolve));
  #isOver = false;

  /** Rejects if connecting or `onOpen` fails, or the signal aborts; nothing stays open then. */
  static async open(
    options: BrokerConnectionOptions & { onBlocking: () => void },
    signal: AbortSignal,
  ): Promise<BrokerConnection> {
    const cut = new AbortController();
    const stop = () => cut.abort();
    signal.addEventListener('abort', stop);
    let isOverdue = false;
    const overdue = options.clock.after(SET_UP_LIMIT_MS, () => {
      isOverdue = true;
      stop();
    });
    try {
      const connection = new BrokerConnection(await connected(options, cut.signal), options, cut);
      await connection.#setUp(options.onBlocking);
      return connection;
    } catch (error) {
      stop();
      throw isOverdue ? new Error(`it was not set up within ${SET_UP_LIMIT_MS} ms`) : error;
    } finally {
      overdue[Symbol.dispose]();
      signal.removeEventListener('abort', stop);
    }
  }

  private constructor(model: ChannelModel, options: BrokerConnectionOptions, cut: AbortController) {
    this.#model = model;
    this.#options = options;
    this.#cut = cut;
  }

  /** Host and port of the node, for log messages. */
  get server(): string | undefined {
    return placeOf(this.#options.url);
  }

  /** Whether the socket's buffer is full. */
  get isCongested(): boolean {
    return socketOf(this.#model)?.writableNeedDrain === true;
  }

  giveUp(why: string): void {
    this.#end(why);
  }

  /** Closes within the limit: a broker with an alarm does not read the close of a publisher, and could take hours to answer. */
  async close(): Promise<void> {
    const { closeLimitMs = CLOSE_LIMIT_MS } = this.#options;
    await withTimeout({ clock: systemClock, limitMs: closeLimitMs }, close(this.#model));
    this.#cut.abort();
  }

  async #setUp(onBlocking: () => void): Promise<void> {
    const { name, log, onOpen } = this.#options;
    const model = this.#model;
    model.on('error', ({ message }: Error) => {
      log.warn({ connection: name, server: this.server, reason: message }, 'broker.connection-failed');
    });
    model.on('close', (error?: Error) => {
      this.#isOver = true;
      this.giveUp(error?.message ?? 'it was closed');
    });
    model.on('blocked', (reason: string) => {
      this.isBlocked = true;
      log.warn({ connection: name, reason }, 'broker.blocked');
      onBlocking();
    });
    model.on('unblocked', () => {
      this.isBlocked = false;
      log.info({ connection: name }, 'broker.unblocked');
      onBlocking();
    });
    // Without access to the socket, writes only cost more.
    const socket = socketOf(model);
    if (socket !== undefined) corkWrites(socket);
    // Fails if the connection closed before the listeners were added.
    const control = await model.createChannel();
    control.on('error', () => undefined);
    await onOpen(model, control);
    if (this.#isOver) throw new Error('the connection closed while it was set up');
  }
}

function connected(
  { url, tls, name, heartbeatSeconds }: BrokerConnectionOptions,
  signal: AbortSignal,
): Promise<ChannelModel> {
  const address = new URL(url);
  address.searchParams.set('heartbeat', String(heartbeatSeconds));
  const socket = { ...tls, timeout: CONNECT_TIMEOUT_MS, noDelay: true, signal };
  return connect(address.href, { ...socket, clientProperties: { connection_name: name } });
}
