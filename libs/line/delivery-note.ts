import type { ByHand } from './outcomes.ts';

/** A delivery without its body, guid and action. Times are milliseconds since the epoch. */
export type DeliveryNote = {
  subscription: string;
  /** Raised by every subscribe: failures of an earlier generation do not count against a later one. */
  generation: number;
  event: string;
  attempt: number;
  /**
   * Present if requested by hand: why, and the number of its first attempt, as earlier attempts were made at other times.
   * `isRetried`: a test that is retried like an event's delivery, instead of one attempt.
   */
  byHand?: { why: ByHand; fromAttempt: number; isRetried?: true };
  /** When the router made it, or when it was requested by hand. */
  createdAt: number;
  /** When its first attempt began; equal to `createdAt` until then. */
  beganAt: number;
  /** When this attempt was due, by the clock of the process that made the previous one; a first attempt is due at `createdAt`. */
  dueAt?: number;
};

export const NOTE_VERSION = 1;

/** A version that does not know this word makes a single attempt, as for any other test. */
const RETRIED = ' retried 1';

/**
 * Writes the note as one short string: a headers table would cost a fifth of the throughput. The broker allows 255 bytes. A later
 * version appends a word and a value, ` word value`; this one skips them and does not pass them on
 * (docs/decisions/0012-versions.md).
 */
export function writeNote(delivery: DeliveryNote): string {
  const { subscription, generation, event, attempt, createdAt, beganAt, dueAt, byHand } = delivery;
  const due = dueAt === undefined ? '' : ` ${dueAt}`;
  const hand = byHand === undefined ? '' : ` ${byHand.why} ${byHand.fromAttempt}${byHand.isRetried ? RETRIED : ''}`;
  // Joined, because each part of a long template makes a string of its own.
  const plain = [NOTE_VERSION, subscription, generation, event, attempt, createdAt, beganAt].join(' ');
  return plain + due + hand;
}

const GUID = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}';
const NOTE = new RegExp(
  String.raw`^${NOTE_VERSION} ${GUID} \d{1,10} ${GUID} \d{1,4} \d{1,16} \d{1,16}(?: \d{1,16})?(?: (?:resend|test) [1-9]\d{0,3}(?:${RETRIED})?)?(?: (?!resend |test |retried )[a-z]+ [!-~]+)*$`,
);
const DIGIT = /^\d/;

/** Parses a note; undefined if it is not in this format. */
export function readNote(text = ''): DeliveryNote | undefined {
  // Test and split: a match with its groups would take twice the memory.
  if (!NOTE.test(text)) return undefined;
  const words = text.split(' ');
  const [, subscription = '', generation, event = '', attempt, createdAt, beganAt] = words;
  const note: DeliveryNote = {
    subscription,
    generation: Number(generation),
    event,
    attempt: Number(attempt),
    createdAt: Number(createdAt),
    beganAt: Number(beganAt),
  };
  return words.length === PLAIN_WORDS ? note : withMore(note, words);
}

const PLAIN_WORDS = 7;

/** Reads what not every note has; skips what a later version wrote behind. */
function withMore(note: DeliveryNote, words: readonly string[]): DeliveryNote | undefined {
  let place = PLAIN_WORDS;
  if (DIGIT.test(words[place] ?? '')) note.dueAt = Number(words[place++]);
  const why = words[place];
  if (why !== 'resend' && why !== 'test') return note;
  const fromAttempt = Number(words[place + 1]);
  if (fromAttempt > note.attempt) return undefined;
  note.byHand = { why, fromAttempt, ...(words[place + 2] === 'retried' ? { isRetried: true } : {}) };
  return note;
}
