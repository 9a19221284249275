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
