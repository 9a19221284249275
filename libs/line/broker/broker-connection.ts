/**
 * Connections to RabbitMQ that are made again whenever they are lost: `keepConnected` decides when, a `BrokerConnection` is one of
 * them, from its first packet to its last. Below are the channels on it.
 */
import { Duplex, type Writable } from 'node:stream';
import { type Channel, type ChannelModel, connect } from 'amqplib';
import { addressesIn, placeOf } from '@waybell/runtime/addresses';
import { jitteredBackoffMs } from '@waybell/runtime/backoff';
import { type Clock, systemClock, withTimeout } from '@waybell/runtime/clock';
import { Login } from '@waybell/runtime/login';
import type { ServerAddress } from '@waybell/runtime/server-address';
import { messageOf } from '@waybell/runtime/server-trouble';
import type { BrokerState, Depth } from '../broker.ts';

/** The part of `Log` that connections write to. */
export type BrokerLog = {
  info: (facts: object, message: string) => void;
  warn: (facts: object, message: string) => void;
};

type BrokerConnectionOptions = ServerAddress & {
  name: string;
  heartbeatSeconds: number;
  log: BrokerLog;
  clock: Clock;
  /** Limit for the close handshake. */
  closeLimitMs?: number;
  /** Sets up channels after each connect. `control` carries no messages, so it is answered whenever the broker reads at all. */
  onOpen: (connection: ChannelModel, control: Channel) => Promise<void>;
};

export type ReconnectOptions = BrokerConnectionOptions & {
  /** Shared by all connections of the process. */
  login?: Login;
  /** Runs when a connection is lost or could not be set up. */
  onDown: () => void;
  onState?: (state: BrokerState) => void;
};

/** A connection that is made again whenever it is lost. */
export type ReconnectingConnection = AsyncDisposable & {
  state(): BrokerState;
  /** Whether the socket's buffer is full. */
  isCongested(): boolean;
  /** Gives up the current connection; a new one is made. */
  drop(why: string): void;
};

// Reconnecting and closing use the system clock, not `clock`: they wait for something outside of this process.
const BACKOFF = { firstMs: 100, longestMs: 2_000 };
const STOP_LIMIT_MS = 1_000;

/** How often a file is read again while a refused login is not repeated. */
const READ_AGAIN_MS = 1_000;

/**
 * Connects in the background and reconnects until disposed. `onOpen` runs after each connect. With several nodes, each attempt goes to
 * the next one, in a random order. Addresses and credentials are read again after a failure.
 */
export function keepConnected(options: ReconnectOptions): ReconnectingConnection {
  const { name, log, onDown, onState } = options;
  const login = options.login ?? new Login('RabbitMQ', options);
  let tried = login.address();
  let nodes = nodesOf(tried.url);
  const halt = new AbortController();
  let current: BrokerConnection | undefined;
  let known: BrokerState = 'away';
  const state = () => (current === undefined ? 'away' : current.isBlocked ? 'blocked' : 'writable');
  const changed = () => {
    if (state() === known) return;
    known = state();
    onState?.(known);
  };
  const lose = (connection: BrokerConnection, reason: string) => {
    if (connection !== current) return;
    current = undefined;
    log.warn({ connection: name, server: connection.server, reason }, 'broker.disconnected');
    onDown();
    changed();
    connection.giveUp(reason);
    void connection.close();
  };
  const connectTo = async (url: string) => {
    const opened = await BrokerConnection.open({ ...options, ...tried, url, onBlocking: changed }, halt.signal);
    login.succeeded(tried);
    current = opened;
    log.info({ connection: name, server: opened.server }, 'broker.connected');
    changed();
    return opened;
  };

  const stayConnected = async () => {
    for (let failures = 0, attempt = 0; !halt.signal.aborted; failures += 1, attempt += 1) {
      while (!login.isDue() && !halt.signal.aborted) await systemClock.sleep(READ_AGAIN_MS, halt.signal);
      if (tried !== login.address()) {
        tried = login.address();
        nodes = nodesOf(tried.url);
      }
      const url = nodes[attempt % nodes.length] ?? '';
      try {
        const opened = await connectTo(url);
        failures = 0;
        lose(opened, await opened.ended);
      } catch (error) {
        if (halt.signal.aborted) return;
        const reason = messageOf(login.failed(tried, error, url));
        log.warn({ connection: name, server: placeOf(url), reason }, 'broker.connect-failed');
        onDown();
      }
      await systemClock.sleep(jitteredBackoffMs(BACKOFF, failures + 1), halt.signal);
    }
  };
  const ended = stayConnected();

  return {
    state,
    isCongested: () => current?.isCongested === true,
    drop(why) {
      if (current !== undefined) lose(current, why);
    },
    async [Symbol.asyncDispose]() {
      const last = current;
      current = undefined;
      halt.abort();
      last?.giveUp('it is no longer needed');
      // A broker that does not answer must not delay the end of the process.
      await last?.close();
      await withTimeout({ clock: systemClock, limitMs: STOP_LIMIT_MS }, ended);
    },
  };
}

