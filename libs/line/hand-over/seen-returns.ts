import { hash } from 'node:crypto';
import type { Message, Source } from '../messages.ts';

/** Exceeds what any step holds at once. */
const MOST_SEEN = 4_096;

/**
 * Counts how often messages returned to their queues from this process, which lives: its connection broke, or it gave them back. Any
 * other return may have been the crash of a process.
 */
export class SeenReturns {
  readonly #times = new Map<string, number>();

  /** Sets `crashes` of a redelivered message. */
  judge({ raw }: Source): void {
    if (raw === undefined || raw.deliveryCount === 0) return;
    raw.crashes = Math.max(0, raw.deliveryCount - (this.#times.get(identityOf(raw)) ?? 0));
  }

  /** Notes that the message returned to its queue. */
  note({ raw }: Source): void {
    if (raw === undefined) return;
    const name = identityOf(raw);
    const times = (this.#times.get(name) ?? 0) + 1;
    this.#times.delete(name);
    this.#times.set(name, times);
    for (const oldest of this.#times.keys()) {
      if (this.#times.size <= MOST_SEEN) break;
      this.#times.delete(oldest);
    }
  }

  /** Forgets a message that is gone from its queue: a later message of the same name is another one. */
  forget({ raw }: Source): void {
    if (raw !== undefined && raw.deliveryCount > 0) this.#times.delete(identityOf(raw));
  }
}

/** Names a message the same at every delivery from this queue. */
function identityOf({ queue, messageId, note, body }: Message): string {
  const what = messageId === undefined ? hash('sha256', body) : `${messageId} ${note}`;
  return hash('sha256', `${queue} ${what}`).slice(0, 32);
}
