import { TooLarge, Unroutable } from '../publish-errors.ts';
import { reject, type Message, type Rejection } from '../messages.ts';

/** The source of a message: its own queue or a waiting room, or the suspects lane. */
export type Lane = 'queue' | 'suspects';

export type Intake = 'handle' | 'put aside' | 'send alone' | 'reject';

/** Crashes of processes that held a message after which it is suspected; after as many more it is rejected. */
const CRASHES = 5;
/** A batch is taken apart sooner: each of its members that kills may do so `CRASHES` times more while the batch is in hand. */
const CRASHES_OF_BATCH = 3;
/** Fewer suffice in a waiting room: its claims count crashes alone, and no lost connection. */
export const CRASHES_OF_ROOM = 3;
/**
 * From this many crashes on, a batch stays closed: reading it may be what kills the process. It is taken apart after far fewer
 * crashes, but a member that kills may do so again before that is done.
 */
export const CRASHES_UNOPENED = 12;
const FAILURES = 5;

export const KILLED = reject('process_killed', 'the process that handled it died, each time');

/** Decides how to treat a message, given the number of members in its source. */
export function intakeOf(lane: Lane, { crashes = 0, deliveryCount, waited }: Message, size: number): Intake {
  if (lane === 'queue') {
    if (size > 1) return crashes < CRASHES_OF_BATCH ? 'handle' : 'send alone';
    return crashes < (waited === undefined ? CRASHES : CRASHES_OF_ROOM) ? 'handle' : 'put aside';
  }
  // This process saw the return and did not crash. The next process would count the return as a crash: the count must start at
  // zero.
  if (crashes < deliveryCount) return 'put aside';
  return crashes < CRASHES ? 'handle' : 'reject';
}

/** Returns how often it has now failed as a suspect; undefined if too often, or if the error is final. */
export function failuresAfter(lane: Lane, failures: number, error: unknown): number | undefined {
  if (error instanceof TooLarge) return undefined;
  if (lane === 'queue') return 0;
  return failures + 1 < FAILURES ? failures + 1 : undefined;
}

/**
 * Names the reason to reject a message that fails repeatedly or for good, from its last error. `unbound`: the topology lacks a
 * binding; the message is good once that exists. `too_large_for_broker`: the broker's limit is too low. `handler_failed`: a bug,
 * or a poisonous message.
 */
export function rejectionFor(error: unknown): Rejection {
  if (error instanceof Unroutable) return reject('unbound', error.message);
  if (error instanceof TooLarge) return reject('too_large_for_broker', error.message);
  return reject('handler_failed', String(error));
}
