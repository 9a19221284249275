/**
 * Deliveries travel in batches, one or several in a message, so that the queue, its log, the confirm and the acknowledgement cost
 * once for all of them. No delivery leaves a process in another form.
 *
 * A batch has its own message id, the type of its members, and this body: one line of JSON with a note for each member, then the
 * bodies. Members with the same body share its bytes. The members' other properties are those of the batch.
 */
import { randomUUID } from 'node:crypto';
import { reject, type Message, type Publication, type Rejection } from './messages.ts';
import { laterVersionOf, rejectNewer } from './newer-format.ts';

export const deliveriesContentType = 'application/vnd.waybell.deliveries';
const MEMBER_CONTENT_TYPE = 'application/json';

/** With more members, one that hangs would hold up too many, and a crash would repeat too many. */
export const MOST_MEMBERS = 16;
/** Limit of the bodies of several; one alone may be larger. */
const MOST_BYTES = 2 ** 16;
const VERSION = 1;
/** Matches the version and the number of members; a later version may append more. */
const NOTE = new RegExp(String.raw`^${VERSION} (\d{1,2})(?: |$)`);
const LINE_END = 0x0a;
/** A member copies its body if its equal share of the batch would be so many times larger. */
const WORTH_COPYING = 4;
/**
 * From this many deaths on, a batch stays closed: reading it may be what kills the process. It is taken apart after far fewer
 * deaths, but a member that kills may do so again before that is done.
 */
export const UNOPENED = 12;

/** `offset`: start of its body, in bytes after the notes. A later version may append more, and write null for what is missing. */
type MemberNote = [messageId: string, note: string, offset: number, length: number, traceparent?: string | null];

/** A publication, and the members that share its result. */
export type Joined<T> = { publication: Publication; members: readonly T[] };

/**
 * Joins deliveries to the same exchange and key in batches, in order. One with headers of its own is a batch by itself. Returns
 * other publications as they are.
 */
export function joinDeliveries<T extends { publication: Publication }>(all: readonly T[]): Joined<T>[] {
  const open = new Map<string, OpenBatch<T>>();
  const closed: T[][] = [];
  for (const each of all) {
    const { exchange, routingKey, body, deliveries } = each.publication;
    const key = `${exchange} ${routingKey}`;
    const isAlone = deliveries !== true || hasOwnHeaders(each.publication);
    const known = isAlone ? undefined : open.get(key);
    const more = known?.last === body ? 0 : body.length;
    if (known !== undefined && known.members.length < MOST_MEMBERS && known.bytes + more <= MOST_BYTES) {
      known.members.push(each);
      known.bytes += more;
      known.last = body;
      continue;
    }
    const members = [each];
    closed.push(members);
    if (!isAlone) open.set(key, { members, bytes: body.length, last: body });
  }
  return closed.map((members) => ({ publication: written(members.map(({ publication }) => publication)), members }));
}

type OpenBatch<T> = { members: T[]; bytes: number; last: Buffer };

/** Returns the form in which a publication leaves the process: a delivery as a batch of one, anything else as it is. */
export function asSent(publication: Publication): Publication {
  return publication.deliveries === true ? written([publication]) : publication;
}

function hasOwnHeaders({ headers }: Publication): boolean {
  for (const name in headers) if (name !== 'traceparent') return true;
  return false;
}

/** Writes deliveries as one batch; a publication that is none stays as it is. */
function written(members: readonly Publication[]): Publication {
  const [first] = members;
  if (first === undefined) throw new Error('a batch without members');
  if (first.deliveries !== true) return first;
  const { exchange, routingKey, type, ifKept } = first;
  const { traceparent: _, ...headers } = first.headers ?? {};
  return {
    kind: 'publish',
    exchange,
    routingKey,
    body: bodyOf(members),
    messageId: randomUUID(),
    contentType: deliveriesContentType,
    note: `${VERSION} ${members.length}`,
    ...(type === undefined ? {} : { type }),
    ...(ifKept === undefined ? {} : { ifKept }),
    ...(hasOwnHeaders(first) ? { headers } : {}),
  };
}

