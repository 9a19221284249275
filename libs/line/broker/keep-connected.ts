import { jitteredBackoffMs } from '@waybell/runtime/backoff';
import { systemClock } from '@waybell/runtime/clock';
import { Login } from '@waybell/runtime/login';
import { messageOf } from '@waybell/runtime/server-trouble';
import { placeOf } from '@waybell/runtime/place-of';
import { withTimeout } from '@waybell/runtime/with-timeout';
import type { BrokerState } from '../broker-state.ts';
import { nodesOf } from './nodes-of.ts';
import { BrokerConnection, type BrokerConnectionOptions } from './broker-connection.ts';

/** A connection that is made again whenever it is lost. */
export type ReconnectingConnection = AsyncDisposable & {
  state(): BrokerState;
  /** Whether the socket's buffer is full. */
  isCongested(): boolean;
  /** Gives up the current connection; a new one is made. */
  drop(why: string): void;
};

export type ReconnectOptions = BrokerConnectionOptions & {
  /** Shared by all connections of the process. */
  login?: Login;
  /** Runs when a connection is lost or could not be set up. */
  onDown: () => void;
  onState?: (state: BrokerState) => void;
};

// Reconnecting and closing use the system clock, not `clock`: they wait for something outside of this process.
const BACKOFF = { firstMs: 100, longestMs: 2_000 };
const STOP_LIMIT_MS = 1_000;
/** How often a file is read again while a refused login is not repeated. */
const LOOK_AGAIN_MS = 1_000;

/**
 * Connects in the background and reconnects until disposed. `onOpen` runs after each connect. With several nodes, each attempt goes to
 * the next one, in a random order. What it connects with is read again after a failure.
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
    for (let failures = 0, turn = 0; !halt.signal.aborted; failures += 1, turn += 1) {
      while (!login.isDue() && !halt.signal.aborted) await systemClock.sleep(LOOK_AGAIN_MS, halt.signal);
      if (tried !== login.address()) {
        tried = login.address();
        nodes = nodesOf(tried.url);
      }
      const url = nodes[turn % nodes.length] ?? '';
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
