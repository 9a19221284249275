import { NOTE_VERSION, readNote, writeNote, type DeliveryNote } from './delivery-note.ts';
import {
  isRejection,
  reject,
  type Message,
  type Parked,
  type ParkedFor,
  type ParkedRow,
  type Publication,
  type Recorded,
  type Rejection,
} from './messages.ts';
import type { InterfaceName, ParkReason } from './outcomes.ts';
import { laterVersionOf, rejectNewer } from './newer-format.ts';
import { deliveriesExchange, deliveryQueue, retryExchange, retryKey, waitingExchange } from './topology.ts';

/** One notification for one subscription. `guid` is the message guid that receivers see. */
export type Delivery = DeliveryNote & {
  guid: string;
  interface: InterfaceName;
  action: string;
  /** Present if it waited outside of the broker. */
  parked?: ParkedFor;
  /** Delivered by the broker before, or back from the waiting queue: it may be parked already. */
  mayBeParked?: boolean;
  /** Delivered in a batch of several before: the process that had it may have kept it as an open request. */
  mayBeOpen?: boolean;
  /** Set aside; others wait while it is handled. */
  isSuspect?: boolean;
  /** The exact bytes to POST. */
  body: Buffer;
  traceparent?: string;
};

export function firstAttempt({ byHand }: Delivery): number {
  return byHand?.fromAttempt ?? 1;
}

/** Publishes to the queue of the action, to be attempted now. */
export function publishDelivery(delivery: Delivery, action = actionKey(delivery)): Publication {
  return publication(delivery, action, { exchange: deliveriesExchange, routingKey: action });
}

/** Publishes to the retry queue of the action and delay, which returns it to the queue of the action. */
export function publishRetry(delivery: Delivery, delayMs: number): Publication {
  const { hop: _, ...retry } = delivery;
  const action = actionKey(delivery);
  return {
    ...publication(retry, action, { exchange: retryExchange, routingKey: retryKey(action, delayMs) }),
    ifKept: { afterMs: delayMs, exchange: deliveriesExchange, routingKey: action },
  };
}

export type Parking = { account: string; why: ParkReason; notBeforeMs?: number };

/** Parks a delivery, unattempted and uncounted, until its endpoint has room. */
export function park(delivery: Delivery, { account, why, notBeforeMs }: Parking): Parked {
  const { guid, subscription, createdAt, attempt, body, traceparent } = delivery;
  const moved = movedOnce(delivery);
  return {
    kind: 'park',
    row: {
      subscription,
      createdAt,
      delivery: guid,
      attempt,
      hop: moved.hop,
      why,
      action: actionKey(delivery),
      note: writeNote(moved),
      body,
      ...(notBeforeMs === undefined ? {} : { notBeforeMs }),
      ...(traceparent === undefined ? {} : { traceparent }),
    },
    account,
    otherwise: publishWaiting(delivery),
  };
}

/** Publishes unchanged to the waiting queue, which returns it to the queue of its action after 30 s. */
export function publishWaiting(delivery: Delivery): Publication {
  const action = actionKey(delivery);
  return publication(movedOnce(delivery), action, { exchange: waitingExchange, routingKey: action });
}

const movedOnce = (delivery: Delivery) => ({ ...delivery, hop: (delivery.hop ?? 0) + 1 });

/** Turns a parked delivery into a message, as if it came from the queue of its action. */
export function unpark(row: ParkedRow, how: { deaths: number; isOverLimit: boolean }): Message {
  const { action, body, delivery, note, traceparent, why, isForgotten } = row;
  return {
    queue: deliveryQueue(action),
    exchange: deliveriesExchange,
    routingKey: action,
    body,
    messageId: delivery,
    type: action,
    note,
    contentType: 'application/json',
    deliveries: true,
    // A delivery that ends without a request kills no process; as a suspect it would be attempted.
    deaths: isForgotten ? 0 : how.deaths,
    deliveryCount: 0,
    failures: 0,
    parked: {
      why,
      ...(isForgotten ? { isForgotten } : {}),
      ...(how.isOverLimit ? { isOverLimit: true } : {}),
    },
    ...(traceparent === undefined ? {} : { traceparent }),
  };
}

