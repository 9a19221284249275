import type { Delivery } from '@waybell/line/delivery';

/** A carrier delivery before its first attempt, made at the epoch, with what matters to a test said. */
export function aDelivery(what: Partial<Delivery> = {}): Delivery {
  return {
    guid: 'd0d0d0d0-d0d0-4d0d-8d0d-d0d0d0d0d0d0',
    interface: 'carrier',
    action: 'order.created',
    subscription: '50505050-5050-4505-8505-505050505050',
    generation: 3,
    event: 'e0e0e0e0-e0e0-4e0e-8e0e-e0e0e0e0e0e0',
    attempt: 1,
    createdAt: 0,
    beganAt: 1,
    body: Buffer.from('{"action":"order.created"}'),
    ...what,
  };
}
