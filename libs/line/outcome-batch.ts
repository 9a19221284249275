/**
 * The format of a batch of outcomes: a line of JSON with each record as an array by position, then the bodies one after another;
 * all compressed if that is worth it. A byte costs the broker more than compressing it costs here, and records sent together are
 * similar.
 */
import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { isRejection, reject, type Message, type Publication, type Rejection } from './messages.ts';
import { rejectNewer } from './newer-format.ts';
import {
  isAttempted,
  type Attempted,
  type Deactivated,
  type Key,
  type Outcome,
  type Rejected,
  type Routed,
} from './outcomes.ts';
import { outcomesExchange } from './topology.ts';

const VERSION = 4;
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

export function writeOutcomes(all: readonly Outcome[]): Buffer {
  const outcomes = all.map(withoutLargeBodies);
  const bodies = outcomes.map(bodyOf).map((body) => (typeof body === 'string' ? Buffer.from(body) : body));
  const rows = outcomes.map((outcome, place) => rowOf(outcome, bodies[place]?.length));
  const head = Buffer.from(`${JSON.stringify({ version: VERSION, outcomes: rows })}\n`);
  const plain = Buffer.concat([head, ...bodies.filter((body) => body !== undefined)]);
  // Room for what it comes to, and not 64 KiB for each batch.
  return plain.length < SMALLEST_COMPRESSED
    ? plain
    : zstdCompressSync(plain, { params: FASTEST, chunkSize: plain.length });
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
  return 350 + charactersOfBodies(outcome);
}

/** Returns the characters of the bodies published, or sent and answered. */
const charactersOfBodies = (outcome: Outcome): number =>
  (bodyOf(outcome)?.length ?? 0) + ('answer' in outcome ? (outcome.answer.body?.length ?? 0) : 0);

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
  const takeBody = (length: number) => bytes.subarray(at, (at += length));
  // Only services may publish here, and the version guarantees this shape.
  return (outcomes as Row[]).map((row) => outcomeOf(row, takeBody));
}

/** Reads a batch of outcomes. Rejects a message that this version cannot read. */
export function readBatch({ body }: Pick<Message, 'body'>): Outcome[] | Rejection {
  try {
    return readBytes(body);
  } catch (error) {
    return reject('not_outcomes', error instanceof Error ? error.message : String(error));
  }
}

/** Returns a batch as text, for people. Throws if it cannot be decompressed or is longer than its frame says. */
export function readable(body: Buffer): Buffer {
  return isCompressed(body) ? zstdDecompressSync(body, { maxOutputLength: unpackedBytes(body) }) : body;
}

