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
  /** How long a broker has to answer a goodbye. */
  closeLimitMs?: number;
  /** Sets up what goes by the connection. `control` carries no messages, so that it answers while the broker reads at all. */
  onOpen: (connection: ChannelModel, control: Channel) => Promise<void>;
};

/** Without a word from the broker. */
const CONNECT_TIMEOUT_MS = 10_000;
/** From the first packet until everything is set up, over the slowest way there is. */
const SET_UP_LIMIT_MS = 45_000;
export const CLOSE_LIMIT_MS = 2_000;

/**
 * One connection, from its first packet to its last. What is known of it is kept in it and ends with it, so that nothing
 * of one connection is ever believed of the next; and whatever is asked of it has an end, even if the broker never answers.
 */
export class BrokerConnection {
  /** The broker has an alarm on memory or disk, and takes nothing from it. */
  isBlocked = false;
  readonly #options: BrokerConnectionOptions;
  readonly #model: ChannelModel;
  readonly #cut: AbortController;
  #end: (why: string) => void = () => undefined;
  /** Resolves, with the reason, when it has gone or was given up. */
  readonly ended = new Promise<string>((resolve) => (this.#end = resolve));
  #isOver = false;

  /** Rejects where it cannot be made or set up, and when the signal is given; nothing of it is left open then. */
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

  /** The node that it leads to, for messages. */
  get server(): string | undefined {
    return placeOf(this.#options.url);
  }

  /** More was written than the way takes. */
  get isCongested(): boolean {
    return socketOf(this.#model)?.writableNeedDrain === true;
  }

  giveUp(why: string): void {
    this.#end(why);
  }

  /** A broker with an alarm reads nothing from a publisher, not even that it leaves: its answer could take hours. */
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
    // Without it, writes are dearer and nothing else.
    const socket = socketOf(model);
    if (socket !== undefined) corkWrites(socket);
    // Fails where it closed before anything listened.
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
