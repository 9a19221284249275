import { TooLarge, Unroutable } from '../broker/publish-errors.ts';
import { reject, type Rejection } from '../messages.ts';

/** Where a message was taken: from its own queue, from the suspects lane, or from the quarantine, where it is alone. */
export type Door = 'queue' | 'suspects' | 'quarantine';

/** What becomes of a message before anybody looks into it. */
export type Verdict = 'handle' | 'put aside' | 'send alone' | 'quarantine' | 'reject';

const DELIVERIES = 3;
const FAILURES = 5;

/**
 * Of a message that was delivered there so often before without being settled: it may have killed its process. In a
 * bundle, any of so many may have: they are to come one by one.
 */
export function verdictOf(door: Door, deliveryCount: number, bundleSize: number): Verdict {
  switch (door) {
    case 'queue':
      if (deliveryCount < DELIVERIES) return 'handle';
      return bundleSize > 1 ? 'send alone' : 'put aside';
    case 'suspects':
      // It was in hand at one death at least; so was what its process held of the other queues.
      return deliveryCount > 0 ? 'quarantine' : 'handle';
    case 'quarantine':
      return deliveryCount >= DELIVERIES ? 'reject' : 'handle';
  }
}

/** How often it has now failed as a suspect, `failures` times before; undefined: too often, or once for ever. */
export function failuresAfter(door: Door, failures: number, error: unknown): number | undefined {
  if (error instanceof TooLarge) return undefined;
  if (door === 'queue') return 0;
  return failures + 1 < FAILURES ? failures + 1 : undefined;
}

/**
 * What a message is rejected for that fails again and again, or for good, by its last error. `unbound`: the topology lacks a binding,
 * and the message is good once that is there. `too_large_for_broker`: so is a limit of the broker's. `handler_failed`: a bug, or a message that it takes one for.
 */
export function judge(error: unknown): Rejection {
  if (error instanceof Unroutable) return reject('unbound', error.message);
  if (error instanceof TooLarge) return reject('too_large_for_broker', error.message);
  return reject('handler_failed', String(error));
}
