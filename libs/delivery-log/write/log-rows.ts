import { randomBytes } from 'node:crypto';
import {
  isAttempted,
  type Attempted,
  type Deactivated,
  type Outcome,
  type Rejected,
  type Routed,
  type Suppression,
} from '@waybell/line/outcomes';
import { messageGuid } from '@waybell/notifications/message-guid';
import { packChunk } from '../chunk.ts';
import type { AttemptPart, EventPart } from '../parts.ts';
import { numberOfKey, partOf, PREFIX_BYTES, writeAction, type LogRows } from '../tables.ts';
import { dayOf } from './partitions.ts';

/** Rows that records make by themselves; `rowsOf` adds those that follow from them. */
export type LogParts = { events: EventPart[]; attempts: AttemptPart[]; deactivations: Deactivated[] };

export function partsOf(outcomes: readonly Outcome[]): LogParts {
  const parts: LogParts = { events: [], attempts: [], deactivations: [] };
  for (const outcome of outcomes) {
    if (isAttempted(outcome)) parts.attempts.push({ record: outcome });
    else if (outcome.kind === 'deactivated') parts.deactivations.push(outcome);
    else parts.events.push(...eventParts(outcome));
  }
  return parts;
}

function eventParts(record: Routed | Rejected): EventPart[] {
  const action = writeAction(record.interface, record.action);
  if (record.kind === 'rejected') {
    const part = { record, subscriptions: [], suppressed: [] };
    const accounts = record.receivers.length === 0 ? [undefined] : record.receivers;
    return accounts.map((account) => ({
      ...part,
      part: partOf(account ?? '', action, record.delivery),
      ...(account !== undefined && { account }),
    }));
  }
  const { receivers, deliveries, suppressed } = record;
  if (receivers.length === 0) return [{ record, subscriptions: [], suppressed, part: partOf('', action) }];
  return receivers.map((account) => ({
    record,
    account,
    part: partOf(account, action),
    subscriptions: deliveries.filter((each) => each.account === account).map(({ subscription }) => subscription),
    suppressed: suppressed.filter((each) => (each.account ?? account) === account && !isImplied(each)),
  }));
}

/** The row of an account without deliveries and suppressions says it. */
const isImplied = ({ reason, account, client }: Suppression): boolean =>
  reason === 'no_subscription' && account !== undefined && client === undefined;

/** Makes each table's rows, with bodies in chunks. `oldestBodies`: the first day whose bodies are kept. */
export function rowsOf({ events, attempts, deactivations }: LogParts, oldestBodies: number): LogRows {
  const chunks = new Chunks(oldestBodies);
  return {
    events: events.map((part) => chunks.withEvent(part)),
    keys: keysOf(events),
    attempts: attempts.map(({ record }) => chunks.withBody(record)),
    chunks: chunks.rows(),
    deactivations,
  };
}

/** An event has each number once, for however many accounts it is. A rejected delivery is found by its guid. */
function keysOf(events: readonly EventPart[]): LogRows['keys'] {
  return [...new Set(events.map(({ record }) => record))].flatMap((record) => {
    const keys = record.keys.map(({ key }) => key);
    if (record.kind === 'rejected' && record.delivery !== undefined) keys.push(record.delivery);
    const { at, event } = record;
    return [...new Set(keys.map(numberOfKey))].map((number) => ({ number, at, event }));
  });
}

/** Limit of a chunk's bytes before they are compressed, unless one body alone has more. */
const CHUNK_BYTES = 2 ** 18;

type OpenChunk = { chunk: string; at: number; until: number; deliveries: string[]; bodies: Buffer[]; bytes: number };

/** The chunks of a batch: those of a day are dropped with it. */
class Chunks {
  readonly #oldestDay: number;
  readonly #full: OpenChunk[] = [];
  readonly #byDay = new Map<number, OpenChunk>();
  readonly #keptIn = new Map<EventPart['record'], { open: OpenChunk; place: number }>();

  constructor(oldestDay: number) {
    this.#oldestDay = oldestDay;
  }

  withEvent(part: EventPart): EventPart {
    const { record, account, subscriptions } = part;
    const own = record.kind === 'routed' ? record.kept : undefined;
    const kept = account !== undefined && own?.accounts.includes(account) ? own : undefined;
    if (dayOf(record.at) < this.#oldestDay || (kept === undefined && subscriptions.length === 0)) return part;
    // Once, for however many accounts it is.
    const known = this.#keptIn.get(record);
    const open = known?.open ?? this.#openAt(record.at, kept?.body.length ?? 0);
    for (const subscription of subscriptions)
      open.deliveries.push(messageGuid(record.event, subscription).slice(0, 2 * PREFIX_BYTES));
    if (kept === undefined) return { ...part, chunk: open.chunk };
    const place = known?.place ?? put(open, kept.body);
    this.#keptIn.set(record, { open, place });
    return { ...part, chunk: open.chunk, place };
  }

  withBody(record: Attempted): AttemptPart {
    const { at, body } = record;
    if (body === undefined || dayOf(at) < this.#oldestDay) return { record };
    const open = this.#openAt(at, body.length);
    return { record, stored: { chunk: open.chunk, place: put(open, body) } };
  }

  rows(): LogRows['chunks'] {
    return [...this.#full, ...this.#byDay.values()].map(({ chunk, at, until, deliveries, bodies }) => ({
      chunk,
      at,
      until,
      deliveries: Buffer.from(deliveries.join(''), 'hex'),
      bytes: packChunk(bodies),
    }));
  }

  #openAt(at: number, bytes: number): OpenChunk {
    const day = dayOf(at);
    let open = this.#byDay.get(day);
    if (open !== undefined && open.bytes > 0 && open.bytes + bytes > CHUNK_BYTES) {
      this.#full.push(open);
      open = undefined;
    }
    open ??= { chunk: randomBytes(8).readBigInt64BE().toString(), at, until: at, deliveries: [], bodies: [], bytes: 0 };
    this.#byDay.set(day, open);
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
