/**
 * Pages of the log, newest first. A page ends at a cursor, after which the next one begins. Few entries may match a filter, and only
 * reading them shows which: `scanLog` reads candidates for them, a bounded number for each page.
 */

/** The next page begins after this entry. */
export type Cursor = { at: number; guid: string };

/** After every entry. */
export const LATEST: Cursor = { at: 8.64e15, guid: 'ffffffff-ffff-ffff-ffff-ffffffffffff' };

const EARLIEST_GUID = '00000000-0000-0000-0000-000000000000';

/** Returns the place after which all entries lie before a time, in milliseconds since the epoch, and after a place. */
export const placeBefore = (until: number, before: Cursor): Cursor =>
  before.at < until ? before : { at: until, guid: EARLIEST_GUID };

/** `before`: where the page begins; absent: the first page. */
export type PageRequest = { before?: Cursor | undefined; limit: number };
export type Page<T> = { entries: T[]; next?: Cursor };

/** Pattern of a written cursor: any match can be read, and its time fits a Date. */
export const CURSOR_PATTERN = '^[0-9]{1,15}_[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$';

/** The text is opaque to clients, so that it may change. */
export function writeCursor({ at, guid }: Cursor): string {
  return `${at}_${guid}`;
}

/** Reads a text that matches the pattern. */
export function readCursor(text: string): Cursor {
  const [at = '', guid = ''] = text.split('_');
  return { at: Number(at), guid };
}

/** Candidates in order. `isLast`: there are no more. `readTo`: the next ones come after this place, if not after the last one's. */
export type Found<C> = { candidates: C[]; isLast: boolean; readTo?: Cursor };

type AtPlace = { place: Cursor };

type LogScan<C extends AtPlace, T> = PageRequest & {
  /** Finds candidates after a place. */
  find: (before: Cursor, limit: number) => Promise<Found<C>>;
  /** Returns the entries of each candidate, few or none. */
  entriesOf: (candidates: readonly C[]) => Promise<(readonly T[])[]>;
  /** Whether few candidates may have an entry. */
  isRare?: boolean;
  /** Whether the last candidate's entries may exceed the limit: nobody asks for the next page. */
  mayExceed?: boolean;
};

/** Number of candidates that are read together if not each has an entry. */
const TOGETHER = 200;
/** Limit of the candidates that are read for one page. */
const MOST_CANDIDATES = 1_000;

/**
 * Finds a page of entries among candidates. Reads a bounded number: a page may hold few or none without being the last. `next` is
 * the place of the last candidate that was read.
 */
export async function scanLog<C extends AtPlace, T>(scan: LogScan<C, T>): Promise<Page<T>> {
  const { find, entriesOf, before = LATEST, limit, isRare = false, mayExceed = false } = scan;
  const entries: T[] = [];
  let place = before;
  let together = isRare ? TOGETHER : limit;
  for (let read = 0; read < MOST_CANDIDATES; read += together) {
    if (read > 0) together = TOGETHER;
    const { candidates, isLast, readTo } = await find(place, together);
    const found = await entriesOf(candidates);
    for (const [index, candidate] of candidates.entries()) {
      const matching = found[index] ?? [];
      if (!mayExceed && entries.length > 0 && entries.length + matching.length > limit) return { entries, next: place };
      entries.push(...matching);
      place = candidate.place;
    }
    place = readTo ?? place;
    if (isLast) return { entries };
    if (entries.length >= limit) return { entries, next: place };
  }
  return { entries, next: place };
}
