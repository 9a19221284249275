import type { Channel, ChannelModel } from 'amqplib';
import type { Depth } from '../broker.ts';
import { ACCESS_REFUSED, close, openChannel } from './broker-connection.ts';

/** Ready messages and consumers of a queue; `isKnown` is false if the broker may have guessed. */
export type QueueState = { messages: number; consumers: number; isKnown: boolean };

export type NamedState = QueueState & { name: string };

/** RabbitMQ reports a quorum queue as empty and without consumers if its leader has not answered by then. */
const GUESSED_AFTER_MS = 250;

/** Returns the depth of these queues together; a missing queue counts as empty. Rejects if the broker cannot be asked. */
export async function depthOf(connection: ChannelModel, queues: readonly string[]): Promise<Depth> {
  const states = await statesOf(connection, queues);
  return {
    messages: states.reduce((sum, { messages }) => sum + messages, 0),
    isExact: states.every(({ isKnown }) => isKnown),
  };
}

const NOT_FOUND = 404;

/**
 * Declares each queue passively and returns its state, leaving out missing queues. Calls `onRefused` for queues that the user has no
 * right to; without it they are an error. Rejects if the broker cannot be asked.
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
      // The error has closed the channel.
      channel = await openChannel(connection);
    }
  }
  await close(channel);
  return states;
}

/** Rejects if there is no such queue; the channel is then closed. */
export async function stateOf(channel: Channel, queue: string): Promise<QueueState> {
  const askedAt = performance.now();
  const { messageCount: messages, consumerCount: consumers } = await channel.checkQueue(queue);
  const isNothing = messages === 0 && consumers === 0;
  return { messages, consumers, isKnown: !isNothing || performance.now() - askedAt < GUESSED_AFTER_MS };
}
