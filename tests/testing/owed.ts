import type { DropReason, SuppressionReason } from '@waybell/line/reasons';

/** The status that each attempt is answered with, the first one first; undefined where the receiver never answers. */
export type Answers = readonly (number | undefined)[];

/**
 * Answers that depend on when it is asked: however they came, of so many attempts at most, if they lead to that end.
 * `mayGetLost`: a failed attempt may be on record that its receiver never saw.
 */
export type AsTheyCame = { most: number; mayGetLost?: true };

/** An end that something may come to. For `delivered` and `exhausted`, after exactly these attempts. */
export type Ending = (
  | { kind: 'delivered' | 'exhausted'; answers: Answers | AsTheyCame }
  | { kind: 'dropped'; reason: DropReason; answers: Answers | AsTheyCame }
  | { kind: 'suppressed'; reason: SuppressionReason }
  | { kind: 'rejected'; reason: string; answers?: Answers | AsTheyCame }
) & {
  /** Only after another delivery of the subscription was exhausted, which switched it off. */
  onceOff?: true;
};

/** A subscription as its receiver knows it, and what it is to get. */
export type Addressee = {
  subscription: string;
  delivery: string;
  path: string;
  /** The paths to which the subscription moves one after another: what a crash repeats goes to a later one. */
  moves?: readonly string[];
  token: string;
  body: string;
};

/** The expectation of an event for an account, or for one of its subscriptions. */
export type Owed = {
  event: string;
  account: string;
  to?: Addressee;
  /** More than one only where it is not promised what happens first. */
  ends: readonly Ending[];
};

/**
 * Returns the expected ends for a client whose receiver answers so. `goesOff`: the last failure switches the subscription off.
 */
export function endsAfter(answers: Answers, goesOff = false): Ending[] {
  const last = answers.at(-1) ?? 0;
  if (last >= 200 && last < 300) return [{ kind: 'delivered', answers }];
  if (!goesOff) return [{ kind: 'exhausted', answers }];
  return [
    { kind: 'exhausted', answers },
    // It is a race which of those under way is exhausted first, and how far the others get by then.
    { kind: 'dropped', reason: 'deactivated', answers, onceOff: true },
    { kind: 'suppressed', reason: 'no_subscription', onceOff: true },
  ];
}
