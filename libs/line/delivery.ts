import { reject, type Message, type Publication, type Rejection } from './messages.ts';
import type { InterfaceName } from './outcomes.ts';
import { deliveriesExchange, retryExchange, retryKey } from './topology.ts';

/** One notification on its way to one subscription. `guid` is the message guid that receivers see. */
export type Delivery = {
  guid: string;
  interface: InterfaceName;
  action: string;
  subscription: string;
  /** Raised by every subscribe: failures of an earlier generation do not count against a later one. */
  generation: number;
  event: string;
  /** 1 for the first. */
  attempt: number;
  /** When the router made it, milliseconds since the epoch. */
  createdAt: number;
  /** When its first attempt began; equal to `createdAt` until then. */
  beganAt: number;
  /** The exact bytes to POST. */
  body: Buffer;
  traceparent?: string;
};

/** To the queue of its action, to be attempted now. */
export function publishDelivery(delivery: Delivery): Publication {
  return publication(delivery, { exchange: deliveriesExchange, routingKey: actionKey(delivery) });
}

/** To the retry queue of its action and delay, whence it returns to the queue of its action. */
export function publishRetry(delivery: Delivery, delayMs: number): Publication {
  return publication(delivery, { exchange: retryExchange, routingKey: retryKey(actionKey(delivery), delayMs) });
}

function publication(delivery: Delivery, to: { exchange: string; routingKey: string }): Publication {
  const { guid, body, traceparent } = delivery;
  return {
    kind: 'publish',
    ...to,
    body,
    messageId: guid,
    type: actionKey(delivery),
    note: writeNote(delivery),
    contentType: 'application/json',
    ...(traceparent === undefined ? {} : { headers: { traceparent } }),
  };
}

export function actionKey({ interface: interfaceName, action }: Pick<Delivery, 'interface' | 'action'>): string {
  return `${interfaceName}.${action}`;
}

// One short string instead of a table of headers, which would cost a fifth of the throughput.
function writeNote(delivery: Delivery): string {
  const { subscription, generation, event, attempt, createdAt, beganAt } = delivery;
  return `1 ${subscription} ${generation} ${event} ${attempt} ${createdAt} ${beganAt}`;
}

const GUID = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}';
const NOTE = new RegExp(String.raw`^1 (${GUID}) (\d{1,10}) (${GUID}) (\d{1,4}) (\d{1,16}) (\d{1,16})$`);
const TYPE = /^(shipper|carrier)\.([a-z_.]+)$/;

/** Reads a delivery from its queue. A message that the router did not make is rejected. */
export function readDelivery(message: Message): Delivery | Rejection {
  const [, interfaceName, action] = TYPE.exec(message.type ?? '') ?? [];
  const note = NOTE.exec(message.note ?? '');
  const guid = message.messageId;
  if (guid === undefined || (interfaceName !== 'shipper' && interfaceName !== 'carrier') || !action || !note) {
    return reject('not_a_delivery', 'message_id, type or correlation_id is not what the router writes');
  }
  const [, subscription = '', generation, event = '', attempt, createdAt, beganAt] = note;
  return {
    guid,
    interface: interfaceName,
    action,
    subscription,
    generation: Number(generation),
    event,
    attempt: Number(attempt),
    createdAt: Number(createdAt),
    beganAt: Number(beganAt),
    body: message.body,
    ...(message.traceparent === undefined ? {} : { traceparent: message.traceparent }),
  };
}
