import { publishOptions, readMessage } from '@waybell/line/broker/amqp-message';
import { readDelivery } from '@waybell/line/delivery';
import { asSent, countMembers, isDeliveryBatch, openBatch, readMembers } from '@waybell/line/delivery-batch';
import type { Lane } from '@waybell/line/hand-over/suspicion';
import { isRejection, type Message, type Publication, type WaitingRow } from '@waybell/line/messages';
import { readOutcomes } from '@waybell/line/outcome-batch';
import type { Outcome } from '@waybell/line/outcomes';
import * as line from '@waybell/line/topology';
import { remembering } from './remembering.ts';

/** One message with a delivery, or several, in a queue or in hand. There may be several of the same attempt. */
export type Copy = {
  lane: Lane;
  message: Message;
  /** Its row, if it was taken from a room; the row stays there until it is settled. */
  row?: WaitingRow;
  /** It is in a room because it is under way; late where it is not postponed any more, and its process does not know. */
  lease?: 'in time' | 'late';
  /** Known returns from there, by replica. */
  seen: readonly number[];
};

/** The state of a copy that nothing has happened to. */
export const NEW_COPY = { seen: [] } as const;

/** The deliveries there may be, and how laws and stories call them. */
export const GUIDS = {
  A: '0b9c2f6e-7d1f-4e57-8f5e-00000000000a',
  B: '0b9c2f6e-7d1f-4e57-8f5e-00000000000b',
  C: '0b9c2f6e-7d1f-4e57-8f5e-00000000000c',
};
export type DeliveryName = keyof typeof GUIDS;
export const DELIVERIES = ['A', 'B', 'C'] as const;

export const nameOfGuid = (guid: string | undefined): DeliveryName =>
  DELIVERIES.find((name) => GUIDS[name] === guid) ?? 'A';

/** The delivery and attempt that a message is. */
export const attemptOf = remembering((message: Message): { delivery: DeliveryName; attempt: number } => {
  const read = readDelivery(message);
  if (isRejection(read)) throw new Error(`the deliverer published what it cannot read: ${read.detail}`);
  return { delivery: nameOfGuid(read.guid), attempt: read.attempt };
});

export const isSeveral = (message: Message): boolean => countMembers(message) > 1;

/** Returns the messages that a process reads from it. */
export function messagesOf(message: Message): readonly Message[] {
  return isDeliveryBatch(message) ? opened(message) : [message];
}

const opened = remembering(openBatch);

/** Every delivery that is in it. */
export function membersOf(message: Message): readonly Message[] {
  return isDeliveryBatch(message) ? membersIn(message) : [message];
}

const membersIn = remembering((message: Message) => readMembers(message) ?? []);

/** Whether the broker has it, were its process gone. */
export const isOfBroker = ({ row }: Copy): boolean => row === undefined;

export function nameOf({ message }: Pick<Copy, 'message'>): string {
  return membersOf(message).map(nameOfOne).join(' with ');
}

function nameOfOne(message: Message): string {
  const { delivery, attempt } = attemptOf(message);
  return `attempt ${attempt} of ${delivery}`;
}

/** The same for copies with which the same can happen. */
export const copyKey = remembering(({ lane, message, seen }: Copy): string => {
  return `${doorKey({ lane, message })} ${seen.join()}`;
});

export function doorKey({ lane, message }: Pick<Copy, 'lane' | 'message'>): string {
  return `${lane} ${messageKey(message)}`;
}

export const messageKey = remembering((message: Message): string => {
  if (isDeliveryBatch(message))
    return `(${membersOf(message).map(messageKey).join('&')}) ${message.deliveryCount} ${message.crashes}`;
  const { delivery, attempt } = attemptOf(message);
  const { waited, deliveryCount, crashes, failures, cameBefore, mayWait } = message;
  return `${delivery}${attempt} ${waited?.why ?? ''} ${deliveryCount} ${crashes} ${failures}${cameBefore ? ' before' : ''}${mayWait ? ' again' : ''}`;
});

/** The copy in its queue again, after a return from that replica. */
export function takenBack(copy: Copy, index: number): Copy {
  return (seenAgain(copy)[index] ??= { ...returned(copy), seen: withSeen(copy, index, (copy.seen[index] ?? 0) + 1) });
}

const seenAgain = remembering<Copy, Copy[]>(() => []);

