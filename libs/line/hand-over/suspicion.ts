import { TooLarge, Unroutable } from '../publish-errors.ts';
import { reject, type Rejection } from '../messages.ts';

/** Where a message was taken from: its own queue, the suspects lane, or the quarantine, where it is alone. */
export type Lane = 'queue' | 'suspects' | 'quarantine';

export type Intake = 'handle' | 'put aside' | 'send alone' | 'quarantine' | 'reject';

const DEATHS = 3;
/** When a process that held others beside a suspect dies, a quarter of a death is counted: another message may have killed it. */
const SHARED_DEATHS = 4;
const FAILURES = 5;

/** Numbers of other processes whose notes stay: of holding the message, and of holding it alone. */
export type DeathNotes = { held: number; alone: number };

/**
 * Returns the number of processes that may have died with the message in hand. `returns`: how often processes other than this one
 * gave it back to its queue. If the notes of others are unknown, each return may be a death.
 */
export function deathsOf(lane: Lane, returns: number, noted: DeathNotes | undefined): number {
  if (noted === undefined) return returns;
  const { held, alone } = noted;
  switch (lane) {
    case 'queue':
      // A first delivery is not noted.
      return Math.min(returns, held + 1);
    case 'suspects':
      return Math.min(returns, held);
    case 'quarantine':
      return Math.min(returns, alone + (held - alone) / SHARED_DEATHS);
  }
}

/** Decides how to treat a message after so many deaths. Any member of a batch may have killed, so they are sent one by one. */
export function intakeOf(lane: Lane, deaths: number, batchSize: number): Intake {
  switch (lane) {
    case 'queue':
      if (deaths < DEATHS) return 'handle';
      return batchSize > 1 ? 'send alone' : 'put aside';
    case 'suspects':
      // It was in hand at least at one death, and so was what its process held of the other queues.
      return deaths > 0 ? 'quarantine' : 'handle';
    case 'quarantine':
      return deaths >= DEATHS ? 'reject' : 'handle';
  }
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
