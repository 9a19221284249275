import { Unroutable } from './broker/unconfirmed-messages.ts';
import { reject, type Rejection } from './messages.ts';

/**
 * What a message is rejected for that fails again and again, by the kind of its last error. `unbound`: the topology lacks
 * a binding, and the message is good once that is mended. `handler_failed`: a bug, or a message that it takes one for.
 */
export function judgeFailure(error: unknown): Rejection {
  if (error instanceof Unroutable) return reject('unbound', error.message);
  return reject('handler_failed', String(error));
}
