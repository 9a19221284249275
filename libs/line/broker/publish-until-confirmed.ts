import type { Clock } from '@waybell/runtime/clock';
import type { Publication } from '../messages.ts';
import { Stalled, Unconfirmed } from './publish-errors.ts';
import type { Publisher } from './publisher.ts';

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
 * not repeated because the broker stumbled. Rejects with `NoLongerHeld`, `Unroutable` or `TooLarge`.
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
      if (!(error instanceof Unconfirmed || error instanceof Stalled)) throw error;
      if (!isHeld()) throw new NoLongerHeld();
      await clock.sleep(delayMs);
    }
  }
}
