import type { Channel, ConsumeMessage } from 'amqplib';
import type { Message } from '../messages.ts';
import { readMessage } from './read-message.ts';

/** A message taken from a queue, and the only two things that may be done with it. */
export type Held = {
  message: Message;
  /** Removes it from its queue. Without effect once the channel it came by is gone: the broker has it back then. */
  ack(): void;
  /** Puts it back where it was. */
  giveBack(): void;
  /** False once it was settled, or once the broker has taken it back by itself. */
  isHeld(): boolean;
};

type Origin = { queue: string; channel: Channel; isOpen: () => boolean };

export function hold(raw: ConsumeMessage, { queue, channel, isOpen }: Origin): Held {
  let isSettled = false;
  // An acknowledgement on a channel that is gone throws; on its successor it would close that one too.
  const settle = (how: () => void) => {
    if (isSettled || !isOpen()) return;
    isSettled = true;
    try {
      how();
    } catch {
      // The channel went just now.
    }
  };
  return {
    message: readMessage(queue, raw),
    ack: () => settle(() => channel.ack(raw)),
    giveBack: () => settle(() => channel.nack(raw, false, true)),
    isHeld: () => !isSettled && isOpen(),
  };
}
