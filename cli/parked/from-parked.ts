import { publishDelivery, publishKept, readDelivery, unpark, type Delivery } from '@waybell/line/delivery';
import { isRejection, type ParkedRow, type Publication } from '@waybell/line/messages';
import { NEWER_FORMAT } from '@waybell/line/newer-format';
import { publishOutcomes } from '@waybell/line/outcome-batch';
import type { Dropped } from '@waybell/line/outcomes';

/** A parked row; without a body where that was deleted for an erasure request. */
export type StoredParkedRow = Omit<ParkedRow, 'body'> & { body: Buffer | null };

/**
 * What is to be published of a parked row. The delivery has moved once more, so that it is not taken for the one that is
 * parked; one whose body was deleted leaves as the record of its end, and one of a later format as it is: it must not hold up the others.
 * Throws where the row holds no delivery.
 */
export function fromParked(row: StoredParkedRow, now: number): Publication {
  const message = unpark({ ...row, body: row.body ?? Buffer.alloc(0) }, { deaths: 0, isOverLimit: false });
  const delivery = readDelivery(message);
  const { body, traceparent = null } = row;
  if (isRejection(delivery)) {
    if (delivery.reason === NEWER_FORMAT && body !== null) return publishKept({ ...row, body, traceparent });
    throw new Error(`the parked delivery ${row.delivery} cannot be read: ${delivery.detail}`);
  }
  if (body === null) return publishOutcomes([forgotten(delivery, now)]);
  const { parked: _, ...moved } = { ...delivery, hop: (delivery.hop ?? 0) + 1 };
  return publishDelivery(moved);
}

function forgotten({ guid, ...delivery }: Delivery, at: number): Dropped {
  const { subscription, generation, event, interface: interfaceName, action, attempt, byHand, parked } = delivery;
  return {
    kind: 'dropped',
    reason: 'forgotten',
    delivery: guid,
    subscription,
    generation,
    event,
    interface: interfaceName,
    action,
    attempt,
    at,
    ...(byHand === undefined ? {} : { byHand: byHand.why }),
    ...(parked === undefined ? {} : { parked: parked.why }),
  };
}