/** The copy in its queue again, after the crash of its process. */
export const returned = remembering(({ lane, message, seen }: Copy): Copy => {
  return { lane, message: { ...message, deliveryCount: message.deliveryCount + 1 }, seen };
});

/** The copy after another process has replaced that replica. */
export function unseen(copy: Copy, index: number): Copy {
  if ((copy.seen[index] ?? 0) === 0) return copy;
  return (forgotten(copy)[index] ??= { ...copy, seen: withSeen(copy, index, 0) });
}

const forgotten = remembering<Copy, Copy[]>(() => []);

/** Empty where no replica saw it return. */
function withSeen({ seen }: Copy, index: number, times: number): number[] {
  const all = Array.from({ length: Math.max(seen.length, index + 1) }, (_, at) =>
    at === index ? times : (seen[at] ?? 0),
  );
  return all.some((each) => each > 0) ? all : [];
}

/** The message as that replica takes it. */
export function judged(copy: Copy, index: number): Message {
  const { message, seen, row } = copy;
  if (row !== undefined || message.deliveryCount === 0) return message;
  return (judgedBy(copy)[index] ??= { ...message, crashes: message.deliveryCount - (seen[index] ?? 0) });
}

const judgedBy = remembering<Copy, Message[]>(() => []);

/** Whether it may have been in hand when a process died. */
export function cameAgain({ lane, message }: Copy): boolean {
  return lane === 'queue' && (message.deliveryCount > 0 || message.cameBefore === true || (message.crashes ?? 0) > 0);
}

type Stored = { copies: Copy[]; records: string[] };

/** The effect of a publication on queues: a copy, or a permanent record. */
export const storedOf = remembering((publication: Publication): Stored => {
  const { exchange, type = '', body } = publication;
  const bringing = (lane: Lane, to = publication) => ({
    copies: [{ ...NEW_COPY, lane, message: arrived(to) }],
    records: [],
  });
  switch (exchange) {
    case line.deliveriesExchange:
    case line.returnsExchange:
      return bringing('queue');
    case line.retryExchange:
      return bringing('queue', { ...publication, exchange: line.returnsExchange, routingKey: type });
    case line.waitingExchange:
      return bringing('queue', { ...publication, exchange: line.returnsExchange });
    case line.suspectsExchange:
      return bringing('suspects');
    case OTHER_STEP:
      return { copies: [], records: membersOf(arrived(publication)).flatMap(ofOtherStep) };
    case line.outcomesExchange:
      return { copies: [], records: readOutcomes(body).flatMap(toldBy) };
    case line.endsExchange:
      return { copies: [], records: [] };
    case line.rejectedExchange:
      return { copies: [], records: membersOf(arrived(publication)).map(inRejectedQueue) };
    default:
      throw new Error(`nothing is said of exchange ${exchange}`);
  }
});

/** The exchange of a step that is not in the model: what it is sent counts as done. */
export const OTHER_STEP = 'another step';
/** An event is one that is routed, and causes these two. */
export const PARTS = [2, 3] as const;

function ofOtherStep(message: Message): string[] {
  const { delivery, attempt } = attemptOf(message);
  return attempt === PARTS.at(-1) ? [`${delivery} ${attempt}`, `${delivery} ended`] : [`${delivery} ${attempt}`];
}

const inRejectedQueue = ({ messageId }: Message) => `${nameOfGuid(messageId)} in the rejected queue`;

/** The parts of a record that laws depend on: the attempt, and whether it is an end, and a rejection. */
function toldBy(outcome: Outcome): string[] {
  if (outcome.kind === 'routed' || outcome.kind === 'deactivated') return [];
  const delivery = nameOfGuid(outcome.delivery);
  if (outcome.kind === 'rejected') return [`${delivery} rejected`];
  const attempt = `${delivery} ${outcome.attempt}`;
  return outcome.kind === 'failed' ? [attempt] : [attempt, `${delivery} ended`];
}

/** Returns the message as the broker brings it and the line reads it. */
function arrived(publication: Publication): Message {
  const sent = asSent(publication);
  const { exchange, routingKey, body: content } = sent;
  const fields = { exchange, routingKey, redelivered: false };
  // The properties that the line reads.
  const consumed = { content, fields, properties: publishOptions(sent) };
  return readMessage('', consumed as unknown as Parameters<typeof readMessage>[1]);
}

/** One of each kind: with others that are alike, the same happens. */
export function distinct(copies: readonly Copy[]): Copy[] {
  return [...new Map(copies.map((copy) => [copyKey(copy), copy])).values()];
}
