/**
 * Deliveries travel in batches, one or several in a message, so that the queue, its log, the confirm and the acknowledgement cost
 * once for all of them. No delivery leaves a process in another form.
 *
 * A batch has its own message id, the type of its members, and this body: one line of JSON with a note for each member, then the
 * bodies. Members with the same body share its bytes. The members' other properties are those of the batch.
 */
import { randomUUID } from 'node:crypto';
import { CRASHES_UNOPENED } from './hand-over/suspicion.ts';
import { laterVersionOf, type Message, type Publication, reject, type Rejection, rejectNewer } from './messages.ts';

export const deliveriesContentType = 'application/vnd.waybell.deliveries';
const MEMBER_CONTENT_TYPE = 'application/json';

/** With more members, one that hangs would hold up too many, and a crash would repeat too many. */
export const MOST_MEMBERS = 16;
/** Limit of the bodies of several; one alone may be larger. */
const MOST_BYTES = 2 ** 16;
const VERSION = 1;
/** Matches the version and the number of members; a later version may append more. */
const NOTE = new RegExp(String.raw`^${VERSION} (\d{1,2})(?: |$)`);
const VERSION_LENGTH = `${VERSION} `.length;
const LINE_END = 0x0a;
const WORTH_COPYING = 4;
/** Begins the message ids of this process. A UUID for each batch would cost ten times as much memory. */
const PROCESS = randomUUID();
let lastBatch = 0;

/** `offset`: start of its body, in bytes after the notes. A later version may append more, and write null for what is missing. */
type MemberNote = [messageId: string, note: string, offset: number, length: number, traceparent?: string | null];

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
    const { exchange, routingKey, body, deliveries } = each.publication;
    const isAlone = deliveries !== true || hasOwnHeaders(each.publication);
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
  return publication.deliveries === true ? written([{ publication }]) : publication;
}

function hasOwnHeaders({ headers }: Publication): boolean {
  for (const name in headers) if (name !== 'traceparent') return true;
  return false;
}

/** Writes deliveries as one batch; a publication that is none stays as it is. */
function written(members: readonly Sent[]): Publication {
  const first = members[0]?.publication;
  if (first === undefined) throw new Error('a batch without members');
  if (first.deliveries !== true) return first;
  const { exchange, routingKey, type, ifKept, headers } = first;
  const batch: Publication = {
    kind: 'publish',
    exchange,
    routingKey,
    body: bodyOf(members),
    messageId: `${PROCESS}.${(lastBatch += 1)}`,
    contentType: deliveriesContentType,
    note: `${VERSION} ${members.length}`,
  };
  if (type !== undefined) batch.type = type;
  if (ifKept !== undefined) batch.ifKept = ifKept;
  if (hasOwnHeaders(first)) {
    batch.headers = { ...headers };
    delete batch.headers['traceparent'];
  }
  return batch;
}

function bodyOf(members: readonly Sent[]): Buffer {
  const notes: MemberNote[] = [];
  let offset = 0;
  let end = 0;
  let last: Buffer | undefined;
  for (const { publication } of members) {
    const { messageId = '', note = '', body, headers } = publication;
    if (body !== last) {
      offset = end;
      end += body.length;
      last = body;
    }
    const traceparent = headers?.['traceparent'];
    if (traceparent === undefined) notes.push([messageId, note, offset, body.length]);
    else notes.push([messageId, note, offset, body.length, String(traceparent)]);
  }
  const head = JSON.stringify(notes);
  const start = Buffer.byteLength(head) + 1;
  const whole = Buffer.allocUnsafe(start + end);
  whole.write(head);
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
  return NOTE.test(note) ? Number.parseInt(note.slice(VERSION_LENGTH)) : 0;
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

/** Explains why a batch cannot be opened. */
export function rejectBatch({ note }: Message): Rejection {
  const version = laterVersionOf(note, VERSION);
  if (version !== undefined) return rejectNewer(`a batch of deliveries of format ${version}`);
  return reject('not_a_batch', 'it says that it is a batch of deliveries, and cannot be read as one');
}

/** Parses the members of a batch; undefined if the format is not the one written here. Their bodies are parts of its body. */
export function readMembers(message: Message): Message[] | undefined {
  const { body } = message;
  const end = body.indexOf(LINE_END);
  const notes = readNotes(message, end);
  if (notes === undefined) return undefined;
  const shared = withoutOwn(message);
  const cameBefore = notes.length > 1 && message.deliveryCount > 0;
  const members: Message[] = [];
  let part = body;
  let partAt = -1;
  for (const each of notes) {
    // Destructuring would make an iterator for each.
    const offset = each[2];
    const length = each[3];
    const traceparent = each[4];
    if (partAt !== offset || part.length !== length) {
      const start = end + 1 + offset;
      part = ownPart(body.subarray(start, start + length), body.length / notes.length);
      partAt = offset;
    }
    const member: Message = {
      ...shared,
      body: part,
      messageId: each[0],
      note: each[1],
      contentType: MEMBER_CONTENT_TYPE,
      deliveries: true,
    };
    if (cameBefore) member.cameBefore = true;
    if (typeof traceparent === 'string') member.traceparent = traceparent;
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

function readNotes({ body, note }: Message, end: number): MemberNote[] | undefined {
  const bytes = body.length - end - 1;
  try {
    const notes: unknown = JSON.parse(body.toString('utf8', 0, end));
    const isWhole = Array.isArray(notes) && notes.length > 0 && notes.length === countIn(note);
    return isWhole && notes.every((each) => isNote(each, bytes)) ? notes : undefined;
  } catch {
    return undefined;
  }
}

function isNote(note: unknown, bytes: number): note is MemberNote {
  if (!Array.isArray(note)) return false;
  const offset: unknown = note[2];
  const length: unknown = note[3];
  const areWords = typeof note[0] === 'string' && typeof note[1] === 'string' && typeof (note[4] ?? '') === 'string';
  return areWords && isSize(offset) && isSize(length) && offset + length <= bytes;
}

function isSize(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}
