/**
 * Operators' access to the broker, for the API (`operatorLine`) and for commands (`openCommandPublisher`): connections that are made for one
 * request.
 */
import type { ChannelModel } from 'amqplib';
import { systemClock } from '@waybell/runtime/clock';
import type { ServerAddress } from '@waybell/runtime/server-address';
import { Unavailable } from '@waybell/runtime/unavailable';
import { closeInOrder, openChannel, type NamedState, statesOf } from '../broker/broker-connection.ts';
import { UnconfirmedMessages } from '../broker/publisher.ts';
import { type Publication, Unconfirmed, Unroutable } from '../messages.ts';
import { eventsExchange } from '../topology.ts';
import { connectOnce, onConnection, withoutRight } from './connect-once.ts';
import { RejectedQueue, RejectedQueueTaken } from './rejected-queue.ts';

/** The rejected queue, held exclusively by one request. */
type RejectedInHand = Pick<RejectedQueue, 'messages' | 'remove'> & {
  /** Whether the time ran out before all messages were read. */
  isCut(): boolean;
};

export type RejectedWork<T> = (queue: RejectedInHand, line: () => Promise<CommandPublisher>) => Promise<T>;

/**
 * Operators' requests to the broker. Each opens and closes its own connections, within a time limit. Throws `Unavailable` if the broker is
 * away or does not answer in time.
 */
export type OperatorLine = {
  /** Returns the states of these queues, without missing ones. */
  statesOf(queues: readonly string[]): Promise<NamedState[]>;
  /** Runs the work with the rejected queue. Throws `RejectedQueueTaken` while another process holds it, or what the work throws. */
  onRejected<T>(work: RejectedWork<T>): Promise<T>;
};

/** Publishes for a command. Does not reconnect: the caller learns what failed. */
export type CommandPublisher = AsyncDisposable & {
  /** Resolves when the broker has confirmed the message, or returned it as unroutable. Rejects without a confirm: then it may be in a queue. */
  publish(publication: Publication): Promise<'confirmed' | 'unroutable'>;
};

/** The broker may need this long to release the queue of the previous request. */
const RELEASED_WITHIN_MS = 2_000;
const RETRY_EVERY_MS = 100;

export function operatorLine({ address, limitMs }: { address: ServerAddress; limitMs: number }): OperatorLine {
  const unavailable = (cause: unknown) =>
    new Unavailable('rabbitmq', () => onConnection(address, async () => undefined, limitMs), cause);
  const asking = <T>(asked: Promise<T>): Promise<T> =>
    asked.catch((error: unknown) => {
      throw error instanceof RejectedQueueTaken ? error : unavailable(error);
    });

  async function inTime<T>(work: Promise<T>): Promise<T> {
    const late = Promise.withResolvers<never>();
    using _limit = systemClock.after(limitMs, () =>
      late.reject(unavailable(new Error(`not done within ${limitMs} ms`))),
    );
    return await Promise.race([work, late.promise]);
  }

  async function openRejected(): Promise<RejectedQueue> {
    for (const until = performance.now() + RELEASED_WITHIN_MS; ; await systemClock.sleep(RETRY_EVERY_MS)) {
      try {
        return await asking(RejectedQueue.open(address));
      } catch (error) {
        if (!(error instanceof RejectedQueueTaken) || performance.now() > until) throw error;
      }
    }
  }

  /** Stops reading after half of the limit: the other half is for answering. */
  function inHand(queue: RejectedQueue): RejectedInHand {
    const until = performance.now() + limitMs / 2;
    let isCut = false;
    async function* messages() {
      const taken = queue.messages();
      for (;;) {
        const { done, value } = await asking(taken.next());
        if (done === true) return;
        isCut = performance.now() > until;
        if (isCut) return;
        yield value;
      }
    }
    return { messages, remove: (rejected) => queue.remove(rejected), isCut: () => isCut };
  }

  async function onRejected<T>(work: RejectedWork<T>): Promise<T> {
    await using stack = new AsyncDisposableStack();
    const queue = stack.use(await openRejected());
    const openLine = async (): Promise<CommandPublisher> => {
      const line = stack.use(await asking(openCommandPublisher(address, limitMs / 2)));
      return { ...line, publish: (publication) => asking(line.publish(publication)) };
    };
    return await work(inHand(queue), openLine);
  }

  return {
    statesOf: (queues) => inTime(asking(onConnection(address, (connection) => statesOf(connection, queues), limitMs))),
    onRejected: (work) => inTime(onRejected(work)),
  };
}

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
