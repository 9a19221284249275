/** A moment in UTC: `second` as `2026-11-20T09:30:00`, `nanoseconds` as nine digits. */
export type Timestamp = { readonly second: string; readonly nanoseconds: string };

const RFC_3339 = /^\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:[Zz]|[+-]\d{2}:?\d{2})$/;
/** The index of the fraction, if there is one. */
const SECOND_END = 19;
const ZERO = 48;
const DIGITS = { milliseconds: 3, microseconds: 6 };

/** Reads a timestamp; null for anything else (`isTimestamp`). */
export function readTimestamp(text: string): Timestamp | null {
  const minute = minuteOf(text);
  return minute === null ? null : { second: minute + text.slice(16, SECOND_END), nanoseconds: fractionOf(text) };
}

/**
 * Whether it is an RFC 3339 timestamp, or one whose offset lacks the colon, with up to nine fractional digits. Nothing else is: a
 * day that its month does not have, a leap second anywhere but at the end of a month in UTC, a moment outside the years 0000 to
 * 9999.
 */
export function isTimestamp(text: string): boolean {
  return minuteOf(text) !== null;
}

/** The minute in UTC, `2026-11-20T09:30`; null if the text is no timestamp. */
function minuteOf(text: string): string | null {
  // Most events carry several, so no groups and no lists: what matches has its digits in known places.
  if (!RFC_3339.test(text)) return null;
  const year = twoDigits(text, 0) * 100 + twoDigits(text, 2);
  const month = twoDigits(text, 5);
  const day = twoDigits(text, 8);
  const hour = twoDigits(text, 11);
  const minute = twoDigits(text, 14);
  const second = twoDigits(text, 17);
  const isZulu = text.endsWith('Z') || text.endsWith('z');
  const offsetHour = isZulu ? 0 : twoDigits(text, text.length - (text.at(-3) === ':' ? 5 : 4));
  const offsetMinute = isZulu ? 0 : twoDigits(text, text.length - 2);
  const isTime = hour < 24 && minute < 60 && second < 61 && offsetHour < 24 && offsetMinute < 60;
  if (!isTime || month < 1 || month > 12 || day < 1 || day > daysIn(year, month)) return null;
  const sign = text.lastIndexOf('-') > SECOND_END - 1 ? -1 : 1;
  const offset = sign * (offsetHour * 60 + offsetMinute);
  const isAsWritten = offset === 0 && text[10] === 'T';
  const inUtc = isAsWritten ? text.slice(0, 16) : minuteInUtc({ year, month, day, hour, minute: minute - offset });
  return inUtc.length !== 16 || (second === 60 && !endsMonth(inUtc)) ? null : inUtc;
}

/** Whether it is a day as RFC 3339 writes it: `2026-11-20`. */
export function isDate(text: string): boolean {
  return text.length === 10 && isTimestamp(`${text}T00:00:00Z`);
}

/** Nine digits. */
function fractionOf(text: string): string {
  if (text[SECOND_END] !== '.') return '000000000';
  let end = SECOND_END + 1;
  while (isDigit(text.charCodeAt(end))) end += 1;
  return text.slice(SECOND_END + 1, end).padEnd(9, '0');
}

function twoDigits(text: string, at: number): number {
  return (text.charCodeAt(at) - ZERO) * 10 + text.charCodeAt(at + 1) - ZERO;
}

function isDigit(code: number): boolean {
  return code >= ZERO && code <= ZERO + 9;
}

/** `2026-11-20T09:30:00.123+0000`, finer digits cut off. */
export function writeTimestamp(timestamp: Timestamp, precision: keyof typeof DIGITS): string {
  return `${timestamp.second}.${timestamp.nanoseconds.slice(0, DIGITS[precision])}+0000`;
}

/** Milliseconds since the epoch; a leap second counts as the one after it. Throws where `text` is no timestamp. */
export function momentOf(text: string): number {
  const timestamp = readTimestamp(text);
  if (timestamp === null) throw new TypeError(`"${text}" is not a timestamp`);
  const minute = Date.parse(`${timestamp.second.slice(0, 16)}:00Z`);
  return minute + Number(timestamp.second.slice(17)) * 1_000 + Number(timestamp.nanoseconds.slice(0, 3));
}

function daysIn(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

/** `2026-11-20T09:30`; longer outside the years 0000 to 9999. */
function minuteInUtc(local: { year: number; month: number; day: number; hour: number; minute: number }): string {
  const date = new Date(0);
  date.setUTCFullYear(local.year, local.month - 1, local.day);
  date.setUTCHours(local.hour, local.minute);
  return date.toISOString().slice(0, -8);
}

function endsMonth(minute: string): boolean {
  const [year = 0, month = 0, day = 0] = minute.slice(0, 10).split('-').map(Number);
  return minute.endsWith('23:59') && day === daysIn(year, month);
}

const GUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi;
const LENGTH = 36;
const WHOLE_GUID = new RegExp(`^${GUID.source}$`, 'i');

/** Whether it is a UUID of any version: upstream and issuers of tokens are not asked how they make theirs. */
export function isGuid(value: unknown): value is string {
  return typeof value === 'string' && value.length === LENGTH && WHOLE_GUID.test(value);
}

const SPELLED = new RegExp(String.raw`^\s*(?:urn:uuid:)?\{?\s*(${GUID.source})\s*\}?\s*$`, 'i');

/** A guid in lower case, however it is spelled: with braces, as a URN, between spaces. */
export function readGuid(value: unknown): string | undefined {
  return typeof value === 'string' ? SPELLED.exec(value)?.[1]?.toLowerCase() : undefined;
}

const CAPITAL = /[A-F]/;

/** A guid in lower case: the same text, not a copy, where it is so already. */
export function lowerGuid(guid: string): string {
  return CAPITAL.test(guid) ? guid.toLowerCase() : guid;
}

/** Returns the guids in a text, as they are written there. */
export function guidsOf(text: string): string[] {
  return text.match(GUID) ?? [];
}
