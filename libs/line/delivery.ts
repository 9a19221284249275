/**
 * A delivery: one notification on its way to one subscription. How it is published to its queue, to a retry queue, to the waiting
 * queue and into a room, and how a message is read as one. All but its body travels in one compact property, the note.
 */
import {
  waybellHeaders,
  type Destination,
  isRejection,
  laterVersionOf,
  type Message,
  type Publication,
  type Recorded,
  reject,
  type Rejection,
  rejectNewer,
  type WaitedFor,
  type Waiting,
} from './messages.ts';
import type { ByHand, InterfaceName, WaitingReason } from './outcomes.ts';
import { deliveriesExchange, deliveryQueue, retryExchange, retryKey, waitingExchange } from './topology.ts';
import type { RowKey, TakenRow } from './waiting-room/waiting-store.ts';

/** One notification for one subscription. `guid` is the message guid that receivers see. */
export type Delivery = DeliveryNote & {
  guid: string;
  interface: InterfaceName;
  action: string;
  /** Present if it waited in a room. */
  waited?: WaitedFor;
  /** Redelivered, or read from the waiting queue: it may be in its endpoint's room already. */
  mayWait?: boolean;
  /** The room of its endpoint, once that is known. */
  room?: EndpointRoom;
  /** Set aside; others wait while it is handled. */
  isSuspect?: boolean;
  /** The exact bytes to POST. */
  body: Buffer;
  traceparent?: string;
};

/** A delivery without its body, guid and action. Times are milliseconds since the epoch. */
type DeliveryNote = {
  subscription: string;
  /** Raised by every subscribe: failures of an earlier generation do not count against a later one. */
  generation: number;
  event: string;
  attempt: number;
  /**
   * Present if requested by hand: why, and the number of its first attempt, as earlier attempts were made at other times.
   * `isRetried`: a test that is retried like an event's delivery, instead of one attempt.
   */
  byHand?: { why: ByHand; fromAttempt: number; isRetried?: true };
  /** When the router made it, or when it was requested by hand. */
  createdAt: number;
  /** When its first attempt began; equal to `createdAt` until then. */
  beganAt: number;
  /** When this attempt was due, by the clock of the process that made the previous one; a first attempt is due at `createdAt`. */
  dueAt?: number;
};

/** `room`: 32 hexadecimal digits. */
export type EndpointRoom = { room: string; account: string };

export function firstAttempt({ byHand }: Delivery): number {
  return byHand?.fromAttempt ?? 1;
}

/** Publishes to the queue of the action, to be attempted now. */
export function publishDelivery(delivery: Delivery, action = actionKeyOf(delivery)): Publication {
  return publication(delivery, action, { exchange: deliveriesExchange, routingKey: action });
}

/** Publishes to the retry queue of the action and delay, which returns it to the queue of the action. */
export function publishRetry(delivery: Delivery, delayMs: number): Publication {
  const action = actionKeyOf(delivery);
  return {
    ...publication(delivery, action, { exchange: retryExchange, routingKey: retryKey(action, delayMs) }),
    ifKept: { afterMs: delayMs, exchange: deliveriesExchange, routingKey: action },
  };
}

/** Has a delivery wait, unattempted and uncounted, in the room of its endpoint, which must be known. */
export function wait(delivery: Delivery, { why, afterMs }: { why: WaitingReason; afterMs?: number }): Waiting {
  const { room: endpoint, subscription } = delivery;
  if (endpoint === undefined) throw new Error('a delivery waits in the room of its endpoint');
  return {
    kind: 'wait',
    row: {
      ...rowKeyOf(delivery, endpoint),
      account: endpoint.account,
      subscription,
      why,
      publication: publishDelivery(delivery),
      ...(afterMs === undefined ? {} : { afterMs }),
    },
  };
}

/** The key of a delivery's row in the room of this endpoint. An attempt has one, however often it waits. */
export function rowKeyOf({ guid, attempt, createdAt }: Delivery, { room }: Pick<EndpointRoom, 'room'>): RowKey {
  return { room, madeAt: createdAt, id: `${guid} ${attempt}` };
}

/** Publishes unchanged to the waiting queue, which returns it after 30 s to the queue of its action. */
export function publishWaiting(delivery: Delivery): Publication {
  return toWaitingQueue(publishDelivery(delivery));
}

/** Publishes to the waiting queue a delivery that no room takes now, or whose put has no answer. */
export function publishInstead({ row }: Waiting): Publication {
  return toWaitingQueue(row.publication);
}

/** It comes back as one that may wait in its room. */
function toWaitingQueue(waiting: Publication): Publication {
  return { ...waiting, exchange: waitingExchange, headers: { [waybellHeaders.mayWait]: 1, ...waiting.headers } };
}

