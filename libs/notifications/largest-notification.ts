/**
 * No notification of an event of this many bytes is larger. Most are about as large as their event; but the revision form has an
 * old and a new value of each member of an object, so that `"a":1,` becomes `"a":{"old_value":null,"new_value":1},`.
 */
export function largestNotification(eventBytes: number): number {
  return Math.ceil(eventBytes * MOST_TIMES) + BESIDE_BYTES;
}

const MOST_TIMES = 6.2;
/** Common members, and those of the event's envelope. */
const BESIDE_BYTES = 1_024;
