import type { Invalid } from '@waybell/events/invalid-event';
import { reject, type Message, type Rejection } from '@waybell/line/messages';
import { rejectNewer } from '@waybell/line/newer-format';

/**
 * Says why an event cannot be read: the broken rule of the contract, and the place. An event whose routing key names its own
 * unknown action breaks none: `declare` of a later version, which knows the action, has bound that key.
 */
export function refuseEvent({ routingKey }: Pick<Message, 'routingKey'>, invalid: Invalid): Rejection {
  const { reason, detail, place, unknown } = invalid;
  if (unknown === routingKey) return rejectNewer(`an event of the action ${routingKey}`);
  return reject(reason, detail, place);
}
