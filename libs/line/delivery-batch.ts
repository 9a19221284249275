/**
 * The one place where deliveries are turned into bytes and back: as members of batches, and as rows of waiting rooms. They travel
 * in batches, one or several in a message, so that the queue, its log, the confirm and the acknowledgement cost once for all of
 * them. No delivery leaves a process in another form.
 *
 * A batch has its own message id, the type of its members, and this body: one line of JSON with an array of its members, then the
 * bodies. Members with the same body share its bytes. The members' other properties are those of the batch.
 *
 * | format | a member | a row |
 * |---|---|---|
 * | 1, written | `[guid, note, offset, length, traceparent]` | properties of a publication, with the guid and the note |
 * | 2, only read: the next release writes it | the facts by their names, `offset`, `length` | the facts by their names |
 *
 * `offset`: start of the member's body, in bytes after the line. A later version may append items, members, and words behind a
 * note, and write null for what is missing. A member that cannot be read stays closed, as a batch of its own.
 */
import { randomUUID } from 'node:crypto';
import { isGuid } from '@waybell/events/timestamp';
import { CRASHES_UNOPENED } from './hand-over/suspicion.ts';
import {
  type CarriedDelivery,
  laterVersionOf,
  type Message,
  type MessageContent,
  type Publication,
  reject,
  type Rejection,
  rejectNewer,
} from './messages.ts';
import { deliveriesExchange } from './topology.ts';

export const deliveriesContentType = 'application/vnd.waybell.deliveries';
const MEMBER_CONTENT_TYPE = 'application/json';

/** With more members, one that hangs would hold up too many, and a crash would repeat too many. */
export const MOST_MEMBERS = 16;
/** Limit of the bodies of several; one alone may be larger. */
const MOST_BYTES = 2 ** 16;
const VERSION = 1;
const NEXT_VERSION = 2;
/** Matches the version and the number of members; a later version may append more. */
const NOTE = /^[12] (\d{1,2})(?: |$)/;
const LINE_END = 0x0a;
const WORTH_COPYING = 4;
/** Begins the message ids of this process. A UUID for each batch would cost ten times as much memory. */
const PROCESS = randomUUID();
let lastBatch = 0;

type Sent = { publication: Publication };
/** A publication, and the members that share its result. */
export type Joined<T> = Sent & { members: readonly T[] };

/**
 * Joins deliveries to the same exchange and key in batches, in order. One with headers of its own is a batch by itself. Returns
 * other publications as they are.
 */
export function joinDeliveries<T extends Sent>(all: readonly T[]): Joined<T>[] {
  if (all.length === 1) return [{ publication: written(all), members: all }];
  /** Open batches by routing key: the next delivery to the same exchange joins them. */
  const open = new Map<string, Batch<T>>();
  const batches: Batch<T>[] = [];
  for (const each of all) {
    const { exchange, routingKey, body, delivery, headers } = each.publication;
    const isAlone = delivery === undefined || headers !== undefined;
    const known = isAlone ? undefined : open.get(routingKey);
    const more = known?.last === body ? 0 : body.length;
    if (known?.exchange === exchange && known.members.length < MOST_MEMBERS && known.bytes + more <= MOST_BYTES) {
      known.members.push(each);
      known.bytes += more;
      known.last = body;
      continue;
    }
    const batch = { exchange, members: [each], bytes: body.length, last: body };
    batches.push(batch);
    if (!isAlone) open.set(routingKey, batch);
  }
  return batches.map(({ members }) => ({ publication: written(members), members }));
}

type Batch<T> = { exchange: string; members: T[]; bytes: number; last: Buffer };

/** Returns the form in which a publication leaves the process: a delivery as a batch of one, anything else as it is. */
export function asSent(publication: Publication): Publication {
  return publication.delivery === undefined ? publication : written([{ publication }]);
}

/** Writes deliveries as one batch; a publication that is none stays as it is. */
function written(members: readonly Sent[]): Publication {
  const first = members[0]?.publication;
  if (first === undefined) throw new Error('a batch without members');
  const { exchange, routingKey, delivery, ifKept, headers } = first;
  if (delivery === undefined) return first;
  const batch: Publication = {
    kind: 'publish',
    exchange,
    routingKey,
    body: bodyOf(members),
    messageId: `${PROCESS}.${(lastBatch += 1)}`,
    contentType: deliveriesContentType,
    note: `${VERSION} ${members.length}`,
    type: actionKeyOf(delivery),
  };
  if (ifKept !== undefined) batch.ifKept = ifKept;
  if (headers !== undefined) batch.headers = headers;
  return batch;
}

