import { pointTo } from '../http/body.ts';
import type { Fault } from '../http/problem.ts';

const MOST_HEADERS = 5;
const LONGEST_NAME = 100;
const LONGEST_VALUE = 4_096;

/** RFC 9110, 5.6.2. */
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const PRINTABLE = /^[\x20-\x7e]*$/;

/** Headers that callbacks have already, or that frame a message; a constant `Date` is wrong. */
const OWN = new Set(
  [
    'x-service-verification-token user-agent accept-encoding traceparent tracestate date host __proto__',
    'connection keep-alive te trailer trailers transfer-encoding upgrade expect',
  ].flatMap((names) => names.split(' ')),
);
const OWN_PREFIXES = ['webhook-', 'x-webhook-', 'content-', 'proxy-'];

const isOwn = (name: string): boolean => OWN.has(name) || OWN_PREFIXES.some((prefix) => name.startsWith(prefix));

/** Returns faults of the headers for callbacks. No fault shows a value, nor an invalid name. */
export function headerFaults(headers: Record<string, unknown>): Fault[] {
  const entries = Object.entries(headers);
  if (entries.length === 0)
    return [{ pointer: pointTo('headers'), detail: 'has no header: give one, or leave it out' }];
  if (entries.length > MOST_HEADERS)
    return [{ pointer: pointTo('headers'), detail: `has more than ${MOST_HEADERS} headers: give fewer` }];
  const names = entries.map(([name]) => name.toLowerCase());
  return entries.flatMap(([name, value], index) => {
    const isName = TOKEN.test(name) && name.length <= LONGEST_NAME;
    // Name and value may be the wrong way round.
    if (!isName) return [{ pointer: pointTo('headers'), detail: nameDetail(index) }];
    const isTwice = names.indexOf(name.toLowerCase()) < index;
    const detail = isTwice ? 'is there twice: in capitals or not, it is the same header' : headerFault(name, value);
    return detail === null ? [] : [{ pointer: pointTo('headers', name), detail }];
  });
}

const nameDetail = (index: number): string =>
  `has a name, number ${index + 1}, that no header can have: at most ${LONGEST_NAME} letters, digits and - _ . and the like, such as X-Api-Key`;

function headerFault(name: string, value: unknown): string | null {
  if (isOwn(name.toLowerCase()))
    return 'is a header that callbacks have, or may not have: give another, or leave it out';
  if (typeof value !== 'string') return 'must be a string';
  if (value === '') return 'is empty: give a value, or leave the header out';
  if (value.length > LONGEST_VALUE) return `is longer than ${LONGEST_VALUE} characters`;
  if (!PRINTABLE.test(value)) return 'must be visible ASCII characters and blanks, without a line end: encode others';
  return value.trim() === value ? null : 'begins or ends with a blank, which does not arrive: take it out';
}
