import { setTimeout as sleep } from 'node:timers/promises';
import { connect, type ChannelModel, type RecoveringChannelModel } from 'amqplib';
import type { Log } from '@waybell/runtime/log';

/** One connection that comes back by itself. `onOpen` sets everything up again after each connect. */
export type Link = AsyncDisposable & {
  isOpen(): boolean;
  isBlocked(): boolean;
  /** Resolves once the link is open and not blocked. */
  untilWritable(): Promise<void>;
};

export type LinkOptions = {
  url: string;
  name: string;
  heartbeatSeconds: number;
  log: Log;
  /** Runs after each connect. What it throws closes the connection, and it is tried again. */
  onOpen: (connection: ChannelModel) => Promise<void>;
  onDown?: () => void;
};

const CONNECT_TIMEOUT_MS = 10_000;

/** Connects in the background: the broker may be away for now, or go away at any time. */
export async function openLink({ url, name, heartbeatSeconds, log, onOpen, onDown }: LinkOptions): Promise<Link> {
  let isBlocked = false;
  let isOpen = false;
  let writable = Promise.withResolvers<void>();
  const changed = () => {
    if (!isOpen || isBlocked) return;
    writable.resolve();
    writable = Promise.withResolvers<void>();
  };

  const address = new URL(url);
  address.searchParams.set('heartbeat', String(heartbeatSeconds));
  const model = await connect(address.href, {
    timeout: CONNECT_TIMEOUT_MS,
    noDelay: true,
    clientProperties: { connection_name: name },
    recovery: {
      initialDelay: 100,
      maxDelay: 2_000,
      waitForConnect: false,
      setup: async (connection: ChannelModel) => {
        // A listener that throws, or an error nobody listens to, would end the process.
        connection.on('error', (error: Error) => log.warn({ reason: error.message }, 'broker.connection-failed'));
        await onOpen(connection);
      },
    },
  });
  model.on('error', () => undefined);
  model.on('connect', () => {
    isOpen = true;
    isBlocked = false;
    log.info({ connection: name }, 'broker.connected');
    changed();
  });
  model.on('disconnect', (error: Error) => {
    isOpen = false;
    log.warn({ connection: name, reason: error.message }, 'broker.disconnected');
    onDown?.();
  });
  model.on('connect-failed', (error: Error) => {
    log.warn({ connection: name, reason: error.message }, 'broker.connect-failed');
  });
  model.on('blocked', (reason: string) => {
    isBlocked = true;
    log.warn({ connection: name, reason }, 'broker.blocked');
  });
  model.on('unblocked', () => {
    isBlocked = false;
    log.info({ connection: name }, 'broker.unblocked');
    changed();
  });

  return {
    isOpen: () => isOpen,
    isBlocked: () => isBlocked,
    async untilWritable() {
      while (!isOpen || isBlocked) await writable.promise;
    },
    async [Symbol.asyncDispose]() {
      isOpen = false;
      await closeModel(model);
    },
  };
}

// A broker that does not answer must not hold up the end of the process.
async function closeModel(model: RecoveringChannelModel): Promise<void> {
  const tooLate = new AbortController();
  await Promise.race([model.close(), sleep(2_000, undefined, { signal: tooLate.signal }).catch(() => undefined)]);
  tooLate.abort();
}