function bodyOf(members: readonly Sent[]): Buffer {
  const heads: unknown[][] = [];
  let offset = 0;
  let end = 0;
  let last: Buffer | undefined;
  for (const { publication } of members) {
    const { delivery, body } = publication;
    if (delivery === undefined) continue;
    if (body !== last) {
      offset = end;
      end += body.length;
      last = body;
    }
    const head = [delivery.guid, writeNote(delivery), offset, body.length];
    if (delivery.traceparent !== undefined) head.push(delivery.traceparent);
    heads.push(head);
  }
  const line = JSON.stringify(heads);
  const start = Buffer.byteLength(line) + 1;
  const whole = Buffer.allocUnsafe(start + end);
  whole.write(line);
  whole[start - 1] = LINE_END;
  let at = start;
  last = undefined;
  for (const { publication } of members) {
    if (publication.body !== last) at += publication.body.copy(whole, at);
    last = publication.body;
  }
  return whole;
}

/** True for a batch of deliveries that is still closed. */
export function isDeliveryBatch({ contentType }: Pick<Message, 'contentType'>): boolean {
  return contentType === deliveriesContentType;
}

/** Returns the number of deliveries in the message, according to its note. */
export function countMembers(message: Pick<Message, 'contentType' | 'note'>): number {
  return isDeliveryBatch(message) ? Math.max(1, countIn(message.note)) : 1;
}

/** 0 for a note of another version. */
function countIn(note = ''): number {
  return Number(NOTE.exec(note)?.[1] ?? 0);
}

/** Returns the approximate size once opened, in bytes: members that share a body are sent one by one. */
export function weighOpened(message: Pick<Message, 'body' | 'contentType' | 'note'>): number {
  const { length } = message.body;
  return length > 2 * MOST_BYTES ? length * countMembers(message) : length;
}

/**
 * Returns the members of a batch of deliveries. Returns the message itself if it is none, cannot be read, or must stay closed
 * (`CRASHES_UNOPENED`).
 */
export function openBatch(message: Message): readonly Message[] {
  if (!isDeliveryBatch(message) || (message.crashes ?? 0) >= CRASHES_UNOPENED) return [message];
  return readMembers(message) ?? [message];
}

/** Explains why a batch, or a member that stayed closed, cannot be read. */
export function rejectBatch(message: Message): Rejection {
  const version = laterVersionOf(message.note, NEXT_VERSION);
  if (version !== undefined) return rejectNewer(`a batch of deliveries of format ${version}`);
  const [head, ...others] = readHeads(message, message.body.indexOf(LINE_END)) ?? [];
  if (head === undefined || others.length > 0)
    return reject('not_a_batch', 'it says that it is a batch of deliveries, and cannot be read as one');
  const memberVersion = Array.isArray(head) ? laterVersionOf(String(head[1]), VERSION) : undefined;
  if (memberVersion !== undefined) return rejectNewer(`a delivery of format ${memberVersion}`);
  return reject('not_a_delivery', 'its guid, type or note is not what is written here');
}

/** Parses the members of a batch; undefined if the format is not one of these. Their bodies are parts of its body. */
export function readMembers(message: Message): Message[] | undefined {
  const { body } = message;
  const end = body.indexOf(LINE_END);
  const heads = readHeads(message, end);
  if (heads === undefined) return undefined;
  const shared = withoutOwn(message);
  const cameBefore = heads.length > 1 && message.deliveryCount > 0;
  const members: Message[] = [];
  let part = body;
  let partAt = -1;
  for (const head of heads) {
    const { offset, length } = placeOf(head);
    if (partAt !== offset || part.length !== length) {
      const start = end + 1 + offset;
      part = ownPart(body.subarray(start, start + length), body.length / heads.length);
      partAt = offset;
    }
    const member = openMember(shared, head, part);
    if (cameBefore) member.cameBefore = true;
    members.push(member);
  }
  return members;
}