/** Returns the addresses of the cluster's nodes in random order, so that processes spread over them. */
export function nodesOf(url: string): string[] {
  return addressesIn(url)
    .map((node) => ({ node, place: Math.random() }))
    .toSorted((left, right) => left.place - right.place)
    .map(({ node }) => node);
}

/** Limit of silence while connecting. */
const CONNECT_TIMEOUT_MS = 10_000;
/** Limit from the first packet to the end of `onOpen`; allows for a very slow network. */
const SET_UP_LIMIT_MS = 45_000;
export const CLOSE_LIMIT_MS = 2_000;

/**
 * One connection, from its first packet to its last. Holds all of its state, so that nothing is carried over to the next. Every wait
 * is limited, even if the broker never answers.
 */
class BrokerConnection {
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

/** amqplib has no public access to its socket; undefined if a later version keeps it elsewhere. */
function socketOf({ connection }: ChannelModel): Duplex | undefined {
  return 'stream' in connection && connection.stream instanceof Duplex ? connection.stream : undefined;
}

/**
 * Corks the socket for the rest of each tick, so that all frames of a tick leave in one system call. amqplib writes three frames
 * for a message, one call each: that was a fifth of the router's CPU.
 */
export function corkWrites(socket: Writable): void {
  const write = socket.write.bind(socket);
  const writeWithOthers = (...args: Parameters<typeof write>): boolean => {
    if (socket.writableCorked === 0) {
      socket.cork();
      process.nextTick(() => socket.uncork());
    }
    return write(...args);
  };
  // `write` has two overloads; the arguments are passed on unchanged.
  socket.write = writeWithOthers as typeof write;
}

/** AMQP reply code: the user lacks a permission. */
export const ACCESS_REFUSED = 403;

/** Opens a channel whose errors reach only the operation that failed. */
export async function openChannel(connection: ChannelModel): Promise<Channel> {
  const channel = await connection.createChannel();
  channel.on('error', () => undefined);
  return channel;
}

/**
 * Resolves when the broker has confirmed the close, or when the connection is lost first: amqplib's own `close` would then never
 * settle. Rejects if already closed.
 */
export async function close(open: Channel | ChannelModel): Promise<void> {
  const gone = new Promise<void>((resolve) => open.once('close', () => resolve()));
  await Promise.race([open.close(), gone]);
}

/** Closes the channel first: closing the connection at once would drop frames that the channel has not sent. */
export async function closeInOrder(connection: ChannelModel, channel: Channel): Promise<void> {
  // Either may be closed already, by an error.
  await close(channel).catch(() => undefined);
  await close(connection).catch(() => undefined);
}

/** Ready messages and consumers of a queue; `isKnown` is false if the broker may have guessed. */
export type QueueState = { messages: number; consumers: number; isKnown: boolean };

export type NamedState = QueueState & { name: string };

/** RabbitMQ reports a quorum queue as empty and without consumers if its leader has not answered by then. */
const GUESSED_AFTER_MS = 250;

/** Returns the depth of these queues together; a missing queue counts as empty. Rejects if the broker cannot be asked. */
export async function depthOf(connection: ChannelModel, queues: readonly string[]): Promise<Depth> {
  const states = await statesOf(connection, queues);
  return {
    messages: states.reduce((sum, { messages }) => sum + messages, 0),
    isExact: states.every(({ isKnown }) => isKnown),
  };
}

const NOT_FOUND = 404;

/**
 * Declares each queue passively and returns its state, leaving out missing queues. Calls `onRefused` for queues that the user has no
 * right to; without it they are an error. Rejects if the broker cannot be asked.
 */
export async function statesOf(
  connection: ChannelModel,
  names: readonly string[],
  onRefused?: (name: string) => void,
): Promise<NamedState[]> {
  const states: NamedState[] = [];
  let channel = await openChannel(connection);
  for (const name of names) {
    try {
      states.push({ name, ...(await stateOf(channel, name)) });
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? error.code : undefined;
      if (code === ACCESS_REFUSED && onRefused !== undefined) onRefused(name);
      else if (code !== NOT_FOUND) throw error;
      // The error has closed the channel.
      channel = await openChannel(connection);
    }
  }
  await close(channel);
  return states;
}

/** Rejects if there is no such queue; the channel is then closed. */
export async function stateOf(channel: Channel, queue: string): Promise<QueueState> {
  const askedAt = performance.now();
  const { messageCount: messages, consumerCount: consumers } = await channel.checkQueue(queue);
  const isNothing = messages === 0 && consumers === 0;
  return { messages, consumers, isKnown: !isNothing || performance.now() - askedAt < GUESSED_AFTER_MS };
}