function bodyOf(members: readonly Publication[]): Buffer {
  const notes: MemberNote[] = [];
  const bodies: Buffer[] = [];
  const placed = new Map<Buffer, number>();
  let end = 0;
  for (const { messageId = '', note = '', body, headers } of members) {
    const offset = placed.get(body) ?? end;
    if (offset === end) {
      bodies.push(body);
      placed.set(body, end);
      end += body.length;
    }
    const traceparent = headers?.['traceparent'];
    if (traceparent === undefined) notes.push([messageId, note, offset, body.length]);
    else notes.push([messageId, note, offset, body.length, String(traceparent)]);
  }
  const head = `${JSON.stringify(notes)}\n`;
  const start = Buffer.byteLength(head);
  const whole = Buffer.allocUnsafe(start + end);
  whole.write(head);
  let at = start;
  for (const body of bodies) at += body.copy(whole, at);
  return whole;
}

/** True for a batch of deliveries that is still closed. */
export function isDeliveryBatch({ contentType }: Pick<Message, 'contentType'>): boolean {
  return contentType === deliveriesContentType;
}

/** Returns the number of deliveries in the message, according to its note. */
export function countMembers(message: Pick<Message, 'contentType' | 'note'>): number {
  const [, count] = (isDeliveryBatch(message) && NOTE.exec(message.note ?? '')) || [];
  return Math.max(1, Number(count ?? 1));
}

/** Returns the approximate size once opened, in bytes: members that share a body are sent one by one. */
export function weighOpened(message: Pick<Message, 'body' | 'contentType' | 'note'>): number {
  const { length } = message.body;
  return length > 2 * MOST_BYTES ? length * countMembers(message) : length;
}

/**
 * Returns the members of a batch of deliveries. Returns the message itself if it is none, cannot be read, or must stay closed
 * (`UNOPENED`).
 */
export function openBatch(message: Message): readonly Message[] {
  if (!isDeliveryBatch(message) || (message.deaths ?? 0) >= UNOPENED) return [message];
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
  const { body, contentType: _, contentEncoding: __, traceparent: ___, ...shared } = message;
  const notes = readNotes(message);
  if (notes === undefined) return undefined;
  const start = body.indexOf(LINE_END) + 1;
  const isSeveral = notes.length > 1;
  if (isSeveral && message.deliveryCount > 0) shared.cameBefore = true;
  let last = { offset: -1, body };
  return notes.map(([messageId, note, offset, length, traceparent]) => {
    if (last.offset !== offset || last.body.length !== length) {
      const part = body.subarray(start + offset, start + offset + length);
      last = { offset, body: length * notes.length * WORTH_COPYING < body.length ? Buffer.from(part) : part };
    }
    const member: Message = {
      ...shared,
      body: last.body,
      messageId,
      note,
      contentType: MEMBER_CONTENT_TYPE,
      deliveries: true,
    };
    if (typeof traceparent === 'string') member.traceparent = traceparent;
    return member;
  });
}

function readNotes({ body, note = '' }: Message): MemberNote[] | undefined {
  const end = body.indexOf(LINE_END);
  const bytes = body.length - end - 1;
  try {
    const notes: unknown = JSON.parse(body.toString('utf8', 0, end));
    const isWhole = Array.isArray(notes) && notes.length === Number(NOTE.exec(note)?.[1]);
    return isWhole && notes.every((each) => isNote(each, bytes)) ? notes : undefined;
  } catch {
    return undefined;
  }
}

function isNote(note: unknown, bytes: number): note is MemberNote {
  if (!Array.isArray(note)) return false;
  const [messageId, text, offset, length, traceparent]: unknown[] = note;
  const areWords = [messageId, text, traceparent ?? ''].every((word) => typeof word === 'string');
  return areWords && isSize(offset) && isSize(length) && offset + length <= bytes;
}

function isSize(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}
