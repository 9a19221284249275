import type { Outcome } from '@waybell/line/outcomes';
import type { Owed } from './owed.ts';

/** A callback request as a receiver saw it; `answered` is the status that it sent, if it came to that. */
export type Seen = { delivery: string; attempt: number; path: string; token: string; body: string; answered?: number };

/** A message in the rejected queue. */
export type Rejection = { messageId: string; reason: string; body: string };

/** Everything that is known once the line has come to rest. Outcomes are in the order in which they came. */
export type Books = {
  owed: readonly Owed[];
  seen: readonly Seen[];
  outcomes: readonly Outcome[];
  rejections: readonly Rejection[];
};
