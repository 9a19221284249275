import type { Clock } from '@waybell/runtime/clock';

type Place = { exchange: string; routingKey: string };
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
  putOff(place: Place): number {
    const known = this.#putOff.get(nameOf(place));
    const delayMs = known === undefined ? FIRST_DELAY_MS : Math.min(known.delayMs * 2, LONGEST_DELAY_MS);
    this.#putOff.set(nameOf(place), { delayMs, until: this.#clock.now() + delayMs });
    return delayMs;
  }

  isKnown(place: Place): boolean {
    return this.#putOff.has(nameOf(place));
  }

  mayBeTried(place: Place): boolean {
    return (this.#putOff.get(nameOf(place))?.until ?? -Infinity) <= this.#clock.now();
  }

  /** It takes messages again. */
  restore(place: Place): void {
    this.#putOff.delete(nameOf(place));
  }

  /** What was so before the broker came back says nothing: each may be tried at once. */
  tryAll(): void {
    for (const known of this.#putOff.values()) known.until = -Infinity;
  }
}

function nameOf({ exchange, routingKey }: Place): string {
  return `${exchange} ${routingKey}`;
}
