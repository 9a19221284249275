import { randomBytes } from 'node:crypto';
import {
  isAttempted,
  type Deactivated,
  type Outcome,
  type Rejected,
  type Routed,
  type Suppression,
} from '@waybell/line/outcomes';
import { messageDigits } from '@waybell/notifications/notification';
import {
  packChunk,
  numberOfKey,
  partOf,
  PREFIX_BYTES,
  writeAction,
  type AttemptPart,
  type EventPart,
  type LogRows,
} from '../tables.ts';
import { dayOf } from './partitions.ts';

/** Rows that records make by themselves; `rowsOf` adds those that follow from them. */
export type LogParts = { events: EventPart[]; attempts: AttemptPart[]; deactivations: Deactivated[] };

export function partsOf(outcomes: readonly Outcome[]): LogParts {
  const parts: LogParts = { events: [], attempts: [], deactivations: [] };
  for (const outcome of outcomes) {
    if (isAttempted(outcome)) parts.attempts.push({ record: outcome, chunk: undefined, place: undefined });
    else if (outcome.kind === 'deactivated') parts.deactivations.push(outcome);
    else if (outcome.receivers.length === 0) parts.events.push(eventPart(outcome, undefined));
    else for (const account of outcome.receivers) parts.events.push(eventPart(outcome, account));
  }
  return parts;
}

function eventPart(record: Routed | Rejected, account: string | undefined): EventPart {
  const action = writeAction(record.interface, record.action);
  const isRejected = record.kind === 'rejected';
  return {
    record,
    account,
    subscriptions: isRejected ? [] : subscriptionsOf(record, account),
    suppressed: isRejected ? [] : suppressedOf(record, account),
    part: partOf(account ?? '', action, isRejected ? record.delivery : undefined),
    chunk: undefined,
    place: undefined,
  };
}

function subscriptionsOf({ receivers, deliveries }: Routed, account: string | undefined): string[] {
  const sent = receivers.length === 1 ? deliveries : deliveries.filter((each) => each.account === account);
  return sent.map(({ subscription }) => subscription);
}

function suppressedOf({ suppressed }: Routed, account: string | undefined): Suppression[] {
  return suppressed.filter((each) => (each.account ?? account) === account && !isImplied(each));
}

/** A row without deliveries and suppressions implies it. */
const isImplied = ({ reason, account, client }: Suppression): boolean =>
  reason === 'no_subscription' && account !== undefined && client === undefined;

/** Makes each table's rows, with bodies in chunks. `oldestBodies`: the first day whose bodies are kept. */
export function rowsOf({ events, attempts, deactivations }: LogParts, oldestBodies: number): LogRows {
  const chunks = new Chunks(oldestBodies);
  for (const part of events) chunks.putEvent(part);
  for (const part of attempts) chunks.putAttempt(part);
  return { events, keys: keysOf(events), attempts, chunks: chunks.rows(), deactivations };
}

/** An event has each number once, for however many accounts it is. A rejected delivery is found by its guid. */
function keysOf(events: readonly EventPart[]): LogRows['keys'] {
  const rows: LogRows['keys'] = [];
  let last: EventPart['record'] | undefined;
  for (const { record } of events) {
    // Parts of a record are neighbours.
    if (record === last) continue;
    last = record;
    const numbers = record.keys.map(({ key }) => numberOfKey(key));
    if (record.kind === 'rejected' && record.delivery !== undefined) numbers.push(numberOfKey(record.delivery));
    for (let place = 0; place < numbers.length; place += 1) {
      const number = numbers[place] ?? '';
      if (numbers.indexOf(number) === place) rows.push({ number, at: record.at, event: record.event });
    }
  }
  return rows;
}

/** Limit of a chunk's bytes before they are compressed, unless one body alone has more. */
const CHUNK_BYTES = 2 ** 18;

type OpenChunk = { chunk: string; at: number; until: number; deliveries: string[]; bodies: Buffer[]; bytes: number };

/** One minute: records found by the times of their chunk lie close together, even if some records of a batch come late. */
const SPAN_MS = 60_000;

/** The chunks of a batch: each is of one day, and dropped with it. */
class Chunks {
  readonly #oldestDay: number;
  readonly #full: OpenChunk[] = [];
  readonly #bySpan = new Map<number, OpenChunk>();
  /** The event put last, for however many accounts it is: its parts are neighbours. */
  #kept: { record: EventPart['record']; open: OpenChunk; place: number } | undefined;

  constructor(oldestDay: number) {
    this.#oldestDay = oldestDay;
  }

  putEvent(part: EventPart): void {
    const { record, account, subscriptions } = part;
    const ofRecord = record.kind === 'routed' ? record.kept : undefined;
    const kept = account !== undefined && ofRecord?.accounts.includes(account) ? ofRecord : undefined;
    part.chunk = undefined;
    part.place = undefined;
    if (dayOf(record.at) < this.#oldestDay || (kept === undefined && subscriptions.length === 0)) return;
    const known = this.#kept?.record === record ? this.#kept : undefined;
    const open = known?.open ?? this.#openAt(record.at, kept?.body.length ?? 0);
    for (const subscription of subscriptions)
      open.deliveries.push(messageDigits(record.event, subscription).slice(0, 2 * PREFIX_BYTES));
    part.chunk = open.chunk;
    if (kept === undefined) return;
    this.#kept = known ?? { record, open, place: put(open, kept.body) };
    part.place = this.#kept.place;
  }

  putAttempt(part: AttemptPart): void {
    const { at, body } = part.record;
    part.chunk = undefined;
    part.place = undefined;
    if (dayOf(at) < this.#oldestDay) return;
    const open = this.#openAt(at, body?.length ?? 0);
    part.chunk = open.chunk;
    if (body !== undefined) part.place = put(open, body);
  }

  rows(): LogRows['chunks'] {
    return [...this.#full, ...this.#bySpan.values()].map(({ chunk, at, until, deliveries, bodies }) => ({
      chunk,
      at,
      until,
      deliveries: Buffer.from(deliveries.join(''), 'hex'),
      bytes: packChunk(bodies),
    }));
  }

  #openAt(at: number, bytes: number): OpenChunk {
    const span = Math.floor(at / SPAN_MS);
    let open = this.#bySpan.get(span);
    if (open !== undefined && open.bytes > 0 && open.bytes + bytes > CHUNK_BYTES) {
      this.#full.push(open);
      open = undefined;
    }
    open ??= { chunk: randomBytes(8).readBigInt64BE().toString(), at, until: at, deliveries: [], bodies: [], bytes: 0 };
    this.#bySpan.set(span, open);
    open.at = Math.min(open.at, at);
    open.until = Math.max(open.until, at);
    return open;
  }
}

function put(open: OpenChunk, body: string | Buffer): number {
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  open.bytes += bytes.length;
  return open.bodies.push(bytes) - 1;
}
