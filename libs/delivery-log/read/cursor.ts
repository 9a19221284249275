/** The place where the next page begins: behind this entry. */
export type Cursor = { at: number; guid: string };

/** `before`: where the page begins; the first one where it is left out. */
export type PageRequest = { before?: Cursor | undefined; limit: number };
export type Page<T> = { entries: T[]; next?: Cursor };

/** How a cursor is written, as a pattern: whatever is so written can be read, and is a moment that a Date can hold. */
export const CURSOR_PATTERN = '^[0-9]{1,15}_[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$';

/** The text is not for clients to read, so that it may change. */
export function writeCursor({ at, guid }: Cursor): string {
  return `${at}_${guid}`;
}

/** Reads a text that has the pattern. */
export function readCursor(text: string): Cursor {
  const [at = '', guid = ''] = text.split('_');
  return { at: Number(at), guid };
}
