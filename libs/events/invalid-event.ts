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

/** `detail` names the place as a JSON pointer into the published body, and says what is expected there. */
export type Invalid = { readonly kind: 'invalid'; readonly reason: InvalidReason; readonly detail: string };
