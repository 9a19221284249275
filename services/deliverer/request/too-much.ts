import type { TooMuch } from '../endpoints/endpoint.ts';

/** Headers with the pause that a receiver asks for; empty if absent. */
export type RestHeaders = { retryAfter: string; date: string };

/** Too Many Requests (RFC 6585, 4) and Service Unavailable (RFC 9110, 15.6.4). */
const TOO_MUCH = new Set([429, 503]);
const LONGEST_MS = 300_000;
const SECONDS = /^\d+(\.\d+)?$/;

/** Undefined unless the status is 429 or 503. The last of several headers counts. */
export function restHeaders(status: number, headers: Record<string, unknown>): RestHeaders | undefined {
  if (!TOO_MUCH.has(status)) return undefined;
  const last = (name: string) => {
    const value = [headers[name]].flat().at(-1);
    return typeof value === 'string' ? value.trim() : '';
  };
  return { retryAfter: last('retry-after'), date: last('date') };
}

/**
 * Reads Retry-After: seconds, or a date, by the receiver's own clock if the response has a Date (RFC 9110, 10.2.3). At most
 * five minutes; a value that is not positive or cannot be read is ignored. `now`: milliseconds since 1970.
 */
export function readTooMuch({ retryAfter, date }: RestHeaders, now: number): TooMuch {
  const said = momentOf(date);
  const from = Number.isNaN(said) ? now : said;
  const askedMs = SECONDS.test(retryAfter) ? Number(retryAfter) * 1_000 : momentOf(retryAfter) - from;
  return askedMs > 0 ? { askedMs: Math.min(askedMs, LONGEST_MS) } : {};
}

/** Date.parse alone takes anything with a number in it for a date. */
const momentOf = (text: string): number => (/^([a-z]{3,9},? |\d{4}-)/i.test(text) ? Date.parse(text) : NaN);
