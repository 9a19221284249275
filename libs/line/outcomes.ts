import type { DropReason, FailureReason, SuppressionReason, UnattemptedReason } from './reasons.ts';

/**
 * The fate of an event, and of each attempt. Published in batches (`outcome-batch.ts`) to `waybell.outcomes`; times are
 * milliseconds since the epoch, guids lower-case.
 */
export type InterfaceName = 'shipper' | 'carrier';

/** Without a subscription it is of all the account's clients; without an account, of the event as a whole. */
export type Suppression = { reason: SuppressionReason; account?: string; client?: string; subscription?: string };

/** One of the deliveries that an event caused, and whose it is. */
export type Addressed = { delivery: string; subscription: string; account: string; client: string };

/** A name of the thing that an event is about: its kind (`order_guid`, `order_id`, `vin`), and its text as in the event. */
export type Key = { readonly kind: string; readonly key: string };

/** An event as upstream published it, for as long as bodies are kept: what was not sent can be made of it. */
export type KeptEvent = {
  /** Those of the receivers that Waybell knows. */
  accounts: readonly string[];
  body: string | Buffer;
  /** Present where it says which of the two envelopes it has. */
  contentType?: string;
};

/** The router's verdict on one event: the deliveries it caused, and who got nothing and why. */
export type Routed = {
  kind: 'routed';
  event: string;
  interface: InterfaceName;
  action: string;
  at: number;
  /** The things that the event is about: order, vehicles, offer and so on. */
  keys: readonly Key[];
  /** The accounts that it is for. */
  receivers: readonly string[];
  /** Absent where no account is known that it is for. */
  kept?: KeptEvent;
  deliveries: Addressed[];
  suppressed: Suppression[];
  /** Members of the event that its action does not define; left out of the notification. */
  unknownMembers: number;
};

/** An event, or a delivery, went to the rejected queue; what of it could be read. */
export type Rejected = {
  kind: 'rejected';
  /** Made of its bytes where no guid could be read; `detail` says so. */
  event: string;
  /** Null where it could not be told. */
  interface: InterfaceName | null;
  action: string;
  at: number;
  keys: readonly Key[];
  receivers: readonly string[];
  reason: string;
  detail: string;
  /** Present where it was a delivery. */
  delivery?: string;
};

/** Why a delivery was asked for that no event caused: to send one again, or to try a subscription out. */
export type ByHand = 'resend' | 'test';

/** Why a delivery waits: its endpoint answers and has no room, it hangs, it says "too much", or our own network has no way out. */
export type ParkReason = 'full' | 'hung' | 'busy' | 'egress';

/** The members of every record about a delivery. */
export type DeliveryFacts = {
  delivery: string;
  subscription: string;
  generation: number;
  event: string;
  interface: InterfaceName;
  action: string;
  attempt: number;
  /** When the attempt, or the decision not to make one, ended. */
  at: number;
  /** Why it was parked before, if it was. */
  parked?: ParkReason;
  byHand?: ByHand;
  /** The body sent, or to be sent. With the first record of a delivery, and with its end unless that is a success. */
  body?: string | Buffer;
};

/** The response of the receiver, or the failure on the way to it. */
export type Answer = {
  durationMs: number;
  status?: number;
  /** Absent where it was delivered. */
  reason?: FailureReason;
  /** The URL that the request went to, without user, fragment and the values of the query, which may be secrets. */
  url?: string;
  /** The address connected to. */
  ip?: string;
  /** Times of the connection, where one was made for this attempt. */
  dnsMs?: number;
  connectMs?: number;
  tlsMs?: number;
  /** From the start until the status line. */
  firstByteMs?: number;
  /** The beginning of the answer's body, or of what came where that was no answer; at most 4 KiB. */
  body?: string;
  /** The rule of HTTP that the response broke, in words; with `invalid_response` alone. */
  brokenRule?: string;
};

/** 2xx in time. `beganAt` is the start of the first attempt. */
export type Delivered = DeliveryFacts & { kind: 'delivered'; beganAt: number; answer: Answer };
/** Not 2xx, or not in time; the next attempt is due at `retryAt`. */
export type Failed = DeliveryFacts & { kind: 'failed'; beganAt: number; answer: Answer; retryAt: number };
/** The last attempt failed; or none was made, as it grew too old or was one too many: that says nothing about its receiver. */
export type Exhausted = DeliveryFacts & { kind: 'exhausted'; beganAt: number } & (
    | { answer: Answer }
    | { reason: UnattemptedReason }
  );
/** It is not to be sent any more: no attempt was made. */
export type Dropped = DeliveryFacts & { kind: 'dropped'; reason: DropReason };

/** How a delivery ended, as far as the deactivator is to know. Published in batches (`delivery-ends.ts`) to `waybell.ends`. */
export type DeliveryEnd = {
  delivery: string;
  subscription: string;
  generation: number;
  isDelivered: boolean;
  at: number;
};

export type DeactivationRule = 'exhausted' | 'window';

/** A rule switched a subscription off. */
export type Deactivated = {
  kind: 'deactivated';
  subscription: string;
  generation: number;
  account: string;
  client: string;
  interface: InterfaceName;
  action: string;
  /** When it was switched off, by the clock of Postgres. */
  at: number;
  rule: DeactivationRule;
  /** The delivery that did it: the one that exhausted its attempts; by rule `window` the last one that failed. */
  delivery?: string;
};

export type Attempted = Delivered | Failed | Exhausted | Dropped;
export type Outcome = Routed | Rejected | Attempted | Deactivated;

/** Why it failed, or was not attempted. */
export function whyOf(outcome: Attempted): FailureReason | UnattemptedReason | DropReason | undefined {
  return 'answer' in outcome ? outcome.answer.reason : outcome.reason;
}

export function isAttempted(outcome: Outcome): outcome is Attempted {
  return outcome.kind !== 'routed' && outcome.kind !== 'rejected' && outcome.kind !== 'deactivated';
}
