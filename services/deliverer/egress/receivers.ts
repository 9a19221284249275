import { isIP } from 'node:net';
import { LRUCache } from 'lru-cache';

/** What is known of a receiver's origin; times are milliseconds of the clock. */
type KnownReceiver = { address: string | undefined; wellAt: number; isReached: boolean; heardAt: number };

/** How many, each of another address. */
export type Tally = { reached: number; lost: number };

const MOST = 2_000;
/** Fewer receivers, each of another address, say nothing about what they have in common. */
export const FEWEST = 4;
/** One that answered so long ago may be away for its own reasons. */
export const WELL_MS = 600_000;
const NEVER = -Infinity;

/** Receivers that answered lately, and whether they can be reached now. Those behind one address are one. */
export class Receivers {
  // The one that was heard of last comes first.
  readonly #known = new LRUCache<string, KnownReceiver>({ max: MOST });

  reached(origin: string, address: string | undefined, at: number): void {
    this.#known.set(origin, { address, wellAt: at, isReached: true, heardAt: at });
  }

  /** It answered not long ago, by what others say. */
  remember(origin: string, at: number): void {
    if (!this.#known.has(origin)) {
      this.#known.set(origin, { address: undefined, wellAt: at, isReached: true, heardAt: NEVER });
    }
  }

  /** It could not be connected to. Of one that did not answer lately, that says nothing. */
  lost(origin: string, at: number): void {
    const known = this.#known.peek(origin);
    if (known === undefined || at - known.wellAt > WELL_MS) return;
    this.#known.set(origin, { ...known, isReached: false, heardAt: at });
  }

  /** Where it was when it was well. */
  addressOf(origin: string): string | undefined {
    return this.#known.peek(origin)?.address;
  }

  /** Whether it is known to have been well, at another address. */
  isElsewhere(origin: string, address: string): boolean {
    return (this.addressOf(origin) ?? address) !== address;
  }

  forget(origin: string): void {
    this.#known.delete(origin);
  }

  /** The tally of the last few that were heard of since then, this one aside. */
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

  /** Origins of different addresses that were well not long before, at random; of those with names alone where they are enough. */
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

/** Whether it is found by a name. A literal address is never led astray: that it is reached says nothing of names. */
export function isNamed(origin: string): boolean {
  const { hostname = '' } = URL.parse(origin) ?? {};
  return isIP(hostname.replace(/^\[(.*)\]$/, '$1')) === 0;
}

/** Counts the addresses that were reached, and those that were not. */
export function tallyOf(heard: ReadonlyMap<string, boolean>): Tally {
  const reached = [...heard.values()].filter(Boolean).length;
  return { reached, lost: heard.size - reached };
}