/** Publishes a delivery that was kept elsewhere, unchanged, to the queue of its action. */
export function publishKept(
  kept: Pick<ParkedRow, 'delivery' | 'action' | 'note' | 'body'> & { traceparent: string | null },
): Publication {
  const { delivery, action, note, body, traceparent } = kept;
  return {
    kind: 'publish',
    exchange: deliveriesExchange,
    routingKey: action,
    body,
    messageId: delivery,
    type: action,
    note,
    contentType: 'application/json',
    deliveries: true,
    ...(traceparent === null ? {} : { headers: { traceparent } }),
  };
}

type To = Pick<Publication, 'exchange' | 'routingKey'>;

function publication(delivery: Delivery, type: string, { exchange, routingKey }: To): Publication {
  const { guid, body, traceparent } = delivery;
  const whole: Publication = {
    kind: 'publish',
    exchange,
    routingKey,
    body,
    messageId: guid,
    type,
    note: writeNote(delivery),
    contentType: 'application/json',
    deliveries: true,
  };
  if (traceparent !== undefined) whole.headers = { traceparent };
  return whole;
}

export function actionKey({ interface: interfaceName, action }: Pick<Delivery, 'interface' | 'action'>): string {
  return `${interfaceName}.${action}`;
}

const TYPE = /^(shipper|carrier)\.([a-z_.]+)$/;

/** Reads a member of a batch, or a parked delivery. Rejects any other message, and one that this version cannot read. */
export function readDelivery(message: Message): Delivery | Rejection {
  if (message.deliveries !== true) return reject('not_a_delivery', 'the message is no batch of deliveries');
  const note = readNote(message.note);
  const guid = message.messageId;
  const type = readType(message.type);
  if (guid === undefined || type === undefined || note === undefined) {
    const version = laterVersionOf(message.note, NOTE_VERSION);
    if (version !== undefined) return rejectNewer(`a delivery of format ${version}`);
    return reject('not_a_delivery', 'message_id, type or correlation_id is not what is written here');
  }
  const delivery: Delivery = { ...note, guid, interface: type.interface, action: type.action, body: message.body };
  if (message.parked !== undefined) delivery.parked = message.parked;
  if (mayBeParked(message, note.hop)) delivery.mayBeParked = true;
  if (message.cameBefore) delivery.mayBeOpen = true;
  if (message.isSuspect) delivery.isSuspect = true;
  if (message.traceparent !== undefined) delivery.traceparent = message.traceparent;
  return delivery;
}

type ActionType = Pick<Delivery, 'interface' | 'action'>;
/** Of the message read last: members of a batch have the same type. */
let [lastType, lastRead]: [string, ActionType | undefined] = ['', undefined];

function readType(type = ''): ActionType | undefined {
  if (type === lastType) return lastRead;
  const [, interfaceName, action = ''] = TYPE.exec(type) ?? [];
  lastType = type;
  lastRead =
    interfaceName === 'shipper' || interfaceName === 'carrier' ? { interface: interfaceName, action } : undefined;
  return lastRead;
}

/** A moved delivery from its own queue was a parked row set aside as a suspect: the row is about to be deleted. */
function mayBeParked(message: Message, hop: number | undefined): boolean {
  const { parked, deliveryCount, exchange, cameBefore = false } = message;
  if (parked !== undefined) return false;
  return hop === undefined ? cameBefore || deliveryCount > 0 : exchange !== deliveriesExchange;
}

/** Returns the record of a delivery that is rejected; none if the message is no delivery. */
export function reportRejectedDelivery(now: () => number) {
  return (message: Message, { reason, detail }: Rejection): Recorded[] => {
    const delivery = readDelivery(message);
    if (isRejection(delivery)) return [];
    const { guid, event, interface: interfaceName, action } = delivery;
    const of = { event, interface: interfaceName, action, delivery: guid, keys: [], receivers: [] };
    return [{ kind: 'outcome', outcome: { kind: 'rejected', ...of, at: now(), reason, detail } }];
  };
}
