import { asWaited, readDelivery, type Delivery } from '@waybell/line/delivery';
import { isRejection, type Publication } from '@waybell/line/messages';
import { publishOutcomes } from '@waybell/line/outcome-batch';
import type { Dropped } from '@waybell/line/outcomes';
import type { TakenRow } from '@waybell/line/waiting-room/waiting-store';

/**
 * What is to be published of a row: what waits, as it is; of a delivery whose body was deleted, the record of its end. Throws where such
 * a row cannot be read.
 */
export function leaving(row: TakenRow, now: number): Publication {
  if (row.isForgotten !== true) return row.publication;
  const delivery = readDelivery(asWaited(row, { deaths: 0, isOverLimit: false }));
  if (!isRejection(delivery)) return publishOutcomes([forgotten(delivery, now)]);
  throw new Error(`the delivery ${row.id} that waits cannot be read: ${delivery.detail}`);
}

function forgotten({ guid, ...delivery }: Delivery, at: number): Dropped {
  const { subscription, generation, event, interface: interfaceName, action, attempt, byHand, waited } = delivery;
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
    ...(waited === undefined ? {} : { waited: waited.why }),
  };
}
