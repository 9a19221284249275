import type { ByHand } from './outcomes.ts';

/** A delivery without its body, guid and action. Times are milliseconds since the epoch. */
export type DeliveryNote = {
  subscription: string;
  /** Raised by every subscribe: failures of an earlier generation do not count against a later one. */
  generation: number;
  event: string;
  /** 1 for the first. */
  attempt: number;
  /**
   * Present where it was asked for by hand: why, and the number of its first attempt; earlier attempts were made at other times.
   * `isRetried`: a test that has the retries of an event's delivery, not one attempt.
   */
  byHand?: { why: ByHand; fromAttempt: number; isRetried?: true };
  /** When the router made it, or it was asked for by hand. */
  createdAt: number;
  /** When its first attempt began; equal to `createdAt` until then. */
  beganAt: number;
  /** When this attempt was to begin, by the clock of the process that made the one before; a first attempt is due at `createdAt`. */
  dueAt?: number;
  /** How often this attempt was moved unattempted; absent at first: tells the delivery that waits from the one that it was before. */
  hop?: number;
};

export const NOTE_VERSION = 1;

/** A version that does not know it makes the one attempt that any test had. */
const RETRIED = ' retried 1';

/**
 * One short string instead of a table of headers, which would cost a fifth of the throughput. The broker takes 255 bytes. What a
 * later version adds is a word and a value behind all others, ` word value`: it is read over here, and not passed on (docs/decisions/0016-versions.md).
 */
export function writeNote(delivery: DeliveryNote): string {
  const { subscription, generation, event, attempt, createdAt, beganAt, dueAt, hop, byHand } = delivery;
  const due = dueAt === undefined ? '' : ` ${dueAt}`;
  const moved = hop === undefined ? '' : ` hop ${hop}`;
  const hand = byHand === undefined ? '' : ` ${byHand.why} ${byHand.fromAttempt}${byHand.isRetried ? RETRIED : ''}`;
  return `${NOTE_VERSION} ${subscription} ${generation} ${event} ${attempt} ${createdAt} ${beganAt}${due}${moved}${hand}`;
}

const GUID = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}';
const NOTE = new RegExp(
  String.raw`^${NOTE_VERSION} (${GUID}) (\d{1,10}) (${GUID}) (\d{1,4}) (\d{1,16}) (\d{1,16})(?: (\d{1,16}))?(?: hop (\d{1,9}))?(?: (resend|test) ([1-9]\d{0,3})(${RETRIED})?)?(?: (?!hop |resend |test |retried )[a-z]+ [!-~]+)*$`,
);

/** Parses a note; undefined if it is none of this format. */
export function readNote(text = ''): DeliveryNote | undefined {
  const note = NOTE.exec(text);
  if (note === null) return undefined;
  const [, subscription = '', generation, event = '', attempt, createdAt, beganAt, dueAt, hop, ...others] = note;
  const [why, from, retried] = others;
  const byHand = readByHand(why, from, retried);
  if (byHand !== undefined && byHand.fromAttempt > Number(attempt)) return undefined;
  return {
    subscription,
    generation: Number(generation),
    event,
    attempt: Number(attempt),
    ...(byHand === undefined ? {} : { byHand }),
    createdAt: Number(createdAt),
    beganAt: Number(beganAt),
    ...(dueAt === undefined ? {} : { dueAt: Number(dueAt) }),
    ...(hop === undefined ? {} : { hop: Number(hop) }),
  };
}

function readByHand(why: string | undefined, from: string | undefined, retried?: string): DeliveryNote['byHand'] {
  if (why !== 'resend' && why !== 'test') return undefined;
  return { why, fromAttempt: Number(from), ...(retried === undefined ? {} : { isRetried: true }) };
}