/** Returns what the members share; a batch written here has no more than that. */
function withoutOwn(message: Message): Message {
  if (message.contentEncoding === undefined && message.traceparent === undefined) return message;
  const { contentEncoding: _, traceparent: __, ...shared } = message;
  return shared;
}

/** Copies a part that is far below its share, so that a member which stays does not keep the whole batch in memory. */
function ownPart(part: Buffer, share: number): Buffer {
  return part.length * WORTH_COPYING < share ? Buffer.from(part) : part;
}

/** A member of format 1 or 2, as its batch has it. */
type Head = NotedHead | NamedHead;
type NotedHead = [guid: unknown, note: unknown, offset: number, length: number, traceparent?: unknown];
type NamedHead = Record<string, unknown> & { offset: number; length: number };

function placeOf(head: Head): Pick<NamedHead, 'offset' | 'length'> {
  return Array.isArray(head) ? { offset: head[2], length: head[3] } : head;
}

function readHeads({ body, note }: Message, end: number): Head[] | undefined {
  const bytes = body.length - end - 1;
  const isNext = note?.startsWith(`${NEXT_VERSION} `) === true;
  try {
    const heads: unknown = JSON.parse(body.toString('utf8', 0, end));
    const isWhole = Array.isArray(heads) && heads.length > 0 && heads.length === countIn(note);
    return isWhole && heads.every((head) => isHead(head, isNext, bytes)) ? heads : undefined;
  } catch {
    return undefined;
  }
}

function isHead(head: unknown, isNext: boolean, bytes: number): head is Head {
  if (typeof head !== 'object' || head === null || Array.isArray(head) === isNext) return false;
  // The place is checked here, its facts when it is opened.
  const { offset, length } = placeOf(head as Head);
  return isCount(offset) && isCount(length) && offset + length <= bytes;
}

/** Opens a member or a row. One that cannot be read is a batch of its own, which stays closed. */
function openMember<T extends { type?: string }>(shared: T, head: Head, body: Buffer): T & MessageContent {
  const delivery = Array.isArray(head) ? readNote(head, shared.type, body) : readNamed(head, body);
  if (delivery === undefined) return { ...shared, ...closed(head, body) };
  const messageId = delivery.guid;
  const member: T & MessageContent = { ...shared, body, messageId, contentType: MEMBER_CONTENT_TYPE, delivery };
  if (delivery.traceparent !== undefined) member.traceparent = delivery.traceparent;
  return member;
}

function closed(head: Head, body: Buffer): MessageContent {
  const { length } = body;
  const alone = Array.isArray(head) ? head.with(2, 0).with(3, length) : { ...head, offset: 0, length };
  return {
    body: Buffer.concat([Buffer.from(`${JSON.stringify([alone])}\n`), body]),
    note: `${Array.isArray(head) ? VERSION : NEXT_VERSION} 1`,
    contentType: deliveriesContentType,
    messageId: String(Array.isArray(head) ? head[0] : head['guid']),
  };
}

/** Writes the row of a delivery: JSON, which can escape NUL; Postgres' text cannot hold it. */
export function writeRow(delivery: CarriedDelivery): string {
  const { guid: messageId, traceparent } = delivery;
  const type = actionKeyOf(delivery);
  const note = writeNote(delivery);
  const properties = { messageId, type, note, contentType: MEMBER_CONTENT_TYPE, deliveries: true };
  const headers = traceparent === undefined ? undefined : { traceparent };
  return JSON.stringify({ kind: 'publish', exchange: deliveriesExchange, routingKey: type, ...properties, headers });
}

/** Reads the row of a delivery. `type`: the key of its action. */
export function readRow(properties: string, body: Buffer): MessageContent & { type: string } {
  const row: Record<string, unknown> = JSON.parse(properties);
  const { length } = body;
  const { messageId, note, headers, interface: side, action, type = `${String(side)}.${String(action)}` } = row;
  const traceparent: unknown = Object(headers).traceparent;
  const head: Head = note === undefined ? { ...row, offset: 0, length } : [messageId, note, 0, length, traceparent];
  return openMember({ type: String(type) }, head, body);
}

export function actionKeyOf({ interface: side, action }: Pick<CarriedDelivery, 'interface' | 'action'>): string {
  return `${side}.${action}`;
}

/** A version that does not know this word makes a single attempt, as for any other test. */
const RETRIED = ' retried 1';
const PLAIN_WORDS = 7;

