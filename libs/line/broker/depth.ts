import type { Channel, ChannelModel } from 'amqplib';
import { ACCESS_REFUSED, close, openChannel } from './channels.ts';

/** Messages that wait in queues together, ready to be taken: there may be more where it is not exact. */
export type Depth = { messages: number; isExact: boolean };

/** What a queue has ready, and its consumers, unless that is not known. */
export type QueueState = { messages: number; consumers: number; isKnown: boolean };

export type NamedState = QueueState & { name: string };

/** RabbitMQ says that a quorum queue has no messages and no consumers if its leader has not told by then. */
const GUESSED_AFTER_MS = 250;

/** The depth of these queues together. A queue that is missing holds nothing. Rejects where the broker cannot be asked. */
export async function depthOf(connection: ChannelModel, queues: readonly string[]): Promise<Depth> {
  const states = await statesOf(connection, queues);
  return {
    messages: states.reduce((sum, { messages }) => sum + messages, 0),
    isExact: states.every(({ isKnown }) => isKnown),
  };
}

const NOT_FOUND = 404;

/**
 * Asks for each of these queues, and leaves out those that are not there. `onRefused` hears of those that this user may not
 * ask after; without it they are an error. Rejects where the broker cannot be asked.
 */
export async function statesOf(
  connection: ChannelModel,
  names: readonly string[],
  onRefused?: (name: string) => void,
): Promise<NamedState[]> {
  const states: NamedState[] = [];
  let channel = await openChannel(connection);
  for (const name of names) {
    try {
      states.push({ name, ...(await stateOf(channel, name)) });
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? error.code : undefined;
      if (code === ACCESS_REFUSED && onRefused !== undefined) onRefused(name);
      else if (code !== NOT_FOUND) throw error;
      // With such an answer the channel is closed.
      channel = await openChannel(connection);
    }
  }
  await close(channel);
  return states;
}

/** Rejects where there is no such queue; the channel is closed then. */
export async function stateOf(channel: Channel, queue: string): Promise<QueueState> {
  const askedAt = performance.now();
  const { messageCount: messages, consumerCount: consumers } = await channel.checkQueue(queue);
  const isNothing = messages === 0 && consumers === 0;
  return { messages, consumers, isKnown: !isNothing || performance.now() - askedAt < GUESSED_AFTER_MS };
}
