import { TooLarge, Unroutable } from '../publish-errors.ts';
import { reject, type Rejection } from '../messages.ts';

/** The queue that a message was taken from: its own, the suspects lane, or the quarantine, where it is alone. */
export type Lane = 'queue' | 'suspects' | 'quarantine';

/** The treatment of a message before it is parsed. */
export type Intake = 'handle' | 'put aside' | 'send alone' | 'quarantine' | 'reject';

const DEATHS = 3;
/** A death of a process that held others beside a suspect counts as a quarter: one of those may have killed it. */
const SHARED_DEATHS = 4;
const FAILURES = 5;

/** Other processes that said that they have a message in hand, or have it with nothing beside it, and never took that back. */
export type DeathNotes = { held: number; alone: number };

/**
 * The number of processes that may have died with a message in hand, which went back to its queue `returns`
 * times from a process that is not this one. Where the notes of others are unknown, each return may be a death.
 */
export function deathsOf(lane: Lane, returns: number, noted: DeathNotes | undefined): number {
  if (noted === undefined) return returns;
  const { held, alone } = noted;
  switch (lane) {
    case 'queue':
      // Nothing is noted the first time.
      return Math.min(returns, held + 1);
    case 'suspects':
      return Math.min(returns, held);
    case 'quarantine':
      return Math.min(returns, alone + (held - alone) / SHARED_DEATHS);
  }
}

/**
 * Decides what is done with a message that so many processes died with: it may have killed them. In a bundle any member may
 * have, so they are sent one by one.
 */
export function intakeOf(lane: Lane, deaths: number, bundleSize: number): Intake {
  switch (lane) {
    case 'queue':
      if (deaths < DEATHS) return 'handle';
      return bundleSize > 1 ? 'send alone' : 'put aside';
    case 'suspects':
      // It was in hand at one death at least; so was what its process held of the other queues.
      return deaths > 0 ? 'quarantine' : 'handle';
    case 'quarantine':
      return deaths >= DEATHS ? 'reject' : 'handle';
  }
}

/** How often it has now failed as a suspect, `failures` times before; undefined: too often, or once for ever. */
export function failuresAfter(lane: Lane, failures: number, error: unknown): number | undefined {
  if (error instanceof TooLarge) return undefined;
  if (lane === 'queue') return 0;
  return failures + 1 < FAILURES ? failures + 1 : undefined;
}

/**
 * Names the reason to reject a message that fails again and again, or for good, by its last error. `unbound`: the topology lacks a binding,
 * and the message is good once that is there. `too_large_for_broker`: so is a limit of the broker's. `handler_failed`: a bug, or a message that it takes one for.
 */
export function judge(error: unknown): Rejection {
  if (error instanceof Unroutable) return reject('unbound', error.message);
  if (error instanceof TooLarge) return reject('too_large_for_broker', error.message);
  return reject('handler_failed', String(error));
}
