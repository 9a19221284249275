import type { ConsumeMessage } from 'amqplib';
import type { Message } from '../messages.ts';
import type { Acknowledger } from './acknowledger.ts';
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

type Origin = { queue: string; acknowledger: Acknowledger; isOpen: () => boolean; onSettled: () => void };

export function hold(raw: ConsumeMessage, { queue, acknowledger, isOpen, onSettled }: Origin): Held {
  let isSettled = false;
  // An acknowledgement on the successor of its channel would close that one too.
  const settle = (how: () => void) => {
    if (isSettled || !isOpen()) return;
    isSettled = true;
    onSettled();
    how();
  };
  return {
    message: readMessage(queue, raw),
    ack: () => settle(() => acknowledger.ack(raw)),
    giveBack: () => settle(() => acknowledger.giveBack(raw)),
    isHeld: () => !isSettled && isOpen(),
  };
}
