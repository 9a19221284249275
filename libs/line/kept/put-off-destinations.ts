import type { Clock } from '@waybell/runtime/clock';
import type { Destination } from '../publish-errors.ts';

type PutOff = { delayMs: number; until: number };

const FIRST_DELAY_MS = 1_000;
export const LONGEST_DELAY_MS = 15_000;

/** Tracks destinations that took nothing lately. Each is retried with one message, after a delay that doubles. */
export class PutOffDestinations {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #putOff = new Map<string, PutOff>();

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
  }

  /** Returns the delay until the next try, in milliseconds. */
  putOff(destination: Destination): number {
    const known = this.#putOff.get(nameOf(destination));
    const delayMs = known === undefined ? FIRST_DELAY_MS : Math.min(known.delayMs * 2, LONGEST_DELAY_MS);
    this.#putOff.set(nameOf(destination), { delayMs, until: this.#clock.now() + delayMs });
    return delayMs;
  }

  isKnown(destination: Destination): boolean {
    return this.#putOff.has(nameOf(destination));
  }

  mayBeTried(destination: Destination): boolean {
    return (this.#putOff.get(nameOf(destination))?.until ?? -Infinity) <= this.#clock.now();
  }

  /** Forgets a destination that takes messages again. */
  restore(destination: Destination): void {
    this.#putOff.delete(nameOf(destination));
  }

  /** Lets every destination be tried at once: the broker has come back. */
  tryAll(): void {
    for (const known of this.#putOff.values()) known.until = -Infinity;
  }
}

function nameOf({ exchange, routingKey }: Destination): string {
  return `${exchange} ${routingKey}`;
}
