import type { KnownEndpoint } from './known-endpoint.ts';
import { SlotQueues, ENDPOINT_CLASSES, type Slots, type EndpointClass } from './slots.ts';

/**
 * A notified room has this long to use a slot before others are notified of the same slot: it may have to be claimed, and is
 * read. The slot for a hung endpoint is kept for this time.
 */
export const PAUSE_MS = 50;
/** Rooms notified at least in that time, if their order does not matter. */
const LEAST_NOTIFIED = 16;

/** Chooses which endpoints whose rooms lack a slot are notified, one after another: no more at once than there are free slots. */
export class CapacityNotifier {
  readonly #slots: Slots;
  readonly #slotQueues = new SlotQueues<KnownEndpoint>();
  /** Rooms notified in this pause. */
  #notified: Record<EndpointClass, number> = { hung: 0, new: 0, slow: 0, quick: 0 };
  /** Hung endpoints among them, which have not used their slot. */
  readonly #reserved = new Set<KnownEndpoint>();

  constructor(slots: Slots) {
    this.#slots = slots;
  }

  enqueue(endpoint: KnownEndpoint, now: number): void {
    this.#slotQueues.enqueue(endpoint, now);
  }

  /** A probe of this endpoint would overtake no room that waits to be notified. */
  isInTurn(endpoint: KnownEndpoint): boolean {
    return endpoint.wasNotified || this.#slotQueues.next(this.#slots, 'hung') === undefined;
  }

  /** Whether a slot is kept for it. */
  hasReserved(endpoint: KnownEndpoint): boolean {
    return this.#reserved.has(endpoint);
  }

  /** Gives up the slot that was kept for it. */
  release(endpoint: KnownEndpoint): void {
    if (this.#reserved.delete(endpoint)) this.#slots.reserved -= 1;
  }

  /** Removes and returns the next to be notified of a free slot. The caller ends the pause after the first of them. */
  next(): KnownEndpoint | undefined {
    for (const endpointClass of ENDPOINT_CLASSES) {
      const isHung = endpointClass === 'hung';
      const free = this.#slots.free(endpointClass) + (isHung ? this.#reserved.size : 0);
      if (this.#notified[endpointClass] >= Math.max(free, isHung ? 0 : LEAST_NOTIFIED)) continue;
      const endpoint = this.#slotQueues.dequeue(this.#slots, endpointClass);
      if (endpoint === undefined) continue;
      this.#notified[endpointClass] += 1;
      if (isHung) this.#reserve(endpoint);
      return endpoint;
    }
    return undefined;
  }

  /** The pause is over: slots may be free that no notified room has used. */
  endPause(): void {
    this.#notified = { hung: 0, new: 0, slow: 0, quick: 0 };
    this.#reserved.clear();
    this.#slots.reserved = 0;
  }

  #reserve(endpoint: KnownEndpoint): void {
    this.#reserved.add(endpoint);
    this.#slots.reserved = this.#reserved.size;
  }
}
