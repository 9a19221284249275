/**
 * A delivery: one notification on its way to one subscription. How it is published to its queue, to a retry queue, to the waiting
 * queue and into a room, and how a message is read as one.
 */
import { actionKeyOf, isDeliveryBatch, rejectBatch } from './delivery-batch.ts';
import {
  waybellHeaders,
  type CarriedDelivery,
  type Message,
  type Publication,
  type Recorded,
  reject,
  type Rejection,
  type WaitedFor,
  type Waiting,
} from './messages.ts';
import type { WaitingReason } from './outcomes.ts';
import { deliveriesExchange, deliveryQueue, retryExchange, retryKey, waitingExchange } from './topology.ts';
import type { RowKey, TakenRow } from './waiting-room/waiting-store.ts';

/** One notification for one subscription. */
export type Delivery = CarriedDelivery & {
  /** Present if it waited in a room. */
  waited?: WaitedFor;
  /** Redelivered, or read from the waiting queue: it may be in its endpoint's room already. */
  mayWait?: boolean;
  /** The room of its endpoint, once that is known. */
  room?: EndpointRoom;
  /** Set aside; others wait while it is handled. */
  isSuspect?: boolean;
};

/** `room`: 32 hexadecimal digits. */
export type EndpointRoom = { room: string; account: string };

export function firstAttempt({ byHand }: Delivery): number {
  return byHand?.fromAttempt ?? 1;
}

/** Publishes to the queue of the action, to be attempted now. */
export function publishDelivery(delivery: Delivery, action = actionKeyOf(delivery)): Publication {
  return { kind: 'publish', exchange: deliveriesExchange, routingKey: action, body: delivery.body, delivery };
}

/** Publishes to the retry queue of the action and delay, which returns it to the queue of the action. */
export function publishRetry(delivery: Delivery, delayMs: number): Publication {
  const { exchange, routingKey, ...same } = publishDelivery(delivery);
  return {
    ...same,
    exchange: retryExchange,
    routingKey: retryKey(routingKey, delayMs),
    ifKept: { afterMs: delayMs, exchange, routingKey },
  };
}

/** Has a delivery wait, unattempted and uncounted, in the room of its endpoint, which must be known. */
export function wait(delivery: Delivery, { why, afterMs }: { why: WaitingReason; afterMs?: number }): Waiting {
  const { room: endpoint, waited: _, mayWait: __, isSuspect: ___, ...carried } = delivery;
  if (endpoint === undefined) throw new Error('a delivery waits in the room of its endpoint');
  return {
    kind: 'wait',
    row: {
      ...rowKeyOf(delivery, endpoint),
      account: endpoint.account,
      subscription: carried.subscription,
      why,
      delivery: carried,
      ...(afterMs === undefined ? {} : { afterMs }),
    },
  };
}

/** The key of a delivery's row in the room of this endpoint. An attempt has one, however often it waits. */
export function rowKeyOf({ guid, attempt, createdAt }: CarriedDelivery, { room }: Pick<EndpointRoom, 'room'>): RowKey {
  return { room, madeAt: createdAt, id: `${guid} ${attempt}` };
}

/**
 * Publishes unchanged to the waiting queue, which returns it after 30 s to the queue of its action, as one that may wait in its
 * room.
 */
export function publishWaiting(delivery: Delivery): Publication {
  return { ...publishDelivery(delivery), exchange: waitingExchange, headers: { [waybellHeaders.mayWait]: 1 } };
}

/** Publishes to the waiting queue a delivery that no room takes now, or whose put has no answer. */
export function publishInstead({ row }: Waiting): Publication {
  return publishWaiting(row.delivery);
}

/** Turns a delivery that waited into a message, as if it came from the queue of its action. */
export function asWaited({ room, content, why, isForgotten }: TakenRow, how: HowTaken): Message {
  return {
    ...content,
    queue: deliveryQueue(content.type),
    exchange: deliveriesExchange,
    routingKey: content.type,
    // A delivery that ends without a request kills no process; as a suspect it would be attempted.
    crashes: isForgotten ? 0 : how.crashes,
    deliveryCount: 0,
    failures: 0,
    waited: {
      room,
      why,
      ...(isForgotten ? { isForgotten } : {}),
      ...(how.isOverLimit ? { isOverLimit: true } : {}),
    },
  };
}

/** `crashes`: of its room, if these are many. `isOverLimit`: it ends, as its account has too many that wait. */
export type HowTaken = { crashes: number; isOverLimit: boolean };

/** Reads a member of a batch, or a delivery that waited. Rejects any other message, and one that this version cannot read. */
export function readDelivery(message: Message): Delivery | Rejection {
  const { delivery, waited, isSuspect } = message;
  if (isDeliveryBatch(message)) return rejectBatch(message);
  if (delivery === undefined) return reject('not_a_delivery', 'the message is no batch of deliveries');
  const isAgain = mayWait(message);
  if (waited === undefined && !isAgain && !isSuspect) return delivery;
  return { ...delivery, ...(waited && { waited }), ...(isAgain && { mayWait: true }), ...(isSuspect && { isSuspect }) };
}

/** The row of a suspect, if it has one, is about to be deleted. */
function mayWait({ waited, isSuspect, deliveryCount, cameBefore, mayWait: isSaidTo }: Message): boolean {
  return waited === undefined && isSuspect !== true && (isSaidTo === true || cameBefore === true || deliveryCount > 0);
}

/** Returns the record of a delivery that is rejected; none if the message is no delivery. */
export function reportRejectedDelivery(now: () => number) {
  return ({ delivery }: Message, { reason, detail }: Rejection): Recorded[] => {
    if (delivery === undefined) return [];
    const { guid, event, interface: interfaceName, action } = delivery;
    const of = { event, interface: interfaceName, action, delivery: guid, keys: [], receivers: [] };
    return [{ kind: 'outcome', outcome: { kind: 'rejected', ...of, at: now(), reason, detail } }];
  };
}
