import type { ChannelModel } from 'amqplib';
import { systemClock } from '@waybell/runtime/clock';
import type { ServerAddress } from '@waybell/runtime/server-address';
import type { Publication } from '../messages.ts';
import { eventsExchange } from '../topology.ts';
import { closeInOrder, openChannel } from '../broker/channels.ts';
import { connectOnce, withoutRight } from './connect-once.ts';
import { Unconfirmed, Unroutable } from '../publish-errors.ts';
import { UnconfirmedMessages } from '../broker/unconfirmed-messages.ts';

/** Publishes for a command. Does not reconnect: the caller learns what failed. */
export type CommandPublisher = AsyncDisposable & {
  /** Resolves when the broker has confirmed the message, or returned it as unroutable. Rejects without a confirm: then it may be in a queue. */
  publish(publication: Publication): Promise<'confirmed' | 'unroutable'>;
};

/** Throws if the broker cannot be reached or the line is not declared. */
export async function openCommandPublisher(
  address: ServerAddress,
  confirmTimeoutMs: number,
): Promise<CommandPublisher> {
  const connection = await connectOnce(address);
  let isBlocked = false;
  connection.on('blocked', () => (isBlocked = true));
  connection.on('unblocked', () => (isBlocked = false));
  const channel = await openChannel(connection);
  try {
    await channel.checkExchange(eventsExchange);
  } catch (error) {
    await closeInOrder(connection, channel);
    const missing = `exchange ${eventsExchange} cannot be used: create the line with "./waybell declare"`;
    throw withoutRight(address, error) ?? new Error(missing, { cause: error });
  }
  const whyLate = () =>
    isBlocked
      ? 'the broker takes nothing: it is short of memory or disk'
      : `the broker did not confirm within ${confirmTimeoutMs} ms`;
  return {
    publish: publishBy(connection, { confirmTimeoutMs, whyLate }),
    [Symbol.asyncDispose]: () => closeInOrder(connection, channel),
  };
}

type ConfirmLimit = { confirmTimeoutMs: number; whyLate: () => string };

function publishBy(connection: ChannelModel, { confirmTimeoutMs, whyLate }: ConfirmLimit): CommandPublisher['publish'] {
  const limits = { messages: Infinity, bytes: Infinity };
  const unconfirmed = new UnconfirmedMessages({ clock: systemClock, limits });
  unconfirmed.open(() => connection.createConfirmChannel());
  connection.on('close', () => unconfirmed.close('the connection is gone'));
  return (publication) =>
    new Promise((resolve, reject) => {
      const limit = systemClock.after(confirmTimeoutMs, () => reject(new Unconfirmed(whyLate())));
      unconfirmed.send(publication, (error) => {
        limit[Symbol.dispose]();
        if (error === undefined) resolve('confirmed');
        else if (error instanceof Unroutable) resolve('unroutable');
        else reject(error);
      });
    });
}
