/** What rows of the log are made from. */
import type { Attempted, Rejected, Routed, Suppression } from '@waybell/line/outcomes';

/** A body's chunk, and its place among the bodies of that. */
export type Stored = { chunk: string; place: number };

/** What a record says of an event for one account. */
export type EventPart = {
  record: Routed | Rejected;
  /** Absent if the record names no account. */
  account?: string;
  subscriptions: readonly string[];
  suppressed: readonly Suppression[];
  /** Tells rows apart whose event and time are the same: `partOf` its account, action and rejected delivery. */
  part: string;
  /** The chunk that lists its deliveries. */
  chunk?: string;
  /** Present if the event itself is kept there. */
  place?: number;
};

/** An attempt, or an end without one. */
export type AttemptPart = { record: Attempted; stored?: Stored };

export type ChunkPart = {
  chunk: string;
  /** Times of its first and last record. */
  at: number;
  until: number;
  /** The first PREFIX_BYTES of each delivery that its events caused. */
  deliveries: Buffer;
  /** As `packChunk` writes them. */
  bytes: Buffer;
};
