import { PAGE_SIZE } from '@waybell/contracts/openapi/delivery-log-paths';
import type { Cursor, Page } from '@waybell/delivery-log/read/entries';
import { isGuid } from '@waybell/events/guid';
import { Refusal } from '../../refusal.ts';
import { wholeNumber } from '../http/read-query.ts';

/** The parameters by which a client goes from page to page. */
export const pagingParameters = { limit: wholeNumber(PAGE_SIZE), cursor: readCursor };

export function pagingOf({ limit, cursor }: { limit: number | undefined; cursor: Cursor | undefined }) {
  return { limit: limit ?? PAGE_SIZE.default, before: cursor };
}

/** A page as it is answered. The cursor is for nobody to read, so that it may change. */
export function pageView<T>({ entries, next }: Page<T>, view: (entry: T) => object) {
  return { objects: entries.map(view), next: next === undefined ? null : writeCursor(next) };
}

function writeCursor({ at, guid }: Cursor): string {
  return Buffer.from(`${at}/${guid}`).toString('base64url');
}

// The latest moment that a Date can hold.
const LATEST_MS = 8.64e15;

function readCursor(text: string): Cursor {
  const [at = '', guid] = Buffer.from(text, 'base64url').toString().split('/', 2);
  if (!/^\d{1,16}$/.test(at) || Number(at) > LATEST_MS || !isGuid(guid)) {
    throw new Refusal('must be the "next" of a page of the same request');
  }
  return { at: Number(at), guid };
}
