import type { Invalid } from '@waybell/events/invalid-event';
import { reject, type Message, type Unreadable } from '@waybell/line/messages';

/**
 * What becomes of an event that cannot be read. What breaks the contract is rejected, naming the place. But where only its action is
 * not known, and the broker brings it by the key of that action, `declare` of a version that knows it has bound that key: the event waits for
 * a process of that version, and comes back to `queue`.
 */
export function refuseEvent({ routingKey }: Message, invalid: Invalid, queue: string): Unreadable {
  const { reason, detail, place, unknown } = invalid;
  if (unknown === routingKey) return { kind: 'newer', format: 'event', returnsBy: queue };
  return reject(reason, detail, place);
}
