import { isIP } from 'node:net';
import { LRUCache } from 'lru-cache';

/** A receiver's origin; times are milliseconds of the clock. */
type KnownReceiver = { address: string | undefined; wellAt: number; isReached: boolean; heardAt: number };

/** Number of receivers reached and not reached, counting each address once. */
export type Tally = { reached: number; lost: number };

const MOST = 2_000;
/** With fewer receivers, each at another address, nothing is known about our own network. */
export const FEWEST = 4;
/** A receiver whose last answer is older may be away for its own reasons. */
export const WELL_MS = 600_000;
const NEVER = -Infinity;

/** Receivers that answered recently, and whether they can be reached now. Those at one address count as one. */
export class Receivers {
  // Most recent first.
  readonly #known = new LRUCache<string, KnownReceiver>({ max: MOST });

  reached(origin: string, address: string | undefined, at: number): void {
    const known = this.#known.get(origin);
    if (known === undefined) {
      this.#known.set(origin, { address, wellAt: at, isReached: true, heardAt: at });
      return;
    }
    known.address = address;
    known.wellAt = at;
    known.isReached = true;
    known.heardAt = at;
  }

  /** Adds a receiver that answered another process recently. */
  remember(origin: string, at: number): void {
    if (!this.#known.has(origin)) {
      this.#known.set(origin, { address: undefined, wellAt: at, isReached: true, heardAt: NEVER });
    }
  }

  /** Notes that a connection to the receiver failed. Ignores receivers that did not answer recently: that says nothing. */
  lost(origin: string, at: number): void {
    const known = this.#known.peek(origin);
    if (known === undefined || at - known.wellAt > WELL_MS) return;
    this.#known.set(origin, { ...known, isReached: false, heardAt: at });
  }

  /** Returns its address when it last answered. */
  addressOf(origin: string): string | undefined {
    return this.#known.peek(origin)?.address;
  }

  /** Whether it last answered at another address. */
  isElsewhere(origin: string, address: string): boolean {
    return (this.addressOf(origin) ?? address) !== address;
  }

  forget(origin: string): void {
    this.#known.delete(origin);
  }

  /** Counts the most recent receivers with news since `at`, without `but`. */
  heardSince(at: number, but: string, most: number): Tally {
    const own = this.#known.peek(but)?.address;
    const heard = new Map<string, boolean>();
    for (const [origin, { address = origin, isReached, heardAt }] of this.#known.entries()) {
      if (heardAt === NEVER) continue;
      if (heardAt < at || heard.size === most) break;
      if (origin !== but && address !== own && !heard.has(address)) heard.set(address, isReached);
    }
    return tallyOf(heard);
  }

  /** Returns random origins, at different addresses, that answered shortly before `before`; only names, if they suffice. */
  some(before: number, most: number): string[] {
    const byAddress = new Map<string, string>();
    const namedByAddress = new Map<string, string>();
    for (const [origin, { address = origin, wellAt }] of this.#known.entries()) {
      if (before - wellAt > WELL_MS) continue;
      byAddress.set(address, origin);
      if (isNamed(origin)) namedByAddress.set(address, origin);
    }
    const origins = [...(namedByAddress.size < FEWEST ? byAddress : namedByAddress).values()];
    while (origins.length > most) origins.splice(Math.floor(Math.random() * origins.length), 1);
    return origins;
  }
}

/** Whether the origin has a name. Reaching a literal address says nothing about how names resolve. */
export function isNamed(origin: string): boolean {
  const { hostname = '' } = URL.parse(origin) ?? {};
  return isIP(hostname.replace(/^\[(.*)\]$/, '$1')) === 0;
}

/** Counts the addresses that were reached, and those that were not. */
export function tallyOf(heard: ReadonlyMap<string, boolean>): Tally {
  const reached = [...heard.values()].filter(Boolean).length;
  return { reached, lost: heard.size - reached };
}
