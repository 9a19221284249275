import type { ChannelModel, ConfirmChannel } from 'amqplib';
import type { Clock } from '@waybell/runtime/clock';
import type { Log } from '@waybell/runtime/log';
import type { ServerAddress } from '@waybell/runtime/server-address';
import type { PublishingFigures } from '../step-report.ts';
import type { Publication } from '../messages.ts';
import { openLink, type BrokerState } from './link.ts';
import { Unconfirmed, UnconfirmedMessages, type Destination, type OnSettled } from './unconfirmed-messages.ts';

export type Publisher = AsyncDisposable & {
  /** Resolves when a queue has the message. Rejects with `Unroutable`, `Unconfirmed`, `Stalled` or `TooLarge`. */
  publish(publication: Publication): Promise<void>;
  /** The same without a promise, for those who send thousands. */
  send(publication: Publication, onSettled: OnSettled): void;
  state(): BrokerState;
  /** `listener` runs each time the state has changed. */
  onState(listener: (state: BrokerState) => void): void;
  /** False while a confirm is long in coming: the broker listens, and a queue has no leader or a disk is slow. */
  isConfirming(): boolean;
  /** Where what was sent is not confirmed, while other things are: what is published there settles at once with `Stalled`. */
  stalled(): readonly Destination[];
  untilWritable(): Promise<void>;
  publishing(): PublishingFigures;
};

export type PublisherOptions = ServerAddress & {
  name: string;
  heartbeatSeconds: number;
  confirmTimeoutMs: number;
  /** Messages published and not yet confirmed, at most: a blocked connection would buffer them without bound. */
  unconfirmedLimit: number;
  unconfirmedBytesLimit: number;
  /** What must exist before anything is published: a publish to an exchange that is missing closes the channel. */
  exchanges: readonly string[];
  log: Log;
  clock: Clock;
};

const OVERDUE_CHECK_MS = 1_000;
const SLOW_CONFIRM_MS = 5_000;

export async function openPublisher(options: PublisherOptions): Promise<Publisher> {
  const { confirmTimeoutMs, exchanges, log, clock } = options;
  const limits = { messages: options.unconfirmedLimit, bytes: options.unconfirmedBytesLimit };
  const unconfirmed = new UnconfirmedMessages({ clock, limits });
  let channel: ConfirmChannel | undefined;
  const listeners: ((state: BrokerState) => void)[] = [];
  const link = await openLink({
    ...options,
    name: `${options.name} publish`,
    onOpen: async (connection) => {
      await checkExchanges(connection, exchanges);
      const opened = await connection.createConfirmChannel();
      opened.on('error', (error: Error) => log.warn({ reason: error.message }, 'broker.channel-failed'));
      opened.on('return', ({ fields, properties }) =>
        unconfirmed.returned({ ...fields, messageId: properties.messageId }),
      );
      // The next connection brings a new channel.
      opened.on('close', () => opened === channel && link.drop('its channel closed'));
      channel = opened;
      unconfirmed.open(opened);
    },
    onDown: () => {
      channel = undefined;
      unconfirmed.close('the connection is gone');
    },
    onState: (state) => {
      for (const listener of listeners) listener(state);
    },
  });
  const watch = () => {
    // While the broker blocks publishers no confirm can come.
    if (link.state() === 'blocked') unconfirmed.startClocksAgain();
    else if (unconfirmed.isOverdue(confirmTimeoutMs)) link.drop(`no confirm within ${confirmTimeoutMs} ms`);
    timer = clock.after(OVERDUE_CHECK_MS, watch);
  };
  let timer = clock.after(OVERDUE_CHECK_MS, watch);

  return {
    publish: (publication) =>
      new Promise((resolve, reject) => {
        unconfirmed.send(publication, (error) => (error === undefined ? resolve() : reject(error)));
      }),
    send: (publication, onSettled) => unconfirmed.send(publication, onSettled),
    state: link.state,
    onState: (listener) => void listeners.push(listener),
    isConfirming: () => !unconfirmed.isOverdue(SLOW_CONFIRM_MS),
    stalled: () => [],
    untilWritable: link.untilWritable,
    publishing: () => ({ unconfirmed: unconfirmed.size, isBlocked: link.state() === 'blocked' }),
    async [Symbol.asyncDispose]() {
      timer[Symbol.dispose]();
      await link[Symbol.asyncDispose]();
      channel = undefined;
      unconfirmed.close('the connection is closed');
    },
  };
}

async function checkExchanges(connection: ChannelModel, exchanges: readonly string[]): Promise<void> {
  const channel = await connection.createChannel();
  // The check that fails reports it.
  channel.on('error', () => undefined);
  for (const exchange of exchanges) await channel.checkExchange(exchange);
  await channel.close();
}

const FIRST_DELAY_MS = 50;
const LONGEST_DELAY_MS = 1_000;

/** The broker has taken the message back while what it caused could not be published: somebody will take it again. */
export class NoLongerHeld extends Error {
  constructor() {
    super('the broker took the message back');
    this.name = 'NoLongerHeld';
  }
}

export type Publishing = { broker: Pick<Publisher, 'publish'>; clock: Clock };

/**
 * Publishes again for as long as the message that caused it is held: a handler's work, an HTTP request above all, is
 * not repeated because the broker stumbled. Rejects with `NoLongerHeld`, or with `Unroutable`.
 */
export async function publishUntilConfirmed(
  { broker, clock }: Publishing,
  publication: Publication,
  isHeld: () => boolean,
): Promise<void> {
  for (let delayMs = FIRST_DELAY_MS; ; delayMs = Math.min(delayMs * 2, LONGEST_DELAY_MS)) {
    try {
      return await broker.publish(publication);
    } catch (error) {
      if (!(error instanceof Unconfirmed)) throw error;
      if (!isHeld()) throw new NoLongerHeld();
      await clock.sleep(delayMs);
    }
  }
}
