/**
 * The formats in which records and ends travel, many in a message.
 *
 * A batch of outcomes is a line of JSON with the records, the length of a body in its place; then the bodies one after another; all
 * compressed if that is worth it. A byte costs the broker more than compressing it costs here, and records sent together are
 * similar. A batch of ends, for the deactivator, is plain JSON.
 */
import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import {
  isRejection,
  type Message,
  type Outgoing,
  type Publication,
  reject,
  type Rejection,
  rejectNewer,
} from './messages.ts';
import { type Attempted, type DeliveryEnd, isAttempted, type Outcome } from './outcomes.ts';
import { endsExchange, outcomesExchange } from './topology.ts';

const VERSION = 5;
const CONTENT_TYPE = 'application/vnd.waybell.outcomes';
/** Below this, compressing costs more than it saves. */
const SMALLEST_COMPRESSED = 4_096;
const FASTEST = { [constants.ZSTD_c_compressionLevel]: 1 };
/** Limit of a decompressed batch. A usual one has a hundredth of it; only a large body comes near. */
const LARGEST_BYTES = 2 ** 25;
/** Limit of a record's bodies, in bytes or characters. Larger ones are left out: the fact that they were sent matters more. */
const LARGEST_BODIES = 2 ** 22;
const ZSTD_MAGIC = 0x28_b5_2f_fd;

export function publishOutcomes(outcomes: readonly Outcome[]): Publication {
  const body = writeOutcomes(outcomes);
  return {
    kind: 'publish',
    exchange: outcomesExchange,
    routingKey: '',
    body,
    contentType: CONTENT_TYPE,
    ...(isCompressed(body) ? { contentEncoding: 'zstd' } : {}),
  };
}

export function writeOutcomes(outcomes: readonly Outcome[]): Buffer {
  const bodies: Buffer[] = [];
  const rows = outcomes.map((outcome) => withLengths(withoutLargeBodies(outcome), bodies));
  const head = JSON.stringify({ version: VERSION, outcomes: rows });
  const headBytes = Buffer.byteLength(head);
  const plain = Buffer.allocUnsafe(bodies.reduce((sum, { length }) => sum + length, headBytes + 1));
  plain.write(head);
  plain.write('\n', headBytes);
  let at = headBytes + 1;
  for (const body of bodies) {
    plain.set(body, at);
    at += body.length;
  }
  // Allocates the needed size, and not 64 KiB for each batch.
  return plain.length < SMALLEST_COMPRESSED
    ? plain
    : zstdCompressSync(plain, { params: FASTEST, chunkSize: plain.length });
}

/** Returns the record with the length of its body instead of the body, which is added to those of the batch. */
function withLengths(outcome: Outcome, bodies: Buffer[]): object {
  const body = bodyOf(outcome);
  if (body === undefined) return outcome;
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  bodies.push(bytes);
  return outcome.kind === 'routed'
    ? { ...outcome, kept: { ...outcome.kept, body: bytes.length } }
    : { ...outcome, body: bytes.length };
}

function withoutLargeBodies(outcome: Outcome): Outcome {
  if (charactersOfBodies(outcome) <= LARGEST_BODIES) return outcome;
  if (outcome.kind === 'routed') {
    const { kept: _, ...routed } = outcome;
    return routed;
  }
  if (!isAttempted(outcome)) return outcome;
  const { body: _, ...attempted } = outcome;
  if (!('answer' in attempted)) return attempted;
  const { body: __, ...answer } = attempted.answer;
  return { ...attempted, answer };
}

/** Returns the approximate number of characters of a record before compression. */
export function charactersOf(outcome: Outcome): number {
  if (outcome.kind === 'routed') {
    const { keys, receivers, deliveries, suppressed } = outcome;
    const named = 60 * keys.length + 40 * receivers.length;
    return 150 + named + 160 * (deliveries.length + suppressed.length) + charactersOfBodies(outcome);
  }
  if (outcome.kind === 'rejected')
    return 250 + 60 * outcome.keys.length + 40 * outcome.receivers.length + outcome.detail.length;
  if (outcome.kind === 'deactivated') return 250;
  return 450 + charactersOfBodies(outcome);
}

