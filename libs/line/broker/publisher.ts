/** Publishes on a connection of its own: `UnconfirmedMessages` has what is under way, a `ConfirmWatch` notices what goes unanswered. */
import type { Channel, ChannelModel } from 'amqplib';
import type { Clock, Timer } from '@waybell/runtime/clock';
import type { Login } from '@waybell/runtime/login';
import type { ServerAddress } from '@waybell/runtime/server-address';
import type { Broker, BrokerState } from '../broker.ts';
import type { Destination } from '../messages.ts';
import { type BrokerLog, close, keepConnected, openChannel, type ReconnectingConnection } from './broker-connection.ts';
import type { DestinationReport } from './destination-channel.ts';
import { UnconfirmedMessages } from './unconfirmed-messages.ts';

export type BrokerPublisher = AsyncDisposable &
  Pick<Broker, 'publish' | 'send' | 'state' | 'onState' | 'stalled' | 'publishing'> & {
    /** False if the broker has answered nothing at all for 5 s though something is unconfirmed. A stalled destination alone does not count. */
    isConfirming(): boolean;
  };

export type BrokerPublisherOptions = ServerAddress & {
  login?: Login;
  name: string;
  heartbeatSeconds: number;
  /** Limit for a confirm, after which the publish is `Unconfirmed`. A broker silent for this long is disconnected. */
  confirmTimeoutMs: number;
  /** Limit of unconfirmed messages over all destinations: a blocked connection would buffer without bound. */
  unconfirmedLimit: number;
  unconfirmedBytesLimit: number;
  /** Exchanges that must exist before anything is published. */
  exchanges: readonly string[];
  /** Runs when a message was unroutable. */
  onReturned?: () => void;
  log: BrokerLog;
  clock: Clock;
  /** Limit for the close handshake. */
  closeLimitMs?: number;
};

const SILENT_MS = 5_000;
const NOT_FOUND = /\b404 \(/;

/** Connects in the background and reconnects. */
export function openPublisher(options: BrokerPublisherOptions): BrokerPublisher {
  const { confirmTimeoutMs, exchanges, clock } = options;
  const limits = { messages: options.unconfirmedLimit, bytes: options.unconfirmedBytesLimit };
  const report = reportTo(options, (why) => reconnecting.drop(why));
  const unconfirmed = new UnconfirmedMessages({ clock, limits, report });
  const listeners: ((state: BrokerState) => void)[] = [];
  const reconnecting = keepConnected({
    ...options,
    name: `${options.name} publish`,
    onOpen: async (connection, channel) => {
      await checkExchanges(connection, exchanges);
      watch.control = channel;
      unconfirmed.open(() => connection.createConfirmChannel());
    },
    onDown: () => {
      watch.control = undefined;
      unconfirmed.close('the connection is gone');
    },
    onState: (state) => {
      for (const listener of listeners) listener(state);
    },
  });
  const watch = new ConfirmWatch({ unconfirmed, connection: reconnecting, confirmTimeoutMs, clock });

  return {
    publish: (publication) =>
      new Promise((resolve, reject) => {
        unconfirmed.send(publication, (error) => (error === undefined ? resolve() : reject(error)));
      }),
    send: (publication, onSettled) => unconfirmed.send(publication, onSettled),
    state: reconnecting.state,
    onState: (listener) => void listeners.push(listener),
    isConfirming: () => !unconfirmed.isSilent(SILENT_MS),
    stalled: () => unconfirmed.stalled(),
    publishing: () => ({
      unconfirmed: unconfirmed.size,
      isBlocked: reconnecting.state() === 'blocked',
      stalled: unconfirmed.stalled(),
    }),
    async [Symbol.asyncDispose]() {
      watch[Symbol.dispose]();
      await reconnecting[Symbol.asyncDispose]();
      unconfirmed.close('the connection is closed');
    },
  };
}

/** Checks all exchanges at the same time, each on its own channel: one round trip instead of one for each. */
async function checkExchanges(connection: ChannelModel, exchanges: readonly string[]): Promise<void> {
  const check = async (exchange: string) => {
    const channel = await openChannel(connection);
    await channel.checkExchange(exchange);
    await close(channel);
  };
  await Promise.all(exchanges.map(check));
}

type ReportDestination = (report: DestinationReport, destination: Destination) => void;

function reportTo(
  { log, onReturned }: Pick<BrokerPublisherOptions, 'log' | 'onReturned'>,
  drop: (why: string) => void,
): ReportDestination {
  return (report, { exchange, routingKey }) => {
    const { kind: _, ...facts } = report;
    const what = { exchange, routingKey, ...facts };
    switch (report.kind) {
      case 'stalled':
        return log.warn(what, 'broker.destination-stalled');
      case 'confirms again':
        return log.info(what, 'broker.destination-confirms-again');
      case 'returned':
        return onReturned?.();
      case 'channel failed':
        log.warn(what, 'broker.channel-failed');
        // Reconnects: nothing may be published until the exchange exists, and each connect checks that.
        if (NOT_FOUND.test(report.reason)) drop(`exchange ${exchange} is missing`);
    }
  };
}

type ConfirmWatchOptions = {
  unconfirmed: UnconfirmedMessages;
  connection: ReconnectingConnection;
  confirmTimeoutMs: number;
  clock: Clock;
};

const CHECK_MS = 500;

/** Twice a second: detects stalled destinations, gives up on overdue confirms, drops a silent connection. */
class ConfirmWatch implements Disposable {
  /** A channel of the current connection that carries no messages; undefined while disconnected. */
  control: Channel | undefined;
  #asked: Channel | undefined;
  readonly #options: ConfirmWatchOptions;
  #timer: Timer;

  constructor(options: ConfirmWatchOptions) {
    this.#options = options;
    this.#timer = this.#checkLater();
  }

  [Symbol.dispose](): void {
    this.#timer[Symbol.dispose]();
  }

  #checkLater(): Timer {
    return this.#options.clock.after(CHECK_MS, () => {
      this.#check();
      this.#timer = this.#checkLater();
    });
  }

  #check(): void {
    const { unconfirmed, connection, confirmTimeoutMs } = this.#options;
    // A blocked broker reads nothing, so no confirm can come.
    if (connection.state() === 'blocked') return unconfirmed.restartClocks();
    if (unconfirmed.isSilent(confirmTimeoutMs)) return connection.drop(`no answer within ${confirmTimeoutMs} ms`);
    if (this.#asked !== this.control && unconfirmed.isLate()) void this.#ask(this.control);
    this.#detectStalls();
    unconfirmed.giveUpOn(confirmTimeoutMs);
  }

  /** Sends a harmless request: its answer proves that the broker responds, and so that an unconfirmed destination stalls. */
  async #ask(control: Channel | undefined): Promise<void> {
    this.#asked = control;
    const askedAt = this.#options.clock.now();
    try {
      // A prefetch has no effect on a channel without consumers.
      await control?.prefetch(0);
    } catch {
      return;
    }
    if (control !== this.control) return;
    this.#asked = undefined;
    this.#options.unconfirmed.heard(askedAt);
    this.#detectStalls();
  }

  #detectStalls(): void {
    const { unconfirmed, connection } = this.#options;
    // Messages that are still in the socket's buffer cannot be confirmed.
    if (!connection.isCongested()) unconfirmed.detectStalls();
  }
}
