/**
 * The messages of the line, and what handlers make of them. A step is a `Handler`: it gets a batch of messages and returns the
 * effects of each. It does not publish and does not acknowledge; `hand-over/` decides when both are done.
 *
 *   Source ─▶ Message ─▶ Parse ─▶ Handler ─▶ Fate: its effects (`Outgoing`) ─┬─ Publication   to a queue
 *                          │                  │                              ├─ Waiting       into a room
 *                          └────▶ Rejection ◀─┘                              └─ Recorded, Ended   in batches of many messages
 */
import { Unavailable } from '@waybell/runtime/unavailable';
import type { ByHand, DeliveryEnd, InterfaceName, Outcome, WaitingReason } from './outcomes.ts';

/** A message as a step takes it: from a queue, or from a room or table whose rows are handled like messages. */
export type Message = MessageRoute & MessageContent & MessageHistory & RoomHistory & MessageMarks;

/** How it came to the step. Of a message that was set aside or moved by the broker: how it came before that. */
export type MessageRoute = {
  queue: string;
  exchange: string;
  routingKey: string;
};

/** The bytes and properties that were on the wire, as its publisher wrote them. */
export type MessageContent = {
  body: Buffer;
  /** Present if it is one delivery, out of a batch or a room: published again, it leaves in a batch. */
  delivery?: CarriedDelivery;
  messageId?: string;
  type?: string;
  /** AMQP's `correlation_id`: of a batch of deliveries the format, and how many they are. */
  note?: string;
  contentType?: string;
  contentEncoding?: string;
  traceparent?: string;
  /** Comma-separated `traceparent`s of the parts of a batch; only of parts whose trace is recorded. */
  traceparents?: string;
  /** The user that published it, verified by the broker; absent if the publisher named none. */
  userId?: string;
};

/** A delivery, the same in messages, batches and rooms. Times are milliseconds since the epoch. */
export type CarriedDelivery = {
  /** The message guid that receivers see. */
  guid: string;
  interface: InterfaceName;
  action: string;
  subscription: string;
  /** Raised by every subscribe: failures of an earlier generation do not count against a later one. */
  generation: number;
  event: string;
  attempt: number;
  /** When the router made it, or when it was requested by hand. */
  createdAt: number;
  /** When its first attempt began; equal to `createdAt` until then. */
  beganAt: number;
  /** When this attempt was due, by the clock of the process that made the previous one; a first attempt is due at `createdAt`. */
  dueAt?: number;
  /**
   * Present if requested by hand: why, and the number of its first attempt, as earlier attempts were made at other times.
   * `isRetried`: a test that is retried like an event's delivery, instead of one attempt.
   */
  byHand?: { why: ByHand; fromAttempt: number; isRetried?: true };
  traceparent?: string;
  /** The exact bytes to POST. */
  body: Buffer;
};

/** Earlier deliveries, failures and moves of it, by which the hand-over recognises what may kill a process. */
export type MessageHistory = {
  /** How often a consumer returned it to the broker; 0 at the first delivery. */
  deliveryCount: number;
  /** Number of processes known to have died with the message in hand; absent if none did. */
  crashes?: number;
  /** Its batch of several was delivered before, and may be redelivered with it; or it was to wait in a room. */
  cameBefore?: boolean;
  /** From the suspects lane: it may have killed its process, or its handler threw. */
  isSuspect?: boolean;
  /** How often its handler threw on the suspects lane; failures in its own queue are not counted. */
  failures: number;
  /** Present if the broker itself moved it. */
  death?: Death;
};

/** Present for a delivery or publication that a waiting room had, or may have. */
export type RoomHistory = {
  /** Present if it waited in a room. */
  waited?: WaitedFor;
  /** A delivery from the waiting queue: a room may have it already. */
  mayWait?: true;
};

/** Facts that are not on the wire: this process sets them. */
export type MessageMarks = {
  /** Spans are recorded for this message. */
  isTraced?: true;
  /** Passed on as it is: a batch of deliveries stays closed. */
  isSealed?: true;
};

