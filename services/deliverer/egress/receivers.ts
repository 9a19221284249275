import { isIP } from 'node:net';
import { LRUCache } from 'lru-cache';

/** A receiver's origin; times are milliseconds of the clock. */
type KnownReceiver = { address: string | undefined; wellAt: number; isReached: boolean; heardAt: number };

/** Number of receivers reached and not reached, each at another address. */
export type Tally = { reached: number; lost: number };

const MOST = 2_000;
/** Fewer receivers, each at another address, say nothing about our own network. */
export const FEWEST = 4;
/** A receiver that answered longer ago may be away for its own reasons. */
export const WELL_MS = 600_000;
const NEVER = -Infinity;

/** Receivers that answered lately, and whether they can be reached now. Those at one address count as one. */
export class Receivers {
  // The most recent comes first.
  readonly #known = new LRUCache<string, KnownReceiver>({ max: MOST });

  reached(origin: string, address: string | undefined, at: number): void {
    this.#known.set(origin, { address, wellAt: at, isReached: true, heardAt: at });
  }

  /** Another process knows that the receiver answered lately. */
  remember(origin: string, at: number): void {
    if (!this.#known.has(origin)) {
      this.#known.set(origin, { address: undefined, wellAt: at, isReached: true, heardAt: NEVER });
    }
  }

  /** The receiver could not be connected to. Ignored where it did not answer lately: that says nothing. */
  lost(origin: string, at: number): void {
    const known = this.#known.peek(origin);
    if (known === undefined || at - known.wellAt > WELL_MS) return;
    this.#known.set(origin, { ...known, isReached: false, heardAt: at });
  }

  /** Its address when it last answered. */
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

  /** Counts the most recent receivers heard of since `at`, without `but`. */
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

  /**
   * Random origins at different addresses that answered not long before `before`; only those with names where they are
   * enough.
   */
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

/** Whether the origin has a name. A literal address never leads astray: reaching it says nothing of names. */
export function isNamed(origin: string): boolean {
  const { hostname = '' } = URL.parse(origin) ?? {};
  return isIP(hostname.replace(/^\[(.*)\]$/, '$1')) === 0;
}

/** Counts the addresses that were reached, and those that were not. */
export function tallyOf(heard: ReadonlyMap<string, boolean>): Tally {
  const reached = [...heard.values()].filter(Boolean).length;
  return { reached, lost: heard.size - reached };
}
