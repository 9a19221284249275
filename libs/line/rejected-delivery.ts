import { readDelivery } from './delivery.ts';
import { isRejection, type Message, type Rejection } from './messages.ts';
import type { Rejected } from './outcomes.ts';

/** What the delivery log is told of a delivery that goes to the rejected queue; undefined where it is none. */
export function recordRejectedDelivery(now: () => number) {
  return (message: Message, { reason, detail }: Rejection): Rejected | undefined => {
    const delivery = readDelivery(message);
    if (isRejection(delivery)) return undefined;
    const { guid, event, interface: interfaceName, action } = delivery;
    const of = { event, interface: interfaceName, action, delivery: guid, subjects: [], receivers: [] };
    return { kind: 'rejected', ...of, at: now(), reason, detail };
  };
}