/** Turns a delivery that waited into a message, as if it came from the queue of its action. */
export function asWaited({ room, publication: waited, why, isForgotten }: TakenRow, how: HowTaken): Message {
  const { routingKey, body, headers, kind: _, ...rest } = waited;
  const traceparent = headers?.['traceparent'];
  return {
    ...rest,
    queue: deliveryQueue(routingKey),
    routingKey,
    body,
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
    ...(traceparent === undefined ? {} : { traceparent: String(traceparent) }),
  };
}

type HowTaken = { crashes: number; isOverLimit: boolean };

function publication(delivery: Delivery, type: string, { exchange, routingKey }: Destination): Publication {
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

function actionKeyOf({ interface: interfaceName, action }: Pick<Delivery, 'interface' | 'action'>): string {
  return `${interfaceName}.${action}`;
}

const TYPE = /^(shipper|carrier)\.([a-z_.]+)$/;

/** Reads a member of a batch, or a delivery that waited. Rejects any other message, and one that this version cannot read. */
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
  if (message.waited !== undefined) delivery.waited = message.waited;
  if (mayWait(message)) delivery.mayWait = true;
  if (message.isSuspect) delivery.isSuspect = true;
  if (message.traceparent !== undefined) delivery.traceparent = message.traceparent;
  return delivery;
}

type ActionType = Pick<Delivery, 'interface' | 'action'>;
/** Type and action of the message read last: members of a batch have the same type. */
let [lastType, lastRead]: [string, ActionType | undefined] = ['', undefined];

function readType(type = ''): ActionType | undefined {
  if (type === lastType) return lastRead;
  const [, interfaceName, action = ''] = TYPE.exec(type) ?? [];
  lastType = type;
  lastRead =
    interfaceName === 'shipper' || interfaceName === 'carrier' ? { interface: interfaceName, action } : undefined;
  return lastRead;
}

/** The row of a suspect, if it has one, is about to be deleted. */
function mayWait({ waited, isSuspect, deliveryCount, cameBefore, mayWait: isSaidTo }: Message): boolean {
  return waited === undefined && isSuspect !== true && (isSaidTo === true || cameBefore === true || deliveryCount > 0);
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

const NOTE_VERSION = 1;

/** A version that does not know this word makes a single attempt, as for any other test. */
const RETRIED = ' retried 1';

/**
 * Writes the note as one short string: a headers table would cost a fifth of the throughput. The broker allows 255 bytes. A later
 * version appends a word and a value, ` word value`; this one skips them and does not pass them on
 * (docs/decisions/0012-versions.md).
 */
function writeNote(delivery: DeliveryNote): string {
  const { subscription, generation, event, attempt, createdAt, beganAt, dueAt, byHand } = delivery;
  const due = dueAt === undefined ? '' : ` ${dueAt}`;
  const hand = byHand === undefined ? '' : ` ${byHand.why} ${byHand.fromAttempt}${byHand.isRetried ? RETRIED : ''}`;
  // Joined, because each part of a long template makes a string of its own.
  const plain = [NOTE_VERSION, subscription, generation, event, attempt, createdAt, beganAt].join(' ');
  return plain + due + hand;
}

const GUID = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}';
const NOTE = new RegExp(
  String.raw`^${NOTE_VERSION} ${GUID} \d{1,10} ${GUID} \d{1,4} \d{1,16} \d{1,16}(?: \d{1,16})?(?: (?:resend|test) [1-9]\d{0,3}(?:${RETRIED})?)?(?: (?!resend |test |retried )[a-z]+ [!-~]+)*$`,
);
const DIGIT = /^\d/;

/** Parses a note; undefined if it is not in this format. */
function readNote(text = ''): DeliveryNote | undefined {
  // Test and split: a match with its groups would take twice the memory.
  if (!NOTE.test(text)) return undefined;
  const words = text.split(' ');
  const [, subscription = '', generation, event = '', attempt, createdAt, beganAt] = words;
  const note: DeliveryNote = {
    subscription,
    generation: Number(generation),
    event,
    attempt: Number(attempt),
    createdAt: Number(createdAt),
    beganAt: Number(beganAt),
  };
  return words.length === PLAIN_WORDS ? note : withMore(note, words);
}

const PLAIN_WORDS = 7;

/** Reads what not every note has; skips what a later version wrote behind. */
function withMore(note: DeliveryNote, words: readonly string[]): DeliveryNote | undefined {
  let place = PLAIN_WORDS;
  if (DIGIT.test(words[place] ?? '')) note.dueAt = Number(words[place++]);
  const why = words[place];
  if (why !== 'resend' && why !== 'test') return note;
  const fromAttempt = Number(words[place + 1]);
  if (fromAttempt > note.attempt) return undefined;
  note.byHand = { why, fromAttempt, ...(words[place + 2] === 'retried' ? { isRetried: true } : {}) };
  return note;
}
