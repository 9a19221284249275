import { LATEST, type Cursor, type Page, type PageRequest } from './cursor.ts';

type AtPlace = { place: Cursor };

/**
 * Candidates in order. `isLast`: there are no more. `lookedAt`: the next ones come after this place, if not after the last one's.
 */
export type Found<C> = { candidates: C[]; isLast: boolean; lookedAt?: Cursor };

type Looking<C extends AtPlace, T> = PageRequest & {
  /** Finds candidates after a place. */
  find: (before: Cursor, limit: number) => Promise<Found<C>>;
  /** Returns the entries of each candidate, few or none. */
  entriesOf: (candidates: readonly C[]) => Promise<(readonly T[])[]>;
  /** Whether few candidates may have an entry. */
  isRare?: boolean;
  /** Whether the last candidate's entries may exceed the limit: nobody asks for the next page. */
  mayExceed?: boolean;
};

/** Number of candidates read together if not each has an entry, and for one page. */
const TOGETHER = 200;
const LOOKED_AT = 1_000;

/**
 * Finds a page of entries among candidates. Reads a bounded number: a page may hold few or none without being the last. `next` is
 * the place of the last candidate that was read.
 */
export async function scanLog<C extends AtPlace, T>(asked: Looking<C, T>): Promise<Page<T>> {
  const { find, entriesOf, before = LATEST, limit, isRare = false, mayExceed = false } = asked;
  const entries: T[] = [];
  let place = before;
  let together = isRare ? TOGETHER : limit;
  for (let lookedAt = 0; lookedAt < LOOKED_AT; lookedAt += together) {
    if (lookedAt > 0) together = TOGETHER;
    const { candidates, isLast, lookedAt: next } = await find(place, together);
    const found = await entriesOf(candidates);
    for (const [index, candidate] of candidates.entries()) {
      const own = found[index] ?? [];
      if (!mayExceed && entries.length > 0 && entries.length + own.length > limit) return { entries, next: place };
      entries.push(...own);
      place = candidate.place;
    }
    place = next ?? place;
    if (isLast) return { entries };
    if (entries.length >= limit) return { entries, next: place };
  }
  return { entries, next: place };
}
