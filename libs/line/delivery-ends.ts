import { reject, type Message, type Outgoing, type Publication, type Rejection } from './messages.ts';
import { rejectNewer } from './newer-format.ts';
import type { Attempted, DeliveryEnd } from './outcomes.ts';
import { endsExchange } from './topology.ts';

/**
 * Returns the record of an attempt and, if the deactivator needs it, the end of its delivery: for every failure that counts, and
 * for a success only if `reportsSuccess`. A delivery that waited too long says nothing about its receiver, and one sent by hand
 * does not say whether the subscription fails by itself.
 */
export function recordWithEnd(outcome: Attempted, { reportsSuccess = false } = {}): Outgoing[] {
  const record: Outgoing = { kind: 'outcome', outcome };
  const isDelivered = outcome.kind === 'delivered';
  if (isDelivered ? !reportsSuccess : !isFailureThatCounts(outcome)) return [record];
  const { delivery, subscription, generation, at } = outcome;
  return [record, { kind: 'end', end: { delivery, subscription, generation, isDelivered, at } }];
}

function isFailureThatCounts(outcome: Attempted): boolean {
  return outcome.kind === 'exhausted' && outcome.byHand === undefined && 'answer' in outcome;
}

const VERSION = 2;

/** Approximate length of an end in a batch. */
export const END_CHARACTERS = 103;

export function publishEnds(ends: readonly DeliveryEnd[]): Publication {
  return {
    kind: 'publish',
    exchange: endsExchange,
    routingKey: '',
    body: writeEnds(ends),
    contentType: 'application/json',
  };
}

export function writeEnds(ends: readonly DeliveryEnd[]): Buffer {
  const written = ends.map(({ delivery, subscription, generation, isDelivered, at }) => [
    delivery,
    subscription,
    generation,
    isDelivered,
    at,
  ]);
  return Buffer.from(JSON.stringify({ version: VERSION, ends: written }));
}

/** Reads a batch of ends. Rejects a message that this version cannot read. */
export function readEnds({ body }: Pick<Message, 'body'>): DeliveryEnd[] | Rejection {
  try {
    const { version, ends } = JSON.parse(body.toString());
    if (version > VERSION) return rejectNewer(`ends of format ${version}`);
    if (version !== VERSION) return reject('not_ends', `version ${String(version)}; this process reads ${VERSION}`);
    // Only the deliverer may publish here, and the version guarantees this shape.
    return (ends as [string, string, number, boolean, number][]).map(
      ([delivery, subscription, generation, isDelivered, at]) => {
        return { delivery, subscription, generation, isDelivered, at };
      },
    );
  } catch (error) {
    return reject('not_ends', error instanceof Error ? error.message : String(error));
  }
}