/** Why the broker moved a message (`expired`, `maxlen`, `delivery_limit`, `rejected`), and out of which queue. */
export type Death = {
  reason: string;
  queue: string;
  /** Whether the publisher's own expiration expired it, and not the queue's. */
  isOfPublisher: boolean;
  /** Present if the broker moved it out of the rejected queue: why it was there, and since when. */
  rejected?: { reason: string; detail: string; at: string };
};

/** The state of a delivery that waited in a room. */
export type WaitedFor = {
  room: string;
  why: WaitingReason;
  /** Its body was deleted for an erasure request. */
  isForgotten?: boolean;
  /** One of the oldest of an account whose waiting deliveries exceed its limit. */
  isOverLimit?: boolean;
};

/** A unit that a step takes at once, such as one AMQP message; it is either acknowledged or given back. */
export type Source = {
  /** Unique in this process: from `newSourceId`. */
  id: number;
  /** Read once, and not kept, so that each message is in memory only until it has left. */
  messages: readonly Message[];
  /**
   * The message as the broker sent it, unopened; absent for other sources. Fields set here before `messages` is read apply to
   * each.
   */
  raw?: Message;
  /** Removes it from its queue or table. Without effect once it was taken back. */
  acknowledge(): void;
  /** Returns it to its queue or table. */
  giveBack(): void;
};

let lastSource = 0;

export function newSourceId(): number {
  return (lastSource += 1);
}

export type Destination = { readonly exchange: string; readonly routingKey: string };

/** A message to publish, always persistent and mandatory. Headers of a consumed message are never copied. */
export type Publication = {
  kind: 'publish';
  exchange: string;
  routingKey: string;
  body: Buffer;
  /** One delivery: it leaves in a batch, with others to the same queue (`delivery-batch.ts`), and has no properties of its own. */
  delivery?: CarriedDelivery;
  messageId?: string;
  type?: string;
  note?: string;
  contentType?: string;
  contentEncoding?: string;
  /** The connection's own user: the broker refuses any other. */
  userId?: string;
  headers?: Record<string, string | number>;
  /** Dropped if it cannot be published: a hint about something that is stored. */
  mayBeLost?: true;
  /** The exchange and key to use if it was kept for longer than its delay. */
  ifKept?: { afterMs: number; exchange: string; routingKey: string };
};

/** Why a publication is not, or may not be, in a queue. */
export type PublishError = Unroutable | Unconfirmed | Stalled | TooLarge;

/** Called once; without an error if the broker has confirmed the message. */
export type OnSettled = (error: PublishError | undefined) => void;

/** No queue is bound for the message: the broker has dropped it. */
export class Unroutable extends Error {
  constructor({ exchange, routingKey }: Destination) {
    super(`no queue is bound to exchange "${exchange}" with key "${routingKey}"`);
    this.name = 'Unroutable';
  }
}

/** No confirm came: the message may or may not be in its queue. Publishing it again may duplicate it, and loses nothing. */
export class Unconfirmed extends Error {
  constructor(why: string) {
    super(`publish not confirmed: ${why}`);
    this.name = 'Unconfirmed';
  }
}

/** The destination confirms nothing at the moment. The message was not sent, or may still arrive. */
export class Stalled extends Error {
  constructor({ exchange, routingKey }: Destination) {
    super(`what is published to exchange "${exchange}" with key "${routingKey}" is not confirmed`);
    this.name = 'Stalled';
  }
}

/** The message is larger than the broker's limit. It was not sent, or the broker has dropped it. Publishing it again is useless. */
export class TooLarge extends Error {
  constructor(bytes: number, largest: number) {
    super(`a message of ${bytes} bytes; the broker takes ${largest} at most (max_message_size)`);
    this.name = 'TooLarge';
  }
}

/** Wraps an error of the client library. */
export function unconfirmed(error: unknown): Unconfirmed {
  return new Unconfirmed(error instanceof Error ? error.message : String(error));
}