/** Returns the decompressed size of a batch in bytes; the limit if the frame does not say. */
export function unpackedBytes(body: Buffer): number {
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

/** The kind, then a value for each position; null for undefined. */
type Row = [Outcome['kind'], ...unknown[]];

function bodyOf(outcome: Outcome): string | Buffer | undefined {
  if (outcome.kind === 'routed') return outcome.kept?.body;
  return isAttempted(outcome) ? outcome.body : undefined;
}

function rowOf(outcome: Outcome, bodyLength: number | undefined): Row {
  const { kind, interface: interfaceName, action, at } = outcome;
  if (kind === 'deactivated') {
    const { subscription, generation, account, client, rule, delivery } = outcome;
    return [kind, interfaceName, action, at, subscription, generation, account, client, rule, delivery];
  }
  const of = [kind, outcome.event, interfaceName, action, at] as const;
  switch (kind) {
    case 'routed': {
      const { receivers, deliveries, kept, suppressed } = outcome;
      const placeOf = (account: string) => receivers.indexOf(account);
      const addressed = deliveries.map(({ subscription, account }) => [subscription, placeOf(account)]);
      const event = kept && [kept.accounts.map(placeOf), kept.contentType, bodyLength];
      return [...of, keysOf(outcome), receivers, addressed, suppressed, event];
    }
    case 'rejected':
      return [...of, keysOf(outcome), outcome.receivers, outcome.reason, outcome.detail, outcome.delivery];
    case 'delivered':
    case 'failed':
    case 'exhausted':
    case 'dropped':
      return [...of, ...factsOf(outcome), bodyLength, ...endOf(outcome)];
  }
}

const keysOf = ({ keys }: Routed | Rejected): unknown[] => keys.map(({ kind, key }) => [kind, key]);

function factsOf({ delivery, subscription, generation, attempt, parked, byHand }: Attempted): unknown[] {
  return [delivery, subscription, generation, attempt, parked, byHand];
}

function endOf(outcome: Attempted): unknown[] {
  if (outcome.kind === 'dropped') return [outcome.reason];
  if (!('answer' in outcome)) return [outcome.beganAt, outcome.reason];
  const { durationMs, status, reason, url, ip, dnsMs, connectMs, tlsMs, firstByteMs, body } = outcome.answer;
  const answer = [durationMs, status, reason, url, ip, dnsMs, connectMs, tlsMs, firstByteMs, body];
  // Few answers have one.
  if (outcome.answer.brokenRule !== undefined) answer.push(outcome.answer.brokenRule);
  return [outcome.beganAt, answer, outcome.kind === 'failed' ? outcome.retryAt : undefined];
}

type TakeBody = (length: number) => Buffer;

function outcomeOf(row: Row, takeBody: TakeBody): Outcome {
  // Written above from values of this type.
  if (row[0] === 'routed') return routedOf(row, takeBody) as Routed;
  if (row[0] === 'rejected') return rejectedOf(row) as Rejected;
  if (row[0] === 'deactivated') return deactivatedOf(row) as Deactivated;
  return attemptedOf(row, takeBody) as Attempted;
}

function routedOf(row: Row, takeBody: TakeBody) {
  const [kind, event, side, action, at, keys, accounts, addressed, suppressed, kept] = row;
  const receivers = accounts as string[];
  const deliveries = (addressed as [string, number][]).map(([subscription, place]) => ({
    subscription,
    account: receivers[place],
  }));
  const about = { kind, event, interface: side, action, at, keys: keysIn(keys), receivers };
  const routed = { ...about, deliveries, suppressed };
  if (kept === null) return routed;
  const [places, contentType, length] = kept as [number[], string | null, number];
  const known = { accounts: places.map((place) => receivers[place]), body: takeBody(length) };
  return { ...routed, kept: contentType === null ? known : { ...known, contentType } };
}

const keysIn = (keys: unknown): Key[] => (keys as [string, string][]).map(([kind, key]) => ({ kind, key }));

function rejectedOf([kind, event, side, action, at, keys, receivers, reason, detail, delivery]: Row) {
  const of = { kind, event, interface: side, action, at, keys: keysIn(keys), receivers, reason, detail };
  return delivery === null ? of : { ...of, delivery };
}

function deactivatedOf([kind, side, action, at, subscription, generation, account, client, rule, delivery]: Row) {
  const of = { kind, interface: side, action, at, subscription, generation, account, client, rule };
  return delivery === null ? of : { ...of, delivery };
}

function attemptedOf(row: Row, takeBody: TakeBody) {
  const [
    kind,
    event,
    side,
    action,
    at,
    delivery,
    subscription,
    generation,
    attempt,
    parked,
    byHand,
    bodyLength,
    reasonOrBegan,
    answerOrReason,
    retryAt,
  ] = row;
  // One literal instead of spread pieces, as a batch has a hundred records. Null was undefined.
  const outcome: Record<string, unknown> = {
    kind,
    event,
    interface: side,
    action,
    at,
    delivery,
    subscription,
    generation,
    attempt,
  };
  if (parked !== null) outcome['parked'] = parked;
  if (byHand !== null) outcome['byHand'] = byHand;
  if (bodyLength !== null) outcome['body'] = takeBody(bodyLength as number);
  if (kind === 'dropped') return Object.assign(outcome, { reason: reasonOrBegan });
  outcome['beganAt'] = reasonOrBegan;
  if (typeof answerOrReason === 'string') return Object.assign(outcome, { reason: answerOrReason });
  outcome['answer'] = answerOf(answerOrReason as unknown[]);
  if (retryAt !== null) outcome['retryAt'] = retryAt;
  return outcome;
}

function answerOf(row: unknown[]) {
  const [durationMs, status, reason, url, ip, dnsMs, connectMs, tlsMs, firstByteMs, body, brokenRule] = row;
  return {
    durationMs,
    status: status ?? undefined,
    reason: reason ?? undefined,
    url: url ?? undefined,
    ip: ip ?? undefined,
    dnsMs: dnsMs ?? undefined,
    connectMs: connectMs ?? undefined,
    tlsMs: tlsMs ?? undefined,
    firstByteMs: firstByteMs ?? undefined,
    body: body ?? undefined,
    brokenRule: brokenRule ?? undefined,
  };
}
