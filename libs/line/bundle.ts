/**
 * Bundles several messages for one queue into one, so that the queue, its log, the confirm and the acknowledgement cost once for
 * all of them. The router sends first attempts so; the deliverer handles each member on its own.
 *
 * A bundle has its own message id, the type of its members, and this body: one line of JSON with a note for each member, then the
 * bodies. Members with the same body share its bytes. The members' other properties are those of the bundle.
 */
import { randomUUID } from 'node:crypto';
import { reject, type Message, type Publication, type Rejection } from './messages.ts';
import { laterVersionOf, rejectNewer } from './newer-format.ts';
import { ownBytes } from './own-bytes.ts';

export const bundleContentType = 'application/vnd.waybell.bundle';
const MEMBER_CONTENT_TYPE = 'application/json';

/** With more members, one that hangs would hold up too many, and a crash would repeat too many. */
export const MOST_MEMBERS = 16;
const MOST_BYTES = 2 ** 16;
const VERSION = 1;
/** Matches the version and the number of members; a later version may append more. */
const NOTE = new RegExp(String.raw`^${VERSION} (\d{1,2})(?: |$)`);
const LINE_END = 0x0a;
/**
 * From this many deaths on, a bundle stays closed: reading it may be what kills the process. It is taken apart after far fewer
 * deaths, but a member that kills may do so again before that is done.
 */
export const UNOPENED = 12;

/** `offset`: start of its body, in bytes after the notes. A later version may append more, and write null for what is missing. */
type MemberNote = [messageId: string, note: string, offset: number, length: number, traceparent?: string | null];

/** A publication, and the members that share its result. */
export type Bundled<T> = { publication: Publication; members: readonly T[] };

/** Bundles in order what may be bundled, at most `most` members each; `MOST_MEMBERS` is the upper limit. */
export function bundle<T extends { publication: Publication }>(all: readonly T[], most = MOST_MEMBERS): Bundled<T>[] {
  const open = new Map<string, { members: T[]; bytes: number; last: Buffer }>();
  const closed: T[][] = [];
  for (const each of all) {
    const { routingKey, body } = each.publication;
    const known = open.get(routingKey);
    const more = known?.last === body ? 0 : body.length;
    if (known !== undefined && known.members.length < most && known.bytes + more <= MOST_BYTES) {
      known.members.push(each);
      known.bytes += more;
      known.last = body;
      continue;
    }
    const members = [each];
    closed.push(members);
    open.set(routingKey, { members, bytes: body.length, last: body });
  }
  return closed.map((members) => ({ publication: joined(members.map(({ publication }) => publication)), members }));
}

/** Joins the members; a single one stays a plain message. */
function joined(members: readonly Publication[]): Publication {
  const [first] = members;
  if (first === undefined) throw new Error('a bundle without members');
  if (members.length === 1) return first;
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
  const { exchange, routingKey, type } = first;
  return {
    kind: 'publish',
    exchange,
    routingKey,
    body: Buffer.concat([Buffer.from(`${JSON.stringify(notes)}\n`), ...bodies]),
    messageId: randomUUID(),
    contentType: bundleContentType,
    note: `${VERSION} ${members.length}`,
    ...(type === undefined ? {} : { type }),
  };
}

/** True for a bundle that is still closed. */
export function isBundle({ contentType }: Pick<Message, 'contentType'>): boolean {
  return contentType === bundleContentType;
}

/** Returns the number of deliveries in the message, according to its note. */
export function countMembers(message: Pick<Message, 'contentType' | 'note'>): number {
  const [, count] = (isBundle(message) && NOTE.exec(message.note ?? '')) || [];
  return Math.max(1, Number(count ?? 1));
}

/** Returns the approximate size once opened, in bytes: members that share a body are sent one by one. */
export function weighOpened(message: Pick<Message, 'body' | 'contentType' | 'note'>): number {
  const { length } = message.body;
  return length > 2 * MOST_BYTES ? length * countMembers(message) : length;
}

/**
 * Returns the members of a bundle. Returns the message itself if it is no bundle, cannot be read, or must stay closed
 * (`UNOPENED`).
 */
export function openBundle(message: Message): readonly Message[] {
  if (!isBundle(message) || (message.deaths ?? 0) >= UNOPENED) return [message];
  return readMembers(message) ?? [message];
}

/** Explains why a bundle cannot be opened. */
export function rejectBundle({ note }: Message): Rejection {
  const version = laterVersionOf(note, VERSION);
  if (version !== undefined) return rejectNewer(`a bundle of format ${version}`);
  return reject('not_a_bundle', 'it says that it is a bundle of deliveries, and cannot be read as one');
}

/** Parses the members of a bundle; undefined if the format is not the one written here. */
export function readMembers(message: Message): Message[] | undefined {
  const { body, contentType: _, contentEncoding: __, traceparent: ___, ...shared } = message;
  const notes = readNotes(message);
  if (notes === undefined) return undefined;
  const start = body.indexOf(LINE_END) + 1;
  return notes.map(([messageId, note, offset, length, traceparent]) => ({
    ...shared,
    body: ownBytes(body.subarray(start + offset, start + offset + length)),
    messageId,
    note,
    contentType: MEMBER_CONTENT_TYPE,
    ...(message.deliveryCount > 0 ? { cameBefore: true } : {}),
    ...(typeof traceparent === 'string' ? { traceparent } : {}),
  }));
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
