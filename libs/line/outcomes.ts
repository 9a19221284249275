/**
 * What became of an event, and of each attempt. Published in batches to `waybell.outcomes`; times are milliseconds
 * since the epoch, guids lower-case.
 */
export type InterfaceName = 'shipper' | 'carrier';

/** Why an event reached nobody, or not everybody: a closed list. */
export type SuppressionReason =
  | 'no_subscription'
  | 'duplicate'
  | 'feature_off'
  | 'links_missing'
  | 'no_audited_change'
  | 'position_absorbed';

export type Suppression = { reason: SuppressionReason; subscription?: string };

/** The router's verdict on one event: the deliveries it caused, and who got nothing and why. */
export type Routed = {
  kind: 'routed';
  event: string;
  interface: InterfaceName;
  action: string;
  at: number;
  deliveries: { delivery: string; subscription: string }[];
  suppressed: Suppression[];
  /** Members of the event that its action does not define; left out of the notification. */
  unknownMembers: number;
};

/** What every record about a delivery says. */
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
};

/** What the receiver, or the way to it, said. */
export type Answer = { durationMs: number; status?: number; reason?: string };

/** 2xx in time. `beganAt` is the start of the first attempt. */
export type Delivered = DeliveryFacts & { kind: 'delivered'; beganAt: number; answer: Answer };
/** Not 2xx, or not in time; the next attempt is due at `retryAt`. */
export type Failed = DeliveryFacts & { kind: 'failed'; beganAt: number; answer: Answer; retryAt: number };
/** The last attempt failed, or the delivery grew too old (`expired`, without an answer). Carries the body. */
export type Exhausted = DeliveryFacts & { kind: 'exhausted'; beganAt: number; answer: Answer; body: string };
/** Nobody is to receive it any more: no attempt was made. */
export type Dropped = DeliveryFacts & { kind: 'dropped'; reason: DropReason };

export type DropReason = 'unsubscribed' | 'deactivated' | 'feature_off';

export type Attempted = Delivered | Failed | Exhausted | Dropped;
export type Outcome = Routed | Attempted;

const VERSION = 1;

export function writeOutcomes(outcomes: Outcome[]): Buffer {
  return joinOutcomes(outcomes.map(writeOutcome));
}

export function writeOutcome(outcome: Outcome): string {
  return JSON.stringify(outcome);
}

/** A batch of records that are written already. */
export function joinOutcomes(written: string[]): Buffer {
  return Buffer.from(`{"version":${VERSION},"outcomes":[${written.join(',')}]}`);
}

/** Reads a batch. Throws where the bytes are not one that this version writes. */
export function readOutcomes(body: Buffer): Outcome[] {
  const batch: unknown = JSON.parse(body.toString());
  if (typeof batch !== 'object' || batch === null || !('version' in batch) || !('outcomes' in batch)) {
    throw new TypeError('not a batch of outcomes');
  }
  if (batch.version !== VERSION || !Array.isArray(batch.outcomes)) {
    throw new TypeError(`a batch of outcomes of version ${String(batch.version)}; this process reads ${VERSION}`);
  }
  // Only the router and the deliverer may publish here; the version says that they mean this shape.
  return batch.outcomes as Outcome[];
}
