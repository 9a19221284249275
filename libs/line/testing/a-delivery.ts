import { readRow, writeRow } from '../delivery-batch.ts';
import type { Delivery } from '../delivery.ts';
import type { WaitingRow } from '../messages.ts';
import type { TakenRow } from '../waiting-room/waiting-store.ts';

/** Builds a delivery in which nothing matters but what is given. */
export function aDelivery(what: Partial<Delivery> = {}): Delivery {
  return {
    guid: '0b9c2f6e-7d1f-4e57-8f5e-000000000001',
    interface: 'carrier',
    action: 'order.created',
    subscription: '0b9c2f6e-7d1f-4e57-8f5e-000000000002',
    generation: 3,
    event: '0b9c2f6e-7d1f-4e57-8f5e-000000000003',
    attempt: 1,
    createdAt: 1_700_000_000_000,
    beganAt: 1_700_000_005_000,
    body: Buffer.from('{}'),
    ...what,
  };
}

/** Returns the row as it is taken after it was put. */
export function takenOf({ room, madeAt, id, why, delivery }: WaitingRow): TakenRow {
  return {
    room,
    madeAt,
    id,
    no: 0,
    why,
    content: readRow(writeRow(delivery), delivery.body),
  };
}