const TOO_LARGE = /is larger than (?:configured )?max size (\d+)/;

/** Reads the broker's limit, in bytes, from the reason with which it closed a channel; undefined for any other reason. */
export function largestIn(reason: string): number | undefined {
  const [, largest] = TOO_LARGE.exec(reason) ?? [];
  return largest === undefined ? undefined : Number(largest);
}

/** Headers on messages that the hand-over moved aside: where each came from and why it was moved. */
export const waybellHeaders = {
  queue: 'waybell-queue',
  exchange: 'waybell-exchange',
  routingKey: 'waybell-routing-key',
  user: 'waybell-user',
  failures: 'waybell-failures',
  reason: 'waybell-reason',
  detail: 'waybell-detail',
  at: 'waybell-at',
  cameBefore: 'waybell-came-before',
  mayWait: 'waybell-may-wait',
} as const;

const KEPT = ['messageId', 'type', 'note', 'contentType', 'contentEncoding'] as const;

/** Publishes a message unchanged to another exchange and key. Of its headers only the trace goes along. */
export function publishAgain(
  message: Omit<MessageContent, 'traceparents' | 'userId'>,
  { exchange, routingKey }: Destination,
): Publication {
  const { body, delivery, traceparent } = message;
  const again: Publication = { kind: 'publish', exchange, routingKey, body };
  if (delivery !== undefined) return { ...again, delivery };
  for (const name of KEPT) if (message[name] !== undefined) again[name] = message[name];
  if (traceparent !== undefined) again.headers = { traceparent };
  return again;
}

/** Returns the publication to send instead of one that was kept, and its remaining delay in milliseconds. */
export function withDelayElapsed(publication: Publication): { publication: Publication; afterMs: number } {
  const { ifKept, ...same } = publication;
  if (ifKept === undefined) return { publication, afterMs: 0 };
  const { afterMs, ...to } = ifKept;
  return { publication: { ...same, ...to }, afterMs };
}

/** A message that breaks the contract: it goes to the rejected queue with its original bytes. */
export type Rejection = {
  kind: 'reject';
  reason: string;
  /** Describes the fault, with its place. */
  detail: string;
  /** JSON pointer to the fault, if it is in the body. */
  place?: string;
};

export function reject(reason: string, detail: string, place?: string): Rejection {
  return { kind: 'reject', reason, detail, ...(place === undefined ? {} : { place }) };
}

export function isRejection(parsed: unknown): parsed is Rejection {
  return typeof parsed === 'object' && parsed !== null && 'kind' in parsed && parsed.kind === 'reject';
}

/**
 * Rejection reason of a message from a later version that this one cannot read: an operator sends it again once that version
 * runs.
 */
export const NEWER_FORMAT = 'newer_format';

/** `what`: describes the message, such as `a delivery of format 2`. */
export function rejectNewer(what: string): Rejection {
  return reject(NEWER_FORMAT, `${what}, which only a later version reads: send it again once that version runs`);
}

/** Returns the format number of a note if it is greater than `known`; undefined otherwise. */
export function laterVersionOf(note: string | undefined, known: number): number | undefined {
  const [, version] = /^([1-9]\d{0,3}) /.exec(note ?? '') ?? [];
  return Number(version ?? 0) > known ? Number(version) : undefined;
}

/** A record of an event's or an attempt's result, for the delivery log. */
export type Recorded = { kind: 'outcome'; outcome: Outcome };

/** How a delivery ended, for the deactivator. */
export type Ended = { kind: 'end'; end: DeliveryEnd };

/** Identifies a row. `room`: 32 hexadecimal digits. `madeAt`: milliseconds since the epoch. */
export type RowKey = { room: string; madeAt: number; id: string };

/** A row of a waiting room (waiting-room/). */
export type WaitingRow = RowKey & {
  why: WaitingReason;
  /** Not due before this many milliseconds have passed; absent: due at once. */
  afterMs?: number;
  delivery: CarriedDelivery;
  /** The account of the room's endpoint, and the subscription of the row. */
  account?: string;
  subscription?: string;
};

