/**
 * The messages of the line. A step is a `Handler`: it takes one message and returns the messages it causes. It does
 * not publish and does not acknowledge; `hand-over/` says when both are done.
 */
import type { DeliveryEnd, Outcome, ParkReason } from './outcomes.ts';

/** A message as it came from a queue. */
export type Message = {
  queue: string;
  exchange: string;
  routingKey: string;
  body: Buffer;
  messageId?: string;
  type?: string;
  /** The one compact property for what a delivery must carry beside its body (AMQP `correlation_id`). */
  note?: string;
  contentType?: string;
  contentEncoding?: string;
  traceparent?: string;
  /** The traces of what it is a batch of, where they are recorded; comma-separated. */
  traceparents?: string;
  /** Spans are made of what becomes of it. */
  isTraced?: true;
  /** The user that published it, as the broker has checked; absent where its publisher did not say. */
  userId?: string;
  /** How often the broker took it back from a consumer, 0 for the first delivery. */
  deliveryCount: number;
  /** Processes that died with it in hand, as far as is known; absent where none did. */
  deaths?: number;
  /** It came before, with others in a bundle, and may be with it again. */
  cameBefore?: boolean;
  /** It was set aside: it may kill its process, or its handler threw. */
  isSuspect?: boolean;
  /** How often its handler threw; counted on the suspects lane only. */
  failures: number;
  /** The broker itself moved it. */
  death?: Death;
  /** Present where it waited outside of the broker. */
  parked?: ParkedFor;
};

/** Why the broker moved a message (`expired`, `maxlen`, `delivery_limit`, `rejected`), and out of which queue. */
export type Death = {
  reason: string;
  queue: string;
  /** It expired by what its publisher said, not by what is said of the queue. */
  isOfPublisher: boolean;
  /** Only for the rejected queue: why it was there, and since when. */
  rejected?: { reason: string; detail: string; at: string };
};

/** The state of a delivery that was parked. */
export type ParkedFor = {
  why: ParkReason;
  /** Its body was deleted for an erasure request. */
  isForgotten?: boolean;
  /** It is one of the oldest of an account that has more parked than it may. */
  isOverLimit?: boolean;
};

/** Something that a step took, such as one AMQP message, and the only two things that may be done with it. */
export type Source = {
  /** Unlike that of any other source of this process: from `newSourceId`. */
  id: number;
  messages: readonly Message[];
  /** As the broker sent it, unopened; what is set there before `messages` is read is true of each. Absent where no broker sent it. */
  raw?: Message;
  /** Removes it from where it was. Without effect once it was taken back. */
  acknowledge(): void;
  /** Puts it back where it was. */
  giveBack(): void;
};

let lastSource = 0;

export function newSourceId(): number {
  return (lastSource += 1);
}

/** A message to publish. Persistent and mandatory, always; no header of a consumed message is ever copied. */
export type Publication = {
  kind: 'publish';
  exchange: string;
  routingKey: string;
  body: Buffer;
  messageId?: string;
  type?: string;
  note?: string;
  contentType?: string;
  contentEncoding?: string;
  /** The user of the connection: the broker refuses any other. */
  userId?: string;
  headers?: Record<string, string | number>;
  /** A hint about something that lies elsewhere: dropped if it cannot be published. */
  mayBeLost?: true;
  /** It may travel in one message with others to the same queue. */
  mayBundle?: boolean;
  /** Where to send it when it was kept for longer than its delay. */
  ifKept?: { afterMs: number; exchange: string; routingKey: string };
};

/** The message as it was, for that exchange and key; of its headers only the trace. */
export function publishAgain(message: PassedOn, to: Pick<Publication, 'exchange' | 'routingKey'>): Publication {
  const { body, messageId, type, note, contentType, contentEncoding, traceparent } = message;
  return {
    kind: 'publish',
    exchange: to.exchange,
    routingKey: to.routingKey,
    body,
    ...(messageId !== undefined && { messageId }),
    ...(type !== undefined && { type }),
    ...(note !== undefined && { note }),
    ...(contentType !== undefined && { contentType }),
    ...(contentEncoding !== undefined && { contentEncoding }),
    ...(traceparent !== undefined && { headers: { traceparent } }),
  };
}

type PassedOn = Pick<
  Message,
  'body' | 'messageId' | 'type' | 'note' | 'contentType' | 'contentEncoding' | 'traceparent'
>;

/** The publication to send for one that was kept instead of published, and its remaining delay in milliseconds. */
export function withDelayElapsed(publication: Publication): { publication: Publication; afterMs: number } {
  const { ifKept, ...same } = publication;
  if (ifKept === undefined) return { publication, afterMs: 0 };
  const { afterMs, ...to } = ifKept;
  return { publication: { ...same, ...to }, afterMs };
}

/** The message in hand is nonsense: it goes to the rejected queue with the original bytes. */
export type Rejection = {
  kind: 'reject';
  reason: string;
  /** The fault in words, its place included. */
  detail: string;
  /** The place in the body, as a JSON pointer, if it is somewhere in it. */
  place?: string;
};

/** A record of what became of an event or of an attempt, for the delivery log. */
export type Recorded = { kind: 'outcome'; outcome: Outcome };

/** How a delivery ended, for the deactivator. */
export type Ended = { kind: 'end'; end: DeliveryEnd };

/** A delivery as it is kept while it waits outside of the broker. Its place is (subscription, createdAt, delivery, attempt, hop). */
export type ParkedRow = {
  subscription: string;
  /** Milliseconds since the epoch. */
  createdAt: number;
  /** Guid of the message. */
  delivery: string;
  attempt: number;
  hop: number;
  why: ParkReason;
  /** Not to be taken before so many milliseconds have passed; absent: at once. */
  notBeforeMs?: number;
  /** `<interface>.<action>` */
  action: string;
  note: string;
  traceparent?: string;
  /** Empty where it was forgotten. */
  body: Buffer;
  /** Its body was deleted for an erasure request; only in what is taken. */
  isForgotten?: boolean;
};

/** A delivery that waits outside of the broker until its endpoint has room; a message that causes it causes nothing else. */
export type Parked = {
  kind: 'park';
  row: ParkedRow;
  account: string;
  /** The publication that waits instead while it cannot be parked. */
  otherwise: Publication;
};

export type Outgoing = Publication | Parked | Rejection | Recorded | Ended;

export type Handler<M> = (message: M) => Promise<Outgoing[]>;

/** A handler of messages of which some cause more than is to be in memory at once. */
export type HandlerInParts<M> = (message: M) => Promise<Outgoing[] | InParts>;

/** The effects of one message, a part at a time: the next part is asked for when the one before is safe elsewhere. */
export type InParts = {
  /** Undefined after the last. */
  next(): readonly Outgoing[] | undefined;
  /** Called once: no more is asked for, whether or not there is any. */
  end(): void;
};

/** Reads the bytes at the edge, or says why they cannot be read. */
export type Parse<M> = (message: Message) => M | Rejection;

export function reject(reason: string, detail: string, place?: string): Rejection {
  return { kind: 'reject', reason, detail, ...(place === undefined ? {} : { place }) };
}

export function isRejection(parsed: unknown): parsed is Rejection {
  return typeof parsed === 'object' && parsed !== null && 'kind' in parsed && parsed.kind === 'reject';
}
