import { publishDelivery, publishKept, readDelivery, unpark, type Delivery } from '@waybell/line/delivery';
import { isNewer, isUnreadable, whyUnreadable, type ParkedRow, type Publication } from '@waybell/line/messages';
import { publishOutcomes } from '@waybell/line/outcome-batch';
import type { Dropped } from '@waybell/line/outcomes';

/** A parked row; without a body where that was deleted for an erasure request. */
export type Row = Omit<ParkedRow, 'body'> & { body: Buffer | null };

/**
 * What is to be published of a parked row. The delivery has moved once more, so that it is not taken for the one that is
 * parked; one whose body was deleted leaves as the record of its end, and what a later version wrote as it is. Throws where the
 * row holds no delivery.
 */
export function fromParked(row: Row, now: number): Publication {
  const message = unpark({ ...row, body: row.body ?? Buffer.alloc(0) }, { deaths: 0, isOverLimit: false });
  const delivery = readDelivery(message);
  const { body, traceparent = null } = row;
  if (isNewer(delivery) && body !== null) return publishKept({ ...row, body, traceparent });
  if (isUnreadable(delivery))
    throw new Error(`the parked delivery ${row.delivery} cannot be read: ${whyUnreadable(delivery)}`);
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
