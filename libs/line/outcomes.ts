import type { DropReason, FailureReason, SuppressionReason, UnattemptedReason } from './reasons.ts';

/**
 * The fates of events and attempts, published in batches (`outcome-batch.ts`) to `waybell.outcomes`. Times are milliseconds since
 * the epoch, guids lower-case.
 */
export type InterfaceName = 'shipper' | 'carrier';

/**
 * A suppressed delivery. Without `subscription` it applies to all clients of the account; without `account`, to the whole event.
 */
export type Suppression = { reason: SuppressionReason; account?: string; client?: string; subscription?: string };

/** A delivery that an event caused. Its guid follows from the event and the subscription (`messageGuid`). */
export type Addressed = { subscription: string; account: string };

/** A key of the object that an event is about: its kind (`order_guid`, `order_id`, `vin`), and its text as in the event. */
export type Key = { readonly kind: string; readonly key: string };

/** An event as upstream published it, kept as long as bodies are: deliveries that were not made can be made from it. */
export type KeptEvent = {
  /** The receivers known to Waybell. */
  accounts: readonly string[];
  body: string | Buffer;
  /** Present if it says which of the two envelopes it has. */
  contentType?: string;
};

/** The router's result for one event: its deliveries, and who got none and why. */
export type Routed = {
  kind: 'routed';
  event: string;
  interface: InterfaceName;
  action: string;
  at: number;
  /** Keys of the objects that the event is about: order, vehicles, offer and so on. */
  keys: readonly Key[];
  /** The accounts that the event is addressed to. */
  receivers: readonly string[];
  /** Absent if none of the receivers is known. */
  kept?: KeptEvent;
  deliveries: Addressed[];
  suppressed: Suppression[];
};

/** An event or a delivery went to the rejected queue, with the facts that could be read. */
export type Rejected = {
  kind: 'rejected';
  /** Derived from the bytes if no guid could be read; `detail` says so. */
  event: string;
  /** Null if unknown. */
  interface: InterfaceName | null;
  action: string;
  at: number;
  keys: readonly Key[];
  receivers: readonly string[];
  reason: string;
  detail: string;
  /** Present if a delivery was rejected. */
  delivery?: string;
};

/** Why a delivery without an event was requested: to send one again, or to test a subscription. */
export type ByHand = 'resend' | 'test';

/**
 * The reason for which all deliveries of a subscription wait, whatever its endpoint does: its client paused it, or an operator
 * stopped it.
 */
export type HoldReason = 'paused' | 'stopped';

/**
 * The reason for which a delivery waits: its endpoint answers but has no room, hangs, or answers "too much"; its subscription is
 * held; our network has no way out; or a request is under way, and the delivery is attempted again if its process dies (`open`).
 * A publication waits for the broker.
 */
export type WaitingReason = 'full' | 'hung' | 'busy' | HoldReason | 'egress' | 'open' | 'broker';

/** The members of every record about a delivery. */
export type DeliveryFacts = {
  delivery: string;
  subscription: string;
  generation: number;
  event: string;
  interface: InterfaceName;
  action: string;
  attempt: number;
  /** When the attempt ended, or the decision not to make one was taken. */
  at: number;
  /** Why it waited before, if it did. */
  waited?: WaitingReason;
  byHand?: ByHand;
  /**
   * The body sent, or to be sent. Part of the first record of a delivery, and of the record of its end unless that is a success.
   */
  body?: string | Buffer;
};

/** The receiver's response, or the failure before it. */
export type Answer = {
  durationMs: number;
  status?: number;
  /** Absent if the delivery succeeded. */
  reason?: FailureReason;
  /** The URL of the request, without user, fragment and query values, which may be secrets. */
  url?: string;
  /** The address connected to. */
  ip?: string;
  /** Phases of connecting, if a connection was made for this attempt. */
  dnsMs?: number;
  connectMs?: number;
  tlsMs?: number;
  /** From the start until the status line. */
  firstByteMs?: number;
  /** The first 4 KiB, at most, of the response's body, or of other bytes if they were no response. */
  body?: string;
  /** Describes the rule of HTTP that the response broke; only with `invalid_response`. */
  brokenRule?: string;
  /** The words of OpenSSL or the system for a request without a status: a code, with more where that says little. */
  error?: string;
  /** The place that a redirect leads to, absolute, without user, fragment and query values. */
  location?: string;
};

/** A 2xx status in time. `beganAt` is the start of the first attempt. */
export type Delivered = DeliveryFacts & { kind: 'delivered'; beganAt: number; answer: Answer };
/** No 2xx status in time; the next attempt is due at `retryAt`. */
export type Failed = DeliveryFacts & { kind: 'failed'; beganAt: number; answer: Answer; retryAt: number };
/**
 * The last attempt failed. Or none was made because the delivery grew too old or exceeded the limit: that says nothing about its
 * receiver.
 */
export type Exhausted = DeliveryFacts & { kind: 'exhausted'; beganAt: number } & (
    | { answer: Answer }
    | { reason: UnattemptedReason }
  );
/** The delivery must not be sent any more, and no attempt was made. */
export type Dropped = DeliveryFacts & { kind: 'dropped'; reason: DropReason };

/** The end of a delivery, as the deactivator needs it. Published in batches (`outcome-batch.ts`) to `waybell.ends`. */
export type DeliveryEnd = {
  delivery: string;
  subscription: string;
  generation: number;
  isDelivered: boolean;
  at: number;
  /** Why it failed, and the status if the receiver answered. */
  reason?: FailureReason | UnattemptedReason;
  status?: number;
  /** It says nothing about its receiver: it was not attempted at its turn, or was sent by hand. */
  isUncounted?: true;
  /** It says only that the receiver answered 410, to whatever attempt; another end reports the delivery, if that has ended. */
  isGone?: true;
};

export type DeactivationRule = 'exhausted' | 'window';

/** A rule deactivated a subscription. */
export type Deactivated = {
  kind: 'deactivated';
  subscription: string;
  generation: number;
  account: string;
  client: string;
  interface: InterfaceName;
  action: string;
  /** Time of the deactivation, by the clock of Postgres. */
  at: number;
  rule: DeactivationRule;
  /** The delivery that caused it: the one that exhausted its attempts; by rule `window` the last one that failed. */
  delivery?: string;
};

export type Attempted = Delivered | Failed | Exhausted | Dropped;
export type Outcome = Routed | Rejected | Attempted | Deactivated;

/** Returns why a delivery failed or was not attempted. */
export function whyOf(outcome: Attempted): FailureReason | UnattemptedReason | DropReason | undefined {
  return 'answer' in outcome ? outcome.answer.reason : outcome.reason;
}

export function isAttempted(outcome: Outcome): outcome is Attempted {
  return outcome.kind !== 'routed' && outcome.kind !== 'rejected' && outcome.kind !== 'deactivated';
}
