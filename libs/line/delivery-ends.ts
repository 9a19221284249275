import { reject, type Message, type Outgoing, type Publication, type Rejection } from './messages.ts';
import { rejectNewer } from './newer-format.ts';
import type { Attempted, DeliveryEnd } from './outcomes.ts';
import { endsExchange } from './topology.ts';

/**
 * Returns the record of an attempt and, if the deactivator needs it, the end of its delivery: for every failure except that of a
 * test, and for a success only if `reportsSuccess`. Two failures are uncounted: a delivery that waited too long says nothing
 * about its receiver, and one sent by hand does not show that the subscription fails on its own. A receiver that is gone is
 * reported at once.
 */
export function recordWithEnd(outcome: Attempted, { reportsSuccess = false } = {}): Outgoing[] {
  const told: Outgoing[] = [{ kind: 'outcome', outcome }];
  const { delivery, subscription, generation, at } = outcome;
  const end = { delivery, subscription, generation, at };
  if (outcome.kind === 'delivered') {
    if (reportsSuccess) told.push({ kind: 'end', end: { ...end, isDelivered: true } });
    return told;
  }
  if (outcome.kind === 'dropped') return told;
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
    told.push({ kind: 'end', end: failed });
  }
  if (status === GONE && outcome.byHand === undefined)
    told.push({ kind: 'end', end: { ...end, isDelivered: false, isGone: true } });
  return told;
}

const GONE = 410;

const VERSION = 2;

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
      version: VERSION,
      ends: of.ends,
      ...(uncounted.length > 0 && { uncounted }),
      ...(gone.length > 0 && { gone }),
    }),
  );
}

function rowOf({ delivery, subscription, generation, isDelivered, at, reason, status }: DeliveryEnd): unknown[] {
  const why = reason === undefined ? [] : [reason, ...(status === undefined ? [] : [status])];
  return [delivery, subscription, generation, isDelivered, at, ...why];
}

type Row = [string, string, number, boolean, number, DeliveryEnd['reason']?, number?];

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

/** Reads a batch of ends. Rejects a message that this version cannot read. */
export function readEnds({ body }: Pick<Message, 'body'>): DeliveryEnd[] | Rejection {
  try {
    const { version, ends, uncounted = [], gone = [] } = JSON.parse(body.toString());
    if (version > VERSION) return rejectNewer(`ends of format ${version}`);
    if (version !== VERSION) return reject('not_ends', `version ${String(version)}; this process reads ${VERSION}`);
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
