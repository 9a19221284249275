import type { Clock } from '@waybell/runtime/clock';
import type { Destination } from '../publish-errors.ts';

type PutOff = { delayMs: number; until: number };

const FIRST_DELAY_MS = 1_000;
export const LONGEST_DELAY_MS = 15_000;

/** Destinations that took nothing lately: each is tried again with one message, later each time, and holds up no other. */
export class PutOffDestinations {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #putOff = new Map<string, PutOff>();

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
  }

  /** Returns after how many milliseconds it may be tried again. */
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

  /** It takes messages again. */
  restore(destination: Destination): void {
    this.#putOff.delete(nameOf(destination));
  }

  /** What was so before the broker came back says nothing: each may be tried at once. */
  tryAll(): void {
    for (const known of this.#putOff.values()) known.until = -Infinity;
  }
}

function nameOf({ exchange, routingKey }: Destination): string {
  return `${exchange} ${routingKey}`;
}
