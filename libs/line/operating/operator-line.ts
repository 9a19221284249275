import { systemClock } from '@waybell/runtime/clock';
import type { ServerAddress } from '@waybell/runtime/server-address';
import { Unavailable } from '@waybell/runtime/unavailable';
import { openCommandPublisher, type CommandPublisher } from './command-publisher.ts';
import { onConnection } from './connect-once.ts';
import { statesOf, type NamedState } from '../broker/depth.ts';
import { RejectedQueue, RejectedQueueTaken } from './rejected-queue.ts';

/** The rejected queue, held exclusively by one request. */
export type RejectedInHand = Pick<RejectedQueue, 'messages' | 'remove'> & {
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

/** The broker may need this long to release the queue of the previous request. */
const RELEASED_WITHIN_MS = 2_000;
const LOOK_EVERY_MS = 100;

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
    for (const until = performance.now() + RELEASED_WITHIN_MS; ; await systemClock.sleep(LOOK_EVERY_MS)) {
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
