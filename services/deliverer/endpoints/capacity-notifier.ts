import type { Clock, Timer } from '@waybell/runtime/clock';
import type { KnownEndpoint } from './known-endpoint.ts';
import { SlotQueues, ENDPOINT_CLASSES, type Slots, type EndpointClass } from './slots.ts';

export type CapacityNotifierOptions = {
  clock: Clock;
  slots: Slots;
  onCapacity: (endpoint: string) => void;
  /** Called after each pause: slots may be free that no notified room has used. */
  onUnused: () => void;
};

/**
 * A notified room has this long to use a slot before others are notified of the same slot: it may have to be claimed, and is
 * read. The slot for a hung endpoint is kept for this time.
 */
const PAUSE_MS = 50;
/** Rooms notified at least in that time, if their order does not matter. */
const LEAST_NOTIFIED = 16;

/** Notifies of capacity of endpoints that rooms wait for, one after another: of no more at once than there are free slots. */
export class CapacityNotifier {
  readonly #options: CapacityNotifierOptions;
  readonly #slotQueues = new SlotQueues<KnownEndpoint>();
  /** Rooms notified in this pause. */
  #notified: Record<EndpointClass, number> = { hung: 0, new: 0, slow: 0, quick: 0 };
  /** Hung endpoints among them, which have not used their slot. */
  readonly #reserved = new Set<KnownEndpoint>();
  #pending: string[] = [];
  #pause: Timer | undefined;

  constructor(options: CapacityNotifierOptions) {
    this.#options = options;
  }

  enqueue(endpoint: KnownEndpoint): void {
    this.#slotQueues.enqueue(endpoint, this.#options.clock.now());
  }

  /** A probe of this endpoint would overtake no room that waits to be notified. */
  isInTurn(endpoint: KnownEndpoint): boolean {
    return endpoint.wasNotified || this.#slotQueues.next(this.#options.slots, 'hung') === undefined;
  }

  /** Whether a slot is kept for it. */
  hasReserved(endpoint: KnownEndpoint): boolean {
    return this.#reserved.has(endpoint);
  }

  /** Gives up the slot that was kept for it. */
  release(endpoint: KnownEndpoint): void {
    if (this.#reserved.delete(endpoint)) this.#options.slots.reserved -= 1;
  }

  /** Notifies of free slots. */
  notify(): void {
    const { slots } = this.#options;
    for (const endpointClass of ENDPOINT_CLASSES) {
      const isHung = endpointClass === 'hung';
      const free = slots.free(endpointClass) + (isHung ? this.#reserved.size : 0);
      const most = Math.max(free, isHung ? 0 : LEAST_NOTIFIED);
      while (this.#notified[endpointClass] < most) {
        const endpoint = this.#slotQueues.dequeue(slots, endpointClass);
        if (endpoint === undefined) break;
        this.#notified[endpointClass] += 1;
        if (isHung) this.#reserve(endpoint);
        this.notifyCapacity(endpoint);
        this.#startPause();
      }
    }
  }

  notifyCapacity(endpoint: KnownEndpoint): void {
    endpoint.awaitsCapacity = false;
    endpoint.wasNotified = true;
    // In a microtask: the notified may ask at once.
    if (this.#pending.push(endpoint.key) === 1) queueMicrotask(() => this.#flush());
  }

  #reserve(endpoint: KnownEndpoint): void {
    this.#reserved.add(endpoint);
    this.#options.slots.reserved = this.#reserved.size;
  }

  #flush(): void {
    for (const name of this.#pending.splice(0)) this.#options.onCapacity(name);
  }

  #startPause(): void {
    if (this.#pause !== undefined) return;
    this.#pause = this.#options.clock.after(PAUSE_MS, () => {
      this.#pause = undefined;
      this.#notified = { hung: 0, new: 0, slow: 0, quick: 0 };
      this.#reserved.clear();
      this.#options.slots.reserved = 0;
      this.#options.onUnused();
    });
    this.#pause.unref();
  }
}
