import { publishDelivery, readDelivery, unpark, type Delivery } from '@waybell/line/delivery';
import { isRejection, type ParkedRow, type Publication } from '@waybell/line/messages';
import { recordWithEnd, writeEnds } from '@waybell/line/delivery-ends';
import { readOwed, writeOutcomes, type Attempted, type Dropped } from '@waybell/line/outcomes';
import { endsExchange, outcomesExchange } from '@waybell/line/topology';

/** A parked row; without a body where that was deleted for an erasure request. */
export type Row = Omit<ParkedRow, 'body'> & { body: Buffer | null };

/** What a row leaves as: records and ends first, then the delivery, if it is still to be made. */
export type Leaving = { records: Publication[]; ends: Publication[]; delivery: Publication[] };

/**
 * What is to be published of a parked row. The delivery has moved once more, so that it is not taken for the one that is
 * parked. Throws where the row holds no delivery.
 */
export function fromParked(row: Row, now: number): Leaving {
  const message = unpark({ ...row, body: row.body ?? Buffer.alloc(0) }, { deliveryCount: 0, isOverLimit: false });
  const delivery = readDelivery(message);
  if (isRejection(delivery)) throw new Error(`the parked delivery ${row.delivery} cannot be read: ${delivery.detail}`);
  const owed = readOwed(row.owed);
  // With the record of its end nothing else is left to do.
  if (owed.some(({ kind }) => kind === 'exhausted')) return { ...told(owed), delivery: [] };
  if (row.body === null) return { ...told([...owed, forgotten(delivery, now)]), delivery: [] };
  const { parked: _, ...moved } = { ...delivery, hop: (delivery.hop ?? 0) + 1 };
  return { ...told(owed), delivery: [publishDelivery(moved)] };
}

function told(outcomes: Attempted[]): Pick<Leaving, 'records' | 'ends'> {
  const ends = outcomes
    .flatMap((outcome) => recordWithEnd(outcome))
    .flatMap((each) => (each.kind === 'end' ? [each.end] : []));
  return {
    records: outcomes.length === 0 ? [] : [batch(outcomesExchange, writeOutcomes(outcomes))],
    ends: ends.length === 0 ? [] : [batch(endsExchange, writeEnds(ends))],
  };
}

function batch(exchange: string, body: Buffer): Publication {
  return { kind: 'publish', exchange, routingKey: '', body, contentType: 'application/json' };
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
