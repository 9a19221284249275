import { readCursor, writeCursor, type Page } from '@waybell/delivery-log/read/cursor';

export type PagingQuery = { limit: number; cursor?: string };

export function pagingOf({ limit, cursor }: PagingQuery) {
  return { limit, before: cursor === undefined ? undefined : readCursor(cursor) };
}

/** A page as it is answered. */
export function pageView<T>({ entries, next }: Page<T>, view: (entry: T) => object) {
  return { objects: entries.map(view), next: next === undefined ? null : writeCursor(next) };
}