/** Returns the characters of the bodies published, or sent and answered. */
const charactersOfBodies = (outcome: Outcome): number =>
  (bodyOf(outcome)?.length ?? 0) + ('answer' in outcome ? (outcome.answer.body?.length ?? 0) : 0);

/** Reads a batch of outcomes. Rejects a message that this version cannot read. */
export function readBatch({ body }: Pick<Message, 'body'>): Outcome[] | Rejection {
  try {
    return readBytes(body);
  } catch (error) {
    return reject('not_outcomes', error instanceof Error ? error.message : String(error));
  }
}

/** Reads a batch. Throws if this version cannot read the bytes. */
export function readOutcomes(body: Buffer): Outcome[] {
  const outcomes = readBytes(body);
  if (isRejection(outcomes)) throw new TypeError(outcomes.detail);
  return outcomes;
}

function readBytes(body: Buffer): Outcome[] | Rejection {
  const bytes = readable(body);
  const end = bytes.indexOf('\n');
  if (end < 0) throw new TypeError('not a batch of outcomes');
  const batch: unknown = JSON.parse(bytes.toString('utf8', 0, end));
  if (typeof batch !== 'object' || batch === null || !('version' in batch) || !('outcomes' in batch)) {
    throw new TypeError('not a batch of outcomes');
  }
  const { version, outcomes } = batch;
  if (Number(version) > VERSION) return rejectNewer(`outcomes of format ${Number(version)}`);
  if (version !== VERSION || !Array.isArray(outcomes)) {
    throw new TypeError(`a batch of outcomes of version ${String(version)}; this process reads ${VERSION}`);
  }
  let at = end + 1;
  for (const outcome of outcomes as (WithLength | null)[]) {
    if (outcome?.kind === undefined) throw new TypeError('not a batch of outcomes');
    const holder = outcome.kind === 'routed' ? outcome.kept : outcome;
    if (holder?.body !== undefined) holder.body = bytes.subarray(at, (at += Number(holder.body)));
  }
  // Only services may publish here, and the version guarantees this shape.
  return outcomes as Outcome[];
}

/** A record whose body is a number of bytes before it is read. */
type WithLength = { kind: Outcome['kind']; body?: number | Buffer; kept?: { body?: number | Buffer } };

/** Returns a batch as text, for people. Throws if it cannot be decompressed or is longer than its frame says. */
export function readable(body: Buffer): Buffer {
  return isCompressed(body) ? zstdDecompressSync(body, { maxOutputLength: decompressedBytes(body) }) : body;
}

/** Returns the decompressed size of a batch in bytes; the limit if the frame does not say. */
export function decompressedBytes(body: Buffer): number {
  return isCompressed(body) ? Math.min(saidIn(body), LARGEST_BYTES) : body.length;
}

/** Reads the size from the frame header of Zstandard (RFC 8878, 3.1.1.1). */
function saidIn(frame: Buffer): number {
  const descriptor = frame.readUInt8(4);
  const [sizeFlag, isSingleSegment] = [descriptor >> 6, (descriptor & 0x20) !== 0];
  const at = 5 + (isSingleSegment ? 0 : 1) + ([0, 1, 2, 4][descriptor & 3] ?? 0);
  if (frame.length < at + 8) return LARGEST_BYTES;
  if (sizeFlag === 0) return isSingleSegment ? frame.readUInt8(at) : LARGEST_BYTES;
  if (sizeFlag === 1) return frame.readUInt16LE(at) + 256;
  return sizeFlag === 2 ? frame.readUInt32LE(at) : Number(frame.readBigUInt64LE(at));
}

function isCompressed(body: Buffer): boolean {
  return body.length > 4 && body.readUInt32BE(0) === ZSTD_MAGIC;
}

function bodyOf(outcome: Outcome): string | Buffer | undefined {
  if (outcome.kind === 'routed') return outcome.kept?.body;
  return isAttempted(outcome) ? outcome.body : undefined;
}

const GONE = 410;

