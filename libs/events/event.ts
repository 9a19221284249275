import type { Action } from '@waybell/catalog/action';
import type { JsonObject } from './json.ts';
import type { Timestamp } from './timestamp.ts';
import type { UnknownMembers } from './unknown-members.ts';

/** An event that keeps the contract with upstream, ready to be announced. */
export type Event = {
  /** Lower case, as all guids here that are compared. */
  readonly guid: string;
  /** The action that subscribers know: for an ignored event, the `.ignored` one, whichever upstream wrote. */
  readonly action: Action;
  readonly occurredAt: Timestamp;
  /** Guids of the accounts that receive it, each once. */
  readonly receivers: readonly string[];
  readonly errorMessage: string | null;
  /** The payload as upstream sent it, members unknown to the action included. */
  readonly payload: JsonObject;
  /** The subject of a CloudEvent that has one. */
  readonly subject?: string;
  /** Unknown members of the envelope and of the payload. */
  readonly unknownMembers: UnknownMembers;
  /** SHA-256 of the body as published, hexadecimal: distinguishes a repeat from another event with the same guid. */
  readonly fingerprint: string;
};