/** A delivery that waits in its endpoint's room. A message that causes it causes nothing else, and is not remembered. */
export type Waiting = { kind: 'wait'; row: WaitingRow };

export type Outgoing = Publication | Waiting | Recorded | Ended;

/** Parses a message, or returns why it cannot be read. */
export type Parse<M> = (message: Message) => M | Rejection;

/**
 * Handles a batch: messages that came together. First makes the queries for all of them, then resolves with a function that
 * begins the one at this place and ends it then or later. It may reject for all of them, because nothing was begun for any: it
 * runs again for each half, so its queries must be safe to repeat. In a step with `once` they must change nothing: repeats
 * among the batch are queried for, and never begun. An error of `begin` is the failure of that one.
 *
 * `isInHand`: to be asked about the message at this place just before what must not be done twice, such as a request. False: it was
 * given or taken back, and whatever its end is, nothing comes of it.
 */
export type Handler<M> = (batch: readonly M[], isInHand: (place: number) => boolean) => Promise<Begin>;
export type Begin = (place: number, end: End) => void;

/** Reports the result of a message; called once. */
export type End = (fate: Fate) => void;

/**
 * The result of a message, as its handler reports it.
 *
 *   what happens                                       fate     then
 *
 *   work ends with effects, or none ────────────────▶ done     acknowledged once all that it caused is safe
 *   `parse`, work or a repeat says that it is wrong ─▶ reject   to the rejected queue with its bytes and the reason, and on record
 *   an `Unavailable` is thrown ─────────────────────▶ away     kept in hand, and handled again when that is back; given back if it takes long
 *   anything else is thrown ────────────────────────▶ failed   a bug or a poisonous message: to the suspects lane, in the end rejected
 *     before any of a batch was begun ───────────────▶ failed   for one: the batch is halved until the one that throws is alone
 */
export type Fate = { kind: 'done'; caused: readonly Outgoing[] | InParts } | Rejection | NoResult;

/** Why there is no result: something that is needed is away, or there is a fault of ours. */
export type NoResult = { kind: 'away'; error: Unavailable } | { kind: 'failed'; error: unknown };

export function noResult(error: unknown): NoResult {
  return error instanceof Unavailable ? { kind: 'away', error } : { kind: 'failed', error };
}

export function isNoResult(value: unknown): value is NoResult {
  if (typeof value !== 'object' || value === null || !('kind' in value)) return false;
  return value.kind === 'away' || value.kind === 'failed';
}

/** The effects of one message in parts: the next part is requested when the previous one is safe. */
export type InParts = {
  /** Returns the next part; undefined after the last. */
  next(): readonly Outgoing[] | undefined;
  /** Called once, when no more parts are wanted; some may be left. */
  end(): void;
};

/** Makes a handler from work on a whole batch; the work resolves with the effects of each message, in order. */
export function allAtOnce<M>(work: (batch: readonly M[]) => Promise<readonly Result[]>): Handler<M> {
  return async (batch) => {
    const results = await work(batch);
    return (place, end) => end(fateOf(results[place] ?? []));
  };
}

/** Makes a handler of work that is done for each message by itself. */
export function oneByOne<M>(work: (message: M) => Promise<Result>): Handler<M> {
  return async (batch) => startEach(batch, work);
}

/** Starts work that is done for each by itself. */
export function startEach<T>(batch: readonly T[], work: (each: T) => Promise<Result>): Begin {
  return (place, end) => {
    const each = batch[place];
    if (each === undefined) throw new Error('a batch has something at each of its places');
    work(each).then(
      (result) => end(fateOf(result)),
      (error: unknown) => end(noResult(error)),
    );
  };
}

/** The result of work that a handler is made of. */
type Result = readonly Outgoing[] | InParts | Rejection;

function fateOf(result: Result): Fate {
  return isRejection(result) ? result : { kind: 'done', caused: result };
}
