import type { EventEmitter } from 'node:events';
import { Duplex, type Writable } from 'node:stream';
import { connect, type ChannelModel } from 'amqplib';
import type { Clock } from '@waybell/runtime/clock';
import type { Log } from '@waybell/runtime/log';
import { placeOf, type ServerAddress } from '@waybell/runtime/server-address';
import { within } from '@waybell/runtime/within';

/** `blocked`: it is connected, and the broker's alarm on memory or disk keeps publishers waiting. */
export type BrokerState = 'writable' | 'blocked' | 'away';

/** One connection that comes back by itself. `onOpen` sets everything up again after each connect. */
export type Link = AsyncDisposable & {
  state(): BrokerState;
  untilWritable(): Promise<void>;
  /** Gives the present connection up, so that a new one is made. */
  drop(why: string): void;
};

export type LinkOptions = ServerAddress & {
  name: string;
  heartbeatSeconds: number;
  log: Log;
  clock: Clock;
  /** Runs after each connect. What it throws closes the connection, and it is tried again. */
  onOpen: (connection: ChannelModel) => Promise<void>;
  /** Runs when a connection is lost, or was never set up. */
  onDown: () => void;
  onState?: (state: BrokerState) => void;
};

const CONNECT_TIMEOUT_MS = 10_000;
const CLOSE_LIMIT_MS = 2_000;

/** Connects in the background: the broker may be away for now, or go away at any time. */
export async function openLink(options: LinkOptions): Promise<Link> {
  const { url, tls, name, heartbeatSeconds, log, clock, onOpen, onDown, onState } = options;
  let current: ChannelModel | undefined;
  let isOpen = false;
  let isBlocked = false;
  let writable = Promise.withResolvers<void>();
  const state = () => (!isOpen ? 'away' : isBlocked ? 'blocked' : 'writable');
  const changed = () => {
    onState?.(state());
    if (state() !== 'writable') return;
    writable.resolve();
    writable = Promise.withResolvers<void>();
  };
  const lose = (reason: string) => {
    if (isOpen) log.warn({ connection: name, reason }, 'broker.disconnected');
    isOpen = false;
    onDown();
    changed();
  };

  const halt = new AbortController();
  const socket = { ...tls, timeout: CONNECT_TIMEOUT_MS, noDelay: true, signal: halt.signal };
  const model = await connect(withHeartbeat(url, heartbeatSeconds), {
    ...socket,
    clientProperties: { connection_name: name },
    recovery: {
      initialDelay: 100,
      maxDelay: 2_000,
      waitForConnect: false,
      setup: async (connection: ChannelModel) => {
        current = connection;
        gatherWritesOf(connection);
        await setUp(connection, { name, log, onOpen });
      },
    },
  });
  // Reported by `setUp`; an error nobody listens to would end the process.
  model.on('error', () => undefined);
  model.on('connect', () => {
    isOpen = true;
    isBlocked = false;
    log.info({ connection: name }, 'broker.connected');
    changed();
  });
  model.on('disconnect', (error: Error) => lose(error.message));
  model.on('connect-failed', (error: Error) => {
    log.warn({ connection: name, server: placeOf(url), reason: error.message }, 'broker.connect-failed');
    onDown();
  });
  watchBlocking(model, options, (isNowBlocked) => {
    isBlocked = isNowBlocked;
    changed();
  });

  return {
    state,
    async untilWritable() {
      while (state() !== 'writable') await writable.promise;
    },
    drop(why) {
      if (!isOpen) return;
      lose(why);
      if (current !== undefined) void abandon(current, clock);
    },
    async [Symbol.asyncDispose]() {
      isOpen = false;
      // A broker that does not answer must not hold up the end of the process, nor must its socket.
      await within({ clock, limitMs: CLOSE_LIMIT_MS }, model.close());
      halt.abort();
    },
  };
}

function watchBlocking(
  model: EventEmitter,
  { name, log }: Pick<LinkOptions, 'name' | 'log'>,
  onChange: (isBlocked: boolean) => void,
): void {
  model.on('blocked', (reason: string) => {
    log.warn({ connection: name, reason }, 'broker.blocked');
    onChange(true);
  });
  model.on('unblocked', () => {
    log.info({ connection: name }, 'broker.unblocked');
    onChange(false);
  });
}

function withHeartbeat(url: string, heartbeatSeconds: number): string {
  const address = new URL(url);
  address.searchParams.set('heartbeat', String(heartbeatSeconds));
  return address.href;
}

/** Without it, writes are dearer and nothing else. */
function gatherWritesOf(connection: ChannelModel): void {
  const socket = socketOf(connection);
  if (socket !== undefined) gatherWrites(socket);
}

/** A broker with an alarm reads nothing from those who publish, not even that they leave: its answer could take hours. */
async function abandon(connection: ChannelModel, clock: Clock): Promise<void> {
  await within({ clock, limitMs: CLOSE_LIMIT_MS }, connection.close());
  socketOf(connection)?.destroy(new Error('the broker did not answer when it was closed'));
}

/** It is not part of the library's interface. */
function socketOf({ connection }: ChannelModel): Duplex | undefined {
  return 'stream' in connection && connection.stream instanceof Duplex ? connection.stream : undefined;
}

/** A connection that closes before the library watches it would stay dead for ever: here, that is a failed connect. */
async function setUp(
  connection: ChannelModel,
  { name, log, onOpen }: Pick<LinkOptions, 'name' | 'log' | 'onOpen'>,
): Promise<void> {
  let isGone = false;
  connection.on('close', () => (isGone = true));
  connection.on('error', ({ message }: Error) => {
    log.warn({ connection: name, reason: message }, 'broker.connection-failed');
  });
  // Fails where it closed before these two listened.
  await (await connection.createChannel()).close();
  await onOpen(connection);
  if (isGone) throw new Error('the connection closed while it was set up');
}

/**
 * Lets what is written in one tick leave in one system call. amqplib writes frame by frame, three to a message, and each
 * write would be a call of its own: a fifth of what the router did.
 */
export function gatherWrites(socket: Writable): void {
  const write = socket.write.bind(socket);
  const writeWithOthers = (...args: Parameters<typeof write>): boolean => {
    if (socket.writableCorked === 0) {
      socket.cork();
      process.nextTick(() => socket.uncork());
    }
    return write(...args);
  };
  // What is passed on unchanged has one signature here and two there.
  socket.write = writeWithOthers as typeof write;
}
