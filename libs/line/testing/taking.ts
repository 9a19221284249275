import type { ConsumeCallbacks } from '../broker.ts';
import type { Message, Source } from '../messages.ts';

/** A message that a test holds. */
export type HeldMessage = Pick<Source, 'acknowledge' | 'giveBack'> & { message: Message; isHeld(): boolean };

/** Callbacks that pass each message to the test, and track whether it is held. */
export function taking(onTaken: (held: HeldMessage) => void): ConsumeCallbacks {
  const held = new Set<Source>();
  return {
    onTaken: (source) => {
      const [message] = source.messages;
      if (message === undefined) throw new Error('a source without a message');
      held.add(source);
      onTaken({
        message,
        isHeld: () => held.has(source),
        acknowledge: () => {
          held.delete(source);
          source.acknowledge();
        },
        giveBack: () => {
          held.delete(source);
          source.giveBack();
        },
      });
    },
    onCut: (source) => void held.delete(source),
  };
}
