import type { ChannelModel, ConfirmChannel } from 'amqplib';
import type { Clock } from '@waybell/runtime/clock';
import type { Log } from '@waybell/runtime/log';
import type { ServerAddress } from '@waybell/runtime/server-address';
import type { PublishingFigures } from '../broker-metrics.ts';
import type { Publication } from '../messages.ts';
import { openLink } from './link.ts';
import { Room } from './room.ts';
import { Unconfirmed, UnconfirmedMessages } from './unconfirmed-messages.ts';

export type Publisher = AsyncDisposable & {
  /** Resolves when a queue has the message. Rejects with `Unroutable` or `Unconfirmed`. */
  publish(publication: Publication): Promise<void>;
  isWritable(): boolean;
  /** Whether it is connected and its alarm on memory or disk keeps publishers waiting. */
  isBlocked(): boolean;
  /** `listener` runs each time that begins. */
  onBlocked(listener: () => void): void;
  /** False while a confirm is long in coming: the broker listens, and a queue has no leader or a disk is slow. */
  isConfirming(): boolean;
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
  const unconfirmed = new UnconfirmedMessages(clock);
  const room = new Room({ messages: options.unconfirmedLimit, bytes: options.unconfirmedBytesLimit });
  let channel: ConfirmChannel | undefined;
  const blockedListeners: (() => void)[] = [];
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
    },
    onDown: () => {
      channel = undefined;
      unconfirmed.failAll('the connection is gone');
    },
    onBlocked: () => {
      for (const listener of blockedListeners) listener();
    },
  });
  const watch = () => {
    // While the broker blocks publishers no confirm can come.
    if (link.isBlocked()) unconfirmed.startClocksAgain();
    else if (unconfirmed.isOverdue(confirmTimeoutMs)) link.drop(`no confirm within ${confirmTimeoutMs} ms`);
    timer = clock.after(OVERDUE_CHECK_MS, watch);
  };
  let timer = clock.after(OVERDUE_CHECK_MS, watch);

  return {
    publish: (publication) =>
      room.use(publication.body.length, async () => {
        if (channel === undefined) throw new Unconfirmed('the broker is away');
        await unconfirmed.send(channel, publication);
      }),
    isWritable: link.isWritable,
    isBlocked: () => channel !== undefined && link.isBlocked(),
    onBlocked: (listener) => void blockedListeners.push(listener),
    isConfirming: () => !unconfirmed.isOverdue(SLOW_CONFIRM_MS),
    untilWritable: link.untilWritable,
    publishing: () => ({ unconfirmed: unconfirmed.size, isBlocked: link.isBlocked() }),
    async [Symbol.asyncDispose]() {
      timer[Symbol.dispose]();
      await link[Symbol.asyncDispose]();
      channel = undefined;
      unconfirmed.failAll('the connection is closed');
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
