import { publishOptions, readMessage } from '@waybell/line/broker/amqp-message';
import { readDelivery } from '@waybell/line/delivery';
import { asSent, countMembers, isDeliveryBatch, openBatch, readMembers } from '@waybell/line/delivery-batch';
import { deathsOf, type Lane } from '@waybell/line/hand-over/suspicion';
import { isRejection, type Message, type Publication, type WaitingRow } from '@waybell/line/messages';
import { readOutcomes } from '@waybell/line/outcome-batch';
import type { Outcome } from '@waybell/line/outcomes';
import * as line from '@waybell/line/topology';
import { remembering } from './remembering.ts';

/** One message with a delivery, or several, in a queue or in hand. There may be several of the same attempt. */
export type Copy = {
  lane: Lane;
  message: Message;
  /** What it was taken from, where that is a room; it stays there until it is settled. */
  row?: WaitingRow;
  /** It is in a room because it is under way; late where it is not postponed any more, and its process does not know. */
  lease?: 'in time' | 'late';
  /** From the quarantine, and at work for so long that other things are taken beside it. */
  isBeside?: boolean;
  /** How many processes died with it in hand; … */
  died: number;
  /** … and after they had said that they have it, or have it with nothing beside it, as far as anything depends on that. */
  held: number;
  alone: number;
};

/** The state of a copy that nothing has happened to. */
export const NEW_COPY = { died: 0, held: 0, alone: 0 } as const;

/** The deliveries there may be, and how laws and stories call them. */
export const GUIDS = { A: '0b9c2f6e-7d1f-4e57-8f5e-00000000000a', B: '0b9c2f6e-7d1f-4e57-8f5e-00000000000b' };
export type DeliveryName = keyof typeof GUIDS;
export const DELIVERIES = ['A', 'B'] as const;

export const nameOfGuid = (guid: string | undefined): DeliveryName => (guid === GUIDS.A ? 'A' : 'B');

/** The delivery and attempt that a message is. */
export const attemptOf = remembering((message: Message): { delivery: DeliveryName; attempt: number } => {
  const read = readDelivery(message);
  if (isRejection(read)) throw new Error(`the deliverer published what it cannot read: ${read.detail}`);
  return { delivery: nameOfGuid(read.guid), attempt: read.attempt };
});

export const isSeveral = (message: Message): boolean => countMembers(message) > 1;

/** What a process takes it for. */
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
export const copyKey = remembering(({ lane, message, died, held, alone }: Copy): string => {
  return `${doorKey({ lane, message })} ${died} ${held} ${alone}`;
});

export function doorKey({ lane, message }: Pick<Copy, 'lane' | 'message'>): string {
  return `${lane} ${messageKey(message)}`;
}

export const messageKey = remembering((message: Message): string => {
  if (isDeliveryBatch(message))
    return `(${membersOf(message).map(messageKey).join('&')}) ${message.deliveryCount} ${message.deaths}`;
  const { delivery, attempt } = attemptOf(message);
  const { waited, deliveryCount, deaths, failures, cameBefore } = message;
  return `${delivery}${attempt} ${waited?.why ?? ''} ${deliveryCount} ${deaths} ${failures}${cameBefore ? ' before' : ''}`;
});

/** Beyond this nothing depends on how many processes died with a copy in hand; of a batch of several. */
const COUNTED_DEATHS = 3;
const COUNTED_OF_SEVERAL = 6;
/** Nothing depends on how often a copy came again, but on whether it did. */
const OFTEN = 1_000;

/** As it is in its queue again. */
export const takenBack = remembering(({ lane, message, died, held, alone }: Copy): Copy => {
  return { lane, message: cameAgain(message), died, held, alone };
});

/** As it is in its queue again once the process is dead that had it. */
export const orphaned = remembering(({ lane, message, died, held, alone, isBeside }: Copy): Copy => {
  const most = isSeveral(message) ? COUNTED_OF_SEVERAL : COUNTED_DEATHS;
  const more = (count: number, by: number) => Math.min(count + by, most);
  // What comes from its own queue for the first time is not noted.
  const isNoted = lane !== 'queue' || message.deliveryCount > 0;
  return {
    lane,
    message: cameAgain(message),
    died: more(died, 1),
    held: more(held, isNoted ? 1 : 0),
    alone: more(alone, lane === 'quarantine' && !isBeside ? 1 : 0),
  };
});

const cameAgain = remembering((message: Message): Message => ({ ...message, deliveryCount: 1 }));

/** As a process takes it, which has found out what others noted. */
export const judged = remembering((copy: Copy): Message => {
  const { lane, message, held, alone, row } = copy;
  if (row !== undefined || (lane === 'queue' && message.deliveryCount === 0)) return message;
  return { ...message, deaths: deathsOf(lane, message.deliveryCount * OFTEN, { held, alone }) };
});

type Stored = { copies: Copy[]; records: string[] };

/** What there is in queues because of a publication: a copy, or, for good, what is on record. */
export const storedOf = remembering((publication: Publication): Stored => {
  const { exchange, routingKey, type = '', body } = publication;
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
      return bringing(routingKey === line.quarantineKey('deliverer') ? 'quarantine' : 'suspects');
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

/** What laws rest on in a record: that there is one of the attempt, and whether it is an end, and a rejection. */
function toldBy(outcome: Outcome): string[] {
  if (outcome.kind === 'routed' || outcome.kind === 'deactivated') return [];
  const delivery = nameOfGuid(outcome.delivery);
  if (outcome.kind === 'rejected') return [`${delivery} rejected`];
  const attempt = `${delivery} ${outcome.attempt}`;
  return outcome.kind === 'failed' ? [attempt] : [attempt, `${delivery} ended`];
}

/** As the broker brings it, read as the line reads it. */
function arrived(publication: Publication): Message {
  const sent = asSent(publication);
  const { exchange, routingKey, body: content } = sent;
  const fields = { exchange, routingKey, redelivered: false };
  // As much of it as the line reads.
  const consumed = { content, fields, properties: publishOptions(sent) };
  return readMessage('', consumed as unknown as Parameters<typeof readMessage>[1]);
}

/** One of each kind: with others that are alike, the same happens. */
export function distinct(copies: readonly Copy[]): Copy[] {
  return [...new Map(copies.map((copy) => [copyKey(copy), copy])).values()];
}