/**
 * Returns the record of an attempt and, if the deactivator needs it, the end of its delivery: for every failure except that of a
 * test, and for a success only if `reportsSuccess`. Two failures are uncounted: a delivery that waited too long says nothing
 * about its receiver, and one sent by hand does not show that the subscription fails on its own. A receiver that is gone is
 * reported at once.
 */
export function recordWithEnd(outcome: Attempted, { reportsSuccess = false } = {}): Outgoing[] {
  const effects: Outgoing[] = [{ kind: 'outcome', outcome }];
  const { delivery, subscription, generation, at } = outcome;
  const end = { delivery, subscription, generation, at };
  if (outcome.kind === 'delivered') {
    if (reportsSuccess) effects.push({ kind: 'end', end: { ...end, isDelivered: true } });
    return effects;
  }
  if (outcome.kind === 'dropped') return effects;
  const { reason, status } = 'answer' in outcome ? outcome.answer : { reason: outcome.reason };
  if (outcome.kind === 'exhausted' && outcome.byHand !== 'test') {
    const isCounted = 'answer' in outcome && outcome.byHand === undefined;
    const failed = {
      ...end,
      isDelivered: false,
      ...(reason !== undefined && { reason }),
      ...(status !== undefined && { status }),
      ...(!isCounted && { isUncounted: true as const }),
    };
    effects.push({ kind: 'end', end: failed });
  }
  if (status === GONE && outcome.byHand === undefined)
    effects.push({ kind: 'end', end: { ...end, isDelivered: false, isGone: true } });
  return effects;
}

const ENDS_VERSION = 2;

/** Approximate length of an end in a batch. */
export const END_CHARACTERS = 125;

export function publishEnds(ends: readonly DeliveryEnd[]): Publication {
  return {
    kind: 'publish',
    exchange: endsExchange,
    routingKey: '',
    body: writeEnds(ends),
    contentType: 'application/json',
  };
}

/** Uncounted ends, and receivers that are gone, have a member of their own in the batch, which older versions ignore. */
export function writeEnds(ends: readonly DeliveryEnd[]): Buffer {
  const of = { ends: [] as unknown[], uncounted: [] as unknown[], gone: [] as unknown[] };
  for (const end of ends) of[end.isGone ? 'gone' : end.isUncounted ? 'uncounted' : 'ends'].push(rowOf(end));
  const { uncounted, gone } = of;
  return Buffer.from(
    JSON.stringify({
      version: ENDS_VERSION,
      ends: of.ends,
      ...(uncounted.length > 0 && { uncounted }),
      ...(gone.length > 0 && { gone }),
    }),
  );
}

/** Reads a batch of ends. Rejects a message that this version cannot read. */
export function readEnds({ body }: Pick<Message, 'body'>): DeliveryEnd[] | Rejection {
  try {
    const { version, ends, uncounted = [], gone = [] } = JSON.parse(body.toString());
    if (version > ENDS_VERSION) return rejectNewer(`ends of format ${version}`);
    if (version !== ENDS_VERSION)
      return reject('not_ends', `version ${String(version)}; this process reads ${ENDS_VERSION}`);
    // Only the deliverer may publish here, and the version guarantees this shape.
    return [
      ...(ends as Row[]).map(readRow),
      ...(uncounted as Row[]).map((row) => ({ ...readRow(row), isUncounted: true as const })),
      ...(gone as Row[]).map((row) => ({ ...readRow(row), isGone: true as const })),
    ];
  } catch (error) {
    return reject('not_ends', error instanceof Error ? error.message : String(error));
  }
}

type Row = [string, string, number, boolean, number, DeliveryEnd['reason']?, number?];

function rowOf({ delivery, subscription, generation, isDelivered, at, reason, status }: DeliveryEnd): unknown[] {
  const why = reason === undefined ? [] : [reason, ...(status === undefined ? [] : [status])];
  return [delivery, subscription, generation, isDelivered, at, ...why];
}

function readRow([delivery, subscription, generation, isDelivered, at, reason, status]: Row): DeliveryEnd {
  return {
    delivery,
    subscription,
    generation,
    isDelivered,
    at,
    // Null if only later members are known.
    ...(reason != null && { reason }),
    ...(status != null && { status }),
  };
}
