import type { ChannelModel } from 'amqplib';
import type { Clock } from '@waybell/runtime/clock';
import type { Login } from '@waybell/runtime/login';
import type { ServerAddress } from '@waybell/runtime/server-address';
import type { Broker } from '../broker.ts';
import type { BrokerState } from '../broker-state.ts';
import type { BrokerLog } from './broker-log.ts';
import { close, openChannel } from './channels.ts';
import { ConfirmWatch } from './confirm-watch.ts';
import { keepConnected } from './keep-connected.ts';
import type { Destination } from '../publish-errors.ts';
import type { DestinationReport } from './channel-context.ts';
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
