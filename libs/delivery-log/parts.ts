/** The parts that rows of the log are made from. */
import type { Attempted, Rejected, Routed, Suppression } from '@waybell/line/outcomes';

/** The part of a record about one event and one account. */
export type EventPart = {
  readonly record: Routed | Rejected;
  /** Undefined if the record names no account. */
  readonly account: string | undefined;
  readonly subscriptions: readonly string[];
  readonly suppressed: readonly Suppression[];
  /** Distinguishes rows of the same event and time: `partOf` its account, action and rejected delivery. */
  readonly part: string;
  /** The chunk that lists its deliveries, once there is one. */
  chunk: string | undefined;
  /** Its place among the bodies of that if the event itself is kept there. */
  place: number | undefined;
};

/** An attempt, or an end without one; its chunk, once there is one, and the place of its body among the bodies of that. */
export type AttemptPart = { readonly record: Attempted; chunk: string | undefined; place: number | undefined };

export type ChunkPart = {
  chunk: string;
  /** Times of its first and last record. */
  at: number;
  until: number;
  /** The first PREFIX_BYTES of each delivery that its events caused. */
  deliveries: Buffer;
  /** The bytes that `packChunk` wrote. */
  bytes: Buffer;
};

/** A chunk's place in the order of commits, when that was, and the times of its first and last record. */
export type Commit = { number: string; at: number; chunk: string; firstAt: number; lastAt: number };