/**
 * Writes a note as one short string. A later version appends a word and a value, ` word value`; this one skips them and does not
 * pass them on (docs/decisions/0012-versions.md).
 */
function writeNote(delivery: CarriedDelivery): string {
  const { subscription, generation, event, attempt, createdAt, beganAt, dueAt, byHand } = delivery;
  const due = dueAt === undefined ? '' : ` ${dueAt}`;
  const hand = byHand === undefined ? '' : ` ${byHand.why} ${byHand.fromAttempt}${byHand.isRetried ? RETRIED : ''}`;
  // Joined, because each part of a long template makes a string of its own.
  const plain = [VERSION, subscription, generation, event, attempt, createdAt, beganAt].join(' ');
  return plain + due + hand;
}

type Unchecked = { [name in keyof CarriedDelivery]?: unknown };

/** Reads a member of format 1; undefined if it is none. */
function readNote(head: NotedHead, type: string | undefined, body: Buffer): CarriedDelivery | undefined {
  // Destructuring would make an iterator for each.
  const words = String(head[1]).split(' ');
  const { side, action } = readType(type);
  const facts: Unchecked = {
    guid: head[0],
    interface: side,
    action,
    subscription: words[1],
    generation: Number(words[2]),
    event: words[3],
    attempt: Number(words[4]),
    createdAt: Number(words[5]),
    beganAt: Number(words[6]),
    body,
  };
  if (typeof head[4] === 'string') facts.traceparent = head[4];
  const isRead = words[0] === `${VERSION}` && (words.length === PLAIN_WORDS || readMore(facts, words));
  return isRead && areFacts(facts) ? facts : undefined;
}

/** Reads what not every note has: when it is due, then words with their values. Skips words of a later version. */
function readMore(facts: Unchecked, words: readonly string[]): boolean {
  let place = PLAIN_WORDS;
  if (words.length % 2 === 0) facts.dueAt = Number(words[place++]);
  let byHand: { why: string; fromAttempt: number; isRetried?: true } | undefined;
  for (; place < words.length; place += 2) {
    const [word = '', value = ''] = [words[place], words[place + 1]];
    if (word < 'a' || value === '') return false;
    if (word === 'resend' || word === 'test') facts.byHand = byHand = { why: word, fromAttempt: Number(value) };
    else if (word === 'retried' && byHand !== undefined) byHand.isRetried = true;
  }
  return true;
}

/** The type that was read last: members of a batch have the same. */
let lastType = { type: '', side: '', action: '' };

function readType(type = ''): typeof lastType {
  if (type === lastType.type) return lastType;
  const dot = type.indexOf('.');
  return (lastType = { type, side: type.slice(0, dot), action: type.slice(dot + 1) });
}

const NAMES =
  'guid interface action subscription generation event attempt createdAt beganAt dueAt byHand traceparent'.split(' ');

/** Reads a member of format 2; undefined if it is none. */
function readNamed(head: NamedHead, body: Buffer): CarriedDelivery | undefined {
  const facts: Unchecked & Record<string, unknown> = { body };
  for (const name of NAMES) if ((head[name] ?? undefined) !== undefined) facts[name] = head[name];
  return areFacts(facts) ? facts : undefined;
}

function areFacts(given: Unchecked): given is CarriedDelivery {
  const { guid, interface: side, action, subscription, generation, event, attempt, createdAt, beganAt } = given;
  const { dueAt = 0, byHand, traceparent = '' } = given;
  const isOfAction = (side === 'shipper' || side === 'carrier') && typeof action === 'string';
  const isIdentified = typeof guid === 'string' && isGuid(subscription) && isCount(generation) && isGuid(event);
  const isDated = isCount(createdAt) && isCount(beganAt) && isCount(dueAt);
  const isAttempt = isCount(attempt) && (byHand === undefined || isByHand(byHand, attempt));
  return isOfAction && isIdentified && isDated && isAttempt && typeof traceparent === 'string';
}

function isByHand(given: unknown, attempt: number): boolean {
  const { why, fromAttempt, isRetried = true }: Record<string, unknown> = Object(given);
  const isFrom = isCount(fromAttempt) && fromAttempt > 0 && fromAttempt <= attempt;
  return isFrom && (why === 'resend' || why === 'test') && isRetried === true;
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}
