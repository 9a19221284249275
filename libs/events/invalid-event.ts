import { printable } from './json-pointer.ts';
import type { JsonFault } from './read-json.ts';

/** Why an event is not one. A closed list: operators count and search by it. */
export type InvalidReason =
  | JsonFault
  | 'too_large'
  | 'unknown_encoding'
  | 'broken_gzip'
  | 'unknown_action'
  | 'routing_key_differs'
  | 'message_id_differs'
  | 'party_missing'
  | 'not_ignorable'
  | 'envelope_invalid'
  | 'payload_invalid';

export type Invalid = {
  readonly kind: 'invalid';
  readonly reason: InvalidReason;
  /** Describes the fault: its place, as a JSON pointer into the published body, and the expected value. */
  readonly detail: string;
  /** The pointer to the fault; absent if the body or the message as a whole is at fault. */
  readonly place?: string;
  /** `<interface>.<action>` as it says, where there is no such action. */
  readonly unknown?: string;
};

/**
 * Describes a fault at a place, safe for a log line. Shortens the place only: the expectation stays whole, however long the names
 * are.
 */
export function invalidAt(reason: InvalidReason, pointer: string, what: string): Invalid {
  const place = printable(pointer);
  return { kind: 'invalid', reason, place, detail: `${place}: ${what}` };
}
